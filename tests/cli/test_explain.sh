# explain: maps, files and lists, groups and their difference, the truth of synthetic data, and mistakes.
ok "$PARSREC" synth -o s.st --users 24 --sessions 12 --products 6
ok "$PARSREC" train -o m.st s.st --epochs 2 --set dim.user=8 --set dim.item=8

# ---- two groups of synthetic data ----
ok "$PARSREC" explain m.st s.st --group truth -o out
says "relationships of 20 categories by model parsrec"
says "A: 12 users, 144 baskets; the model is asked about 144 of two items or more"
says "A against B"
says "How well maps recover the truth"
for map in attention drop lift truth; do
    for ending in csv png svg pdf; do
        ok test -s "out/$map-A.$ending"
        ok test -s "out/$map-difference.$ending"
    done
done
ok test -s out/embedding.csv
same "$(wc -l <out/drop-B.csv)" 21 "rows of a map and its heading"
same "$(grep -c '://' out/report.html)" 0 "hosts named in the page"
same "$(grep -c '<script' out/report.html)" 0 "scripts in the page"
ok grep -qF -- "parsrec explain m.st s.st --group truth -o out" out/report.html

# Of the 144 baskets of each group about a third: every third user, whatever the number of threads. Ten categories
# of twenty: only a map of all of them is held against the truth, for which a million trips are simulated each time.
ten="--group truth --map drop --top 10"
ok "$PARSREC" explain m.st s.st $ten --baskets 50 --threads 1 -o third
says "A: 12 users, 144 baskets; the model is asked about 48 of two items or more"
ok "$PARSREC" explain m.st s.st $ten --baskets 50 --threads 3 -o again
same "$(cat third/drop-A.csv)" "$(cat again/drop-A.csv)" "the same third"
ok "$PARSREC" explain m.st s.st $ten --baskets 144 -o all
ok "$PARSREC" explain m.st s.st $ten -o unlimited
same "$(cat all/drop-B.csv)" "$(cat unlimited/drop-B.csv)" "all baskets"

# The numbers agree with each other and with what they should be.
cat >check.py <<'END'
import csv, json
report = json.load(open("out/report.json"))
assert len(report["names"]) == 20
for group, end in zip(report["groups"], "AB"):
    assert group["group"] == end and group["users"] == 12
    for kind in ("attention", "drop", "lift"):
        rows = list(csv.reader(open("out/%s-%s.csv" % (kind, end))))
        for i, row in enumerate(rows[1:]):
            assert row[0] == report["names"][i]
            for cell, number in zip(row[1:], group["maps"][kind][i]):
                assert (cell == "") == (number is None)
                assert number is None or abs(float(cell) - number) < 1e-6 * max(1, abs(number))
    for row in group["maps"]["attention"]:
        assert row[0] is None or abs(sum(row) - 1) < 1e-9
    for kind in ("attention", "drop", "lift"):
        best = group["strongest"][kind]
        assert all(a["strength"] >= b["strength"] for a, b in zip(best, best[1:]))
        for link in best:
            assert link["verdict"] == "confirmed" and link["both"] >= 10 and link["lift_low"] > 1
        for link in group["unconfirmed"][kind]:
            assert link["verdict"] != "confirmed"
    assert group["recovery"]["lift"]["pairs"] == 190
a, b = report["groups"]
d = report["difference"]["maps"]["drop"]
assert abs(d[3][5] - (a["maps"]["drop"][3][5] - b["maps"]["drop"][3][5])) < 1e-12
assert abs(report["difference"]["maps"]["truth"][19][18] - 1.49) < 1e-12
assert report["difference"]["recovery"]["drop"]["differents"] == 4
END
ok python3 check.py

# ---- a shop with names: items, one user, other groups, one map ----
examples=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$examples/corner_shop.csv" --items "$examples/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --epochs 2 --set dim.user=8 --set dim.item=8
ok "$PARSREC" explain shop.model shop.st --by item --top 5 --map drop --group user:K01 --group cluster:2 \
    -o items --threads 1
says "relationships of 5 items out of"
says "K01: 1 user,"
same "$(grep -c 'user:K01' stdout)" 0 "an option in a report for readers"
same "$(cut -d, -f1 items/drop-user_K01.1.csv | head -1)" "bought next (natural logarithm of times as likely)" "the corner of a map"
says "cluster 1: "
same "$(grep -c '1 users' items/report.html)" 0 "one user in the page"
# Data imported later without categories: those of the model.
ok "$PARSREC" import -o plain.st "$examples/corner_shop.csv"
ok "$PARSREC" explain shop.model plain.st --map lift -o plain
says "relationships of 11 categories"
ok "$PARSREC" explain shop.model shop.st --map drop --group buyers:BAKERY --group user:K01 -o buyers
says "buyers of BAKERY against K01"
same "$(cut -d, -f1 buyers/drop-difference.csv | head -1)" \
    "bought next (difference of natural logarithms of times as likely)" "the corner of a difference"
ok test -s items/drop-user_K01.1.csv
absent items/attention-user_K01.1.csv items/lift-user_K01.1.csv
printf 'user\nK01\nK02\n' >few.csv
ok "$PARSREC" explain shop.model shop.st --group few=few.csv --group everybody --difference everybody,few \
    -o few --order cluster --basket 3
says "everybody against few"
says "the first 3 items"

# Threads change nothing, and JSON without the maps goes to standard output.
"$PARSREC" explain shop.model shop.st --by item --top 5 --map drop --group user:K01 --group cluster:2 \
    -o two --threads 3 --json >told.json 2>stderr
for file in drop-user_K01.1 drop-cluster_1.2 drop-cluster_2.3; do
    ok cmp "items/$file.csv" "two/$file.csv"
done
same "$(python3 -c 'import json; r = json.load(open("told.json")); print(len(r["names"]), "maps" in r["groups"][0])')" \
    "5 False" "what is told"

# A model without attention or rows of items still has drop effects: none, for one that only counts.
ok "$PARSREC" train -o pop.st shop.st --model pop
ok "$PARSREC" explain pop.st shop.st -o pop
absent pop/attention-everybody.csv pop/embedding.csv
same "$(tail -n +2 pop/drop-everybody.csv | sed 's/^[^,]*,//' | tr ',' '\n' | grep -cv -e '^-\?0$' -e 'e-' -e '^$')" 0 \
    "effects of a model that does not look at the basket"
fails 1 "pop has no attention" "$PARSREC" explain pop.st shop.st --map attention -o no
absent no

# ---- what the baskets do not confirm is no finding ----
if [ -z "${PARSREC_SANITIZE:-}" ]; then # what is found is the same there
    # Five categories of one department are drawn independently of each other, so that their true lift is 1; BREAD
    # and BUTTER come together about three times as often as by chance.
    cat >made.py <<'END'
import random
random.seed(5)
department = ["CARDS", "CANDY", "TOYS", "PENS", "TAPE"]
others = ["SOAP", "FISH", "RICE"]
out = open("made.csv", "w")
out.write("user,session,item\n")
for user in range(120):
    for session in range(20):
        basket = [c for c in department + others if random.random() < .3]
        if random.random() < .25:
            basket += ["BREAD", "BUTTER"]
        else:
            basket += [c for c in ("BREAD", "BUTTER") if random.random() < .05]
        random.shuffle(basket)
        for category in basket:
            out.write("u%d,u%d-%d,%s-%d\n" % (user, user, session, category, random.randrange(4)))
items = open("made_items.csv", "w")
items.write("item,name,category\n")
for category in department + others + ["BREAD", "BUTTER"]:
    for i in range(4):
        top = "GIFTS" if category in department else "FOOD"
        items.write("%s-%d,%s %d,%s > %s\n" % (category, i, category, i, top, category))
END
    ok python3 made.py
    ok "$PARSREC" import -o made.st made.csv --items made_items.csv
    ok "$PARSREC" train -o made.model made.st --epochs 12 --set dim.user=16 --set dim.item=16 --set batch=32 --set rate=0.01
    ok "$PARSREC" explain made.model made.st --map drop -o made
    cat >check_made.py <<'END'
import csv, json
baskets = {}
for row in csv.DictReader(open("made.csv")):
    baskets.setdefault(row["session"], set()).add(row["item"].split("-")[0])
n = len(baskets)
alone = {c: sum(c in b for b in baskets.values()) for c in set().union(*baskets.values())}
group = json.load(open("made/report.json"))["groups"][0]
best = group["strongest"]["drop"]
assert {best[0]["row"], best[0]["column"]} == {"BREAD", "BUTTER"}, best
assert 2.5 < best[0]["lift"] < 3.5 and best[0]["lift_low"] > 2, best[0]
department = {"CARDS", "CANDY", "TOYS", "PENS", "TAPE"}
for link in best:
    assert not {link["row"], link["column"]} <= department, link
for link in best + group["unconfirmed"]["drop"]:
    pair = {link["row"], link["column"]}
    both = sum(pair <= b for b in baskets.values())
    assert link["both"] == both and link["baskets"] == n
    assert link["row_baskets"] == alone[link["row"]]
    assert link["column_baskets"] == alone[link["column"]]
    assert abs(link["lift"] - both * n / alone[link["row"]] / alone[link["column"]]) < 1e-9
    assert link["lift_low"] < link["lift"] < link["lift_high"]
END
    ok python3 check_made.py
    ok grep -q "BREAD is .* times as likely with BUTTER\|BUTTER is .* times as likely with BREAD" made/report.html
    ok grep -q "both in .* baskets (.*): .* times as often as by chance (95 % interval" made/report.html
    same "$(grep -c 'log of' made/report.html)" 0 "logarithms in the page"
fi

# ---- every stage is told ----
PARSREC_PROGRESS=all "$PARSREC" explain shop.model shop.st -o told >stdout 2>stages
for stage in "loading shop.st" "loading shop.model" "counting pairs: 0 of" "explaining: 0 %" "drawing: 0 of" "drawing: 4 of"; do
    ok grep -q "$stage" stages
done
same "$("$PARSREC" explain shop.model shop.st -o told 2>&1 >stdout | wc -c)" 0 "progress that was switched off"

# ---- mistakes ----
fails 2 "nowhere to write" "$PARSREC" explain m.st s.st
fails 2 "an argument is missing" "$PARSREC" explain m.st -o no
# Where nothing can be written is known before anything else is looked at.
fails 1 "m.st is not a folder" "$PARSREC" explain nothing.st s.st -o m.st
fails 1 "the folder cannot be made" "$PARSREC" explain nothing.st s.st -o nowhere/no
fails 1 "nothing.st" "$PARSREC" explain nothing.st s.st -o no
absent no
fails 1 "user 'nobody' is not in the data set" "$PARSREC" explain m.st s.st --group user:nobody -o no
fails 1 "not one of everybody" "$PARSREC" explain m.st s.st --group nonsense -o no
fails 1 "no category" "$PARSREC" explain m.st s.st --group buyers:SHOES -o no
fails 1 "does not name two of the groups" "$PARSREC" explain m.st s.st --difference A,B -o no
printf 'user,session,item\na,1,x\nb,2,x\nc,3,x\n' >one.csv
ok "$PARSREC" import -o one.st one.csv
ok "$PARSREC" train -o one_model.st one.st --epochs 1 --set dim.user=4 --set dim.item=4
fails 1 "has no categories" "$PARSREC" explain one_model.st one.st --by category -o no
fails 1 "at least two items" "$PARSREC" explain one_model.st one.st --by item -o no
fails 1 "none of the 1 items of the data set is in the model's catalogue" "$PARSREC" explain m.st one.st -o no
absent no
# A map that counts asks the model nothing, and does not say how much.
ok "$PARSREC" explain shop.model shop.st --map lift -o counted
same "$(grep -c ' 0 baskets' counted/report.html)" 0 "baskets that nobody asked about"
touch file
fails 1 "is not a folder" "$PARSREC" explain shop.model shop.st --map lift -o file
