# whatif: the tables and reports, the paper's preset from synthesis on, scenarios side by side, and
# nonsense.
few="--users 60 --sessions 12"
quick="--draws 3 --resamples 50 --truth-sets 20"
more="--draws 40 --resamples 50 --truth-sets 20"

# ---- the preset: one command, and again without training ----
ok "$PARSREC" whatif --preset paper -o out $few --epochs 1 $more --threads 2
says "without C0"
says "Selection:"
says "Re-choice:"
says "What goes together"
says "report.html"
for file in groups.json data.st model-1.st report.csv report.json report.html selection-1-1.svg \
    rechoice-1-2.svg; do
    ok test -s "out/$file"
done
absent out/model-1.st.ckpt
same "$(grep -c '://' out/report.html)" 0 "hosts named in the page"
same "$(grep -c '<script' out/report.html)" 0 "scripts in the page"
cp out/report.csv first.csv
ok "$PARSREC" whatif --preset paper -o out $few --epochs 1 $more --threads 1
same "$(grep -c training stderr)" 0 "what was trained is not trained again"
ok cmp first.csv out/report.csv
fails 1 "other data" "$PARSREC" whatif --preset paper -o out --users 61 --sessions 12 --epochs 1
fails 1 "1 epochs, not 2" "$PARSREC" whatif --preset paper -o out $few --epochs 2

# ---- a run that was killed is resumed ----
"$PARSREC" whatif --preset paper -o killed $few --epochs 4 $quick >stdout 2>stderr &
job=$!
while [ ! -e killed/model-1.st.ckpt ] && kill -0 $job 2>/dev/null; do sleep 0.02; done
kill -9 $job 2>/dev/null
wait $job 2>/dev/null
ok test -e killed/model-1.st.ckpt
ok "$PARSREC" whatif --preset paper -o killed $few --epochs 4 $quick
same "$(grep -c "resumed" stderr)" 1 "a training that resumes"

# ---- models and data of one's own, JSON ----
model=out/model-1.st data=out/data.st
ok "$PARSREC" whatif $model $data --drop category=C0 --group truth $quick --question both --json
cp stdout rows.json
cat >check.py <<'END'
import csv, json
rows = json.load(open("rows.json"))
totals = [r for r in rows if r["kind"] == "total"]
leaves = [r for r in rows if r["kind"] == "leaves"]
assert len(totals) == len(leaves) == 2 * 2 and all(r["category"] == "leaves: C0" for r in leaves)
for t, l in zip(totals, leaves):
    same = [r for r in rows if r["kind"] == "line"
            and (r["group"], r["question"]) == (t["group"], t["question"])]
    for key in ("before", "after", "revenue_before", "revenue_after"):
        assert abs(sum(r[key] for r in same) - t[key]) < 1e-6, (key, t)
    assert l["before"] == [r for r in same if r["category"] == "C0"][0]["before"] and l["after"] == 0
    assert t["revenue_low"] <= t["revenue_after"] <= t["revenue_high"]
rows = [r for r in rows if r["kind"] == "line"]
assert rows[0]["question"] == "rechoice"
for r in rows:
    assert r["low"] <= r["after"] <= r["high"] or abs(r["after"] - r["low"]) < 1, r
    assert {"group", "category", "before", "after", "low", "high", "question"} <= set(r)
assert {r["group"] for r in rows} == {"A", "B"}
assert {r["question"] for r in rows} == {"selection", "rechoice"}
assert all(r["estimator"] == "rollout" for r in rows)
assert all(r["after"] == 0 and r["dropped"] for r in rows if r["category"] == "C0")
kept = [r for r in rows if r["question"] == "rechoice" and r["category"] != "C0"]
assert len(kept) == 38 and all(r["change"] > 0 for r in kept)
table = list(csv.DictReader(open("out/report.csv")))
report = json.load(open("out/report.json"))
assert len(table) == len(report["rows"]) == 20 * 2 * (4 + 3) + 2 * 2 * 2, len(table)
table = [r for r in table if r["kind"] == "line"]
assert {r["estimator"] for r in table} == {"rollout", "expected", "top10", "counted"}
assert all(float(r["floor"]) > 0 for r in table if r["category"] != "C0")
for a in report["agreement"]:
    assert -1 <= a["rank_correlation"] <= 1 and a["error_points"] >= 0 and a["mape_floor"] > 0, a
END
ok python3 check.py

# ---- several models, several scenarios, one pass ----
ok "$PARSREC" whatif $model $model $data --drop C0 --drop C1 --each $quick --watch C2 --question both
says "without C0"
says "without C1"
says "2 models"
same "$(grep -c '^C2 ' stdout)" 8 "an estimate and its truth for each scenario and question"
ok "$PARSREC" whatif $model $data --drop C0 --drop C1 $quick
says "without C0, C1"
says "leaves: C0, C1"
if grep -q "Selection:" stdout; then fail "a question that was not asked"; else pass; fi
ok "$PARSREC" whatif $model $data --drop item=3 --drop item=4 --watch C0 $more
says "swapped within the category"
same "$(grep -c "Spread evenly" stdout)" 0 "an even spread where the category stays"
ok "$PARSREC" whatif $model $data --drop C0 $quick --question rechoice
says "Spread evenly over all that stays"
ok "$PARSREC" whatif $model $data --only C0 --only C1 $quick --question rechoice --watch C0
says "nothing but C0, C1"
ok "$PARSREC" whatif $model $data --add item=brandnew:like=3 $quick
says "brandnew"
ok "$PARSREC" whatif $model $data --drop C0 --missing leave $quick
says "given up"
ok "$PARSREC" whatif $model $data --drop C0 --group cluster:2 --group buyers:C2 $quick

# ---- a pivot table of the imported file says what was sold before ----
awk -F, 'NR == 1 { print $0 ",Unit_Price" } NR > 1 { print $0 "," NR % 7 + 1 ".50" }' \
    "$PARSREC_SOURCE/examples/corner_shop_items.csv" >items.csv
baskets="$PARSREC_SOURCE/examples/corner_shop.csv"
ok "$PARSREC" import -o shop.st "$baskets" --items items.csv
ok "$PARSREC" train -o shop.model shop.st --epochs 1 --set dim.user=4 --set dim.item=4
ok "$PARSREC" whatif shop.model shop.st --drop BAKERY $quick --json
cp stdout shop.json
ok "$PARSREC" whatif shop.model shop.st --drop BAKERY --group user:K01 $quick --json
cp stdout user.json
cat >pivot.py <<'END'
import csv, json, sys
items = {r["item"]: r for r in csv.DictReader(open("items.csv"))}
everybody = list(csv.DictReader(open(sys.argv[1])))
for name, actions in ("shop.json", everybody), ("user.json", [r for r in everybody if r["user"] == "K01"]):
    baskets = len({(r["user"], r["session"]) for r in actions})
    units, money = {}, {}
    for user, session, item in {(r["user"], r["session"], r["item"]) for r in actions}:
        c = items[item]["category"]
        units[c] = units.get(c, 0) + 1
        money[c] = money.get(c, 0) + float(items[item]["Unit_Price"])
    near = lambda a, b: abs(a - b) < 1e-6 * max(1, abs(b))
    rows = json.load(open(name))
    assert {r["question"] for r in rows} == {"rechoice"}
    for r in rows:
        assert r["baskets"] == baskets, (r["baskets"], baskets)
        if r["kind"] == "line":
            c = r["category"]
            assert near(r["before"], units.get(c, 0) / baskets), r
            assert near(r["revenue_before"], money.get(c, 0) / baskets), r
        elif r["kind"] == "leaves":
            assert near(r["before"], units.get("FOOD > BAKERY", 0) / baskets) and r["after"] == 0
            assert near(r["revenue_before"], money.get("FOOD > BAKERY", 0) / baskets), r
        else:
            assert near(r["before"], sum(units.values()) / baskets), r
            assert near(r["revenue_before"], sum(money.values()) / baskets), r
            assert near(r["after"], r["before"]), r
END
ok python3 pivot.py "$baskets"
ok "$PARSREC" whatif shop.model shop.st --drop BAKERY $quick
says "the mean over the 775 baskets of 60 users"
says "leaves: FOOD > BAKERY"
says "all categories"
says "Revenue per basket"
if grep -q "Selection" stdout; then fail "selection without being asked"; else pass; fi
ok "$PARSREC" whatif shop.model shop.st --drop BAKERY $quick -o unasked
same "$(grep -ic 'selection\|goes together\|beyond' unasked/report.html)" 0 "selection on a page that did not ask"
ok "$PARSREC" whatif shop.model shop.st --drop BAKERY $quick --question both -o asked
same "$(grep -c 'What goes together' asked/report.html)" 1 "pairs on a page that asked"
ok "$PARSREC" whatif shop.model shop.st --drop BAKERY $quick --question selection
says "not an effect"
if grep -q "Spread evenly" stdout; then fail "an even spread of baskets that were not drawn"; else pass; fi
# Names of categories are found in any case.
ok "$PARSREC" whatif shop.model shop.st --drop category=bakery $quick
says "without FOOD > BAKERY"
python3 - stdout <<'END' || fail "the even spread is not what leaves over what stays"
import re, sys
text = " ".join(open(sys.argv[1]).read().split())
said = float(re.search(r"would raise everything by ([0-9.]+) %", text).group(1))
leaves = float(re.search(r"leaves: .*? ([0-9.]+) 0\.0000", text).group(1))
before = float(re.search(r"all \w+ ([0-9.]+)", text[text.index("leaves:"):]).group(1))
assert abs(said - 100 * leaves / (before - leaves)) < 0.1, (said, leaves, before)
END

# ---- an item leaves: the others of its category gain together what it sold, so that the rows add up ----
ok "$PARSREC" whatif shop.model shop.st --drop item=1028 $quick --json
python3 - <<'END' || fail "what replaces an item is not what it sold"
import csv, json
category = {r["item"]: r["category"] for r in csv.DictReader(open("items.csv"))}
rows = {r["category"].split(" ")[0] if r["category"][0].isdigit() else r["category"]: r
        for r in json.load(open("stdout")) if r["kind"] == "line"}
items = [i for i in rows if category.get(i) == category["1028"]]
assert len(items) > 3 and rows["1028"]["before"] > 0.1 and rows["1028"]["after"] == 0, rows
for when in "before", "after":
    assert abs(sum(rows[i][when] for i in items) - rows["FOOD > DAIRY"][when]) < 0.005, (when, rows)
END

# ---- a category with items of its own beside those of categories below it ----
awk -F, -v OFS=, 'NR > 1 && NR % 3 == 0 { sub(/ > .*/, "", $3) } { print }' items.csv >uneven.csv
ok "$PARSREC" import -o uneven.st "$baskets" --items uneven.csv
ok "$PARSREC" train -o uneven.model uneven.st --epochs 1 --set dim.user=4 --set dim.item=4
ok "$PARSREC" whatif uneven.model uneven.st --drop BAKERY --watch FOOD $quick --json
python3 - "$baskets" <<'END' || fail "a category, and the others of it"
import csv, json, sys
category = {r["item"]: r["category"] for r in csv.DictReader(open("uneven.csv"))}
lines = list({(r["user"], r["session"], r["item"]) for r in csv.DictReader(open(sys.argv[1]))})
baskets = len({x[:2] for x in lines})
rows = {r["category"]: r["before"] for r in json.load(open("stdout")) if r["kind"] == "line"}
share = lambda belongs: sum(belongs(category[x[2]]) for x in lines) / baskets
assert abs(rows["FOOD"] - share(lambda c: c.split(" > ")[0] == "FOOD")) < 1e-6, rows
assert abs(rows["FOOD > other items"] - share(lambda c: c == "FOOD")) < 1e-6, rows
assert len(rows) == len([r for r in json.load(open("stdout")) if r["kind"] == "line"]), rows
END
ok "$PARSREC" explain uneven.model uneven.st --map lift --show FOOD --show "FOOD > BAKERY" -o parts
says "everybody: 60 users, 775 baskets" # also those of one item
ok grep -qF '"FOOD > other items"' parts/report.json
ok "$PARSREC" explain uneven.model uneven.st --map lift --level 1 -o tops
same "$(grep -c 'other items' tops/report.json)" 0 "parts of categories at the top level"

# ---- a long name is shortened behind its mark; what was never sold does not fall ----
sed 's/BAKERY/BREAD CAKES AND EVERYTHING ELSE FROM THE OVEN/' items.csv >long.csv
ok "$PARSREC" import -o long.st "$baskets" --items long.csv
ok "$PARSREC" train -o long.model long.st --epochs 1 --set dim.user=4 --set dim.item=4
ok "$PARSREC" whatif long.model long.st --drop "FOOD > BREAD CAKES AND EVERYTHING ELSE FROM THE OVEN" $quick
says "leaves: …"
same "$(awk '/^leaves: / { print substr($0, 1, 40) ~ /OVEN/ }' stdout)" 1 "the end of a shortened name"
cat >unsold.py <<'END'
import csv, sys
bought = {r["item"] for r in csv.DictReader(open(sys.argv[1])) if r["user"] == "K01"}
everything = [r["item"] for r in csv.DictReader(open("items.csv"))]
print(next(i for i in everything if i not in bought))
END
unsold=$(python3 unsold.py "$baskets")
ok "$PARSREC" whatif shop.model shop.st --drop "item=$unsold" --group user:K01 $quick
says "leaves: "
same "$(grep -c '^leaves: .* 0\.0000 *0\.0000 *- ' stdout)" 1 "a change of what was never sold"
ok "$PARSREC" whatif shop.model shop.st --drop "item=$unsold" --group user:K01 $quick --json
cp stdout unsold.json
cat >leaves.py <<'END'
import json
[row] = [r for r in json.load(open("unsold.json")) if r["kind"] == "leaves"]
assert row["before"] == 0 and row["change"] is None and row["revenue_change"] is None, row
END
ok python3 leaves.py

# ---- nonsense: a sentence each, and no folder left behind ----
fails 1 "is not a folder" "$PARSREC" whatif nothing.st $data --drop C0 -o $model
fails 1 "C99" "$PARSREC" whatif $model $data --drop category=C99 -o bad
fails 1 "there is no item" "$PARSREC" whatif $model $data --drop item=99999 -o bad
all=
for c in $(seq 0 19); do all="$all --drop C$c"; done
fails 1 "nothing but 1028 Milk: baskets of 4.1 items on average cannot keep their size with 1 item on the shelf; pass --missing leave" \
    "$PARSREC" whatif shop.model shop.st --only item=1028 -o bad
ok "$PARSREC" whatif shop.model shop.st --only item=1028 --missing leave $quick
fails 1 "nothing is left on the shelf" "$PARSREC" whatif $model $data $all -o bad
fails 1 "nothing is left on the shelf" "$PARSREC" whatif $model $data --only C0 --drop C0 -o bad
: >nobody.txt
fails 1 "nobody" "$PARSREC" whatif $model $data --drop C0 --group nobody=nobody.txt -o bad
fails 1 "not in the data set" "$PARSREC" whatif $model $data --drop C0 --group user:x -o bad
fails 1 "already" "$PARSREC" whatif $model $data --add item=3:like=4 -o bad
fails 1 "item=NAME:like=ITEM" "$PARSREC" whatif $model $data --add item=3 -o bad
fails 1 "goes without" "$PARSREC" whatif $model $data --drop C0 --only C1 --each -o bad
fails 1 "selection only" "$PARSREC" whatif $model $data --drop C0 --estimator counted \
    --question rechoice -o bad
fails 2 "nothing changes" "$PARSREC" whatif $model $data -o bad
fails 2 "which model" "$PARSREC" whatif $data --drop C0
fails 2 "no preset" "$PARSREC" whatif --preset other -o bad
fails 2 "pass -o DIR" "$PARSREC" whatif --preset paper
ok "$PARSREC" train -o pop.st $data --model pop
fails 1 "gives no probabilities" "$PARSREC" whatif pop.st $data --drop C0
ok "$PARSREC" train -o pairs.st $data --epochs 1 --set dim.user=4 --set dim.item=4 --set loss=bpr
fails 1 "with a loss of pairs ranks items" "$PARSREC" whatif pairs.st $data --drop C0
printf 'user,session,item\na,1,x\na,2,y\na,3,x\n' | "$PARSREC" import -o other.st - >/dev/null 2>&1
fails 1 "none of the 2 items of the data set is in the model's catalogue" "$PARSREC" whatif $model other.st --drop C0
absent bad
