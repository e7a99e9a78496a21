# compare: the table and the reports, models that are taken over, a kill in the middle, and mistakes.
shop=$PARSREC_SOURCE/examples/corner_shop.csv
ok "$PARSREC" import -o shop.st "$shop"
small=dim.user=8:dim.item=8
list="pop,personal,a=parsrec:$small,b=parsrec:$small:rate=0.003"

# ---- one command, four reports ----
ok "$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 2
says "HR@1   HR@5  HR@10    N@5   N@10   SP@1   SP@5  SP@10"
says "best over second"
says "95 % interval"
says "By NDCG@10 the best is"
if grep -q "$(printf '\033')" stdout; then fail "escape codes without a terminal"; else pass; fi
# The value by users' shares is the value of the evaluation, model by model.
same "$(sed 's/ †//' stdout | awk '$1 == "a" {print $6; exit}')" "$(sed 's/ †//' stdout | awk '$1 == "a" {n++; if (n == 2) print $2}')" \
    "NDCG@10 in both tables"
# What counts joins the table, and all protocols stand side by side, unless the command says otherwise.
says "basket    basket"
for kind in recent markov mix; do
    same "$(grep -c "^$kind " stdout)" 4 "$kind is in the tables"
done
for file in report.md report.csv report.json report.html a.st a.st.log b.st; do
    ok test -s "out/$file"
done
absent out/pop.st out/personal.st out/a.st.ckpt
same "$(wc -l <out/report.csv)" 57 "rows of the CSV: 4 models and 3 more that count, 8 measures, a heading"
same "$(grep -c '://' out/report.html)" 0 "hosts named in the page"
same "$(grep -c '<script' out/report.html)" 0 "scripts in the page"
ok grep -q 'prefers-color-scheme:dark' out/report.html
ok grep -qF -- "--models $list -o out --seeds 1 --epochs 2" out/report.md
ok grep -q "$("$PARSREC" info shop.st --json | sed -n 's/.*"checksum": "\(.*\)".*/\1/p')" out/report.html

# The same numbers as eval gives for the same model.
"$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 2 --json >all.json 2>stderr
"$PARSREC" eval out/a.st shop.st --json >one.json
cat >check.py <<'END'
import csv, json
rows, one = json.load(open("all.json")), json.load(open("one.json"))
a = [r for r in rows if r["model"] == "a"][0]
for key in one:
    if key not in ("model", "seconds", "protocols"):
        assert a[key] == one[key], key
for protocol, told in one["protocols"].items():
    for key in told:
        if key not in ("model", "seconds"):
            assert a["protocols"][protocol][key] == told[key], (protocol, key)
for row in csv.DictReader(open("out/report.csv")):
    assert float(row["low"]) <= float(row["value"]) <= float(row["high"]), row
report = json.load(open("out/report.json"))
best = max(rows, key=lambda r: r["metrics"]["NDCG@10"])["model"]
assert report["best"] == best
assert all((r["versus_best"] is None) == (r["model"] == best) for r in rows)
assert len(a["learning"]["validation"]) == 2
for r in rows:
    assert r["cost"]["bytes"] > 0 and r["cost"]["answers_per_s"] > 0 and r["cost"]["seconds"] > 0, r["model"]
assert a["cost"]["training_bytes"] > a["cost"]["bytes"]
END
ok python3 check.py
same "$(cat stderr)" "" "what was trained is not trained again"

# ---- the same again: reused, at any number of threads ----
cp out/report.csv first.csv
cp out/a.st a_before.st
ok "$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 2 --threads 3
ok cmp first.csv out/report.csv
ok cmp a_before.st out/a.st
# Nothing but what is listed, by one protocol.
ok "$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 2 --only-listed --protocol remaining
same "$(wc -l <out/report.csv)" 33 "rows of the CSV: 4 models, 8 measures, a heading"
same "$(grep -c '"protocols"' out/report.json)" 0 "other protocols"
# A model of its own, under another name, and other protocols.
ok "$PARSREC" compare shop.st --models "pop,old=@out/a.st,out/b.st" -o other --full --k 1,3 --measure HR@3
# Finished models and counts have no seeds to vary, however many are asked for.
same "$(grep -c -e "seeds of training" -e "Variation between seeds" -e "interval over seeds" other/report.md)" 0 "words about seeds"
says "By HR@3 the best is"
says "the whole catalogue"
ok "$PARSREC" compare shop.st --models "parsrec:$small:epochs=1" -o other --seeds 1 --epochs 3
same "$(grep -c '"event":"epoch"' other/parsrec-*.st.log)" 1 "epochs of one entry"
ok "$PARSREC" compare shop.st --models "pop,old=@out/a.st" -o other --protocol next --split valid
says "protocol next"
says "Second to last sessions"
ok grep -q '^| old ‡' other/report.md
ok grep -qF '‡ learns from these sessions at the end (newest = on)' other/report.md
ok "$PARSREC" compare shop.st --models "pop,old=@out/a.st" -o other --protocol basket
says "Rec@1  Rec@5 Rec@10"
same "$(awk 'length > 79' stdout | grep -c '@')" 0 "headings beyond 79 columns"

# ---- another recipe under the same name is not silently replaced ----
fails 1 "epochs = 2, not 3" "$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 3
fails 1 "seed = 1, not 2" "$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 2 --seed 2
ok "$PARSREC" compare shop.st --models "a=parsrec:$small" -o out --seeds 1 --epochs 3 --retrain
same "$(grep -c '"event":"epoch"' out/a.st.log)" 3 "epochs after --retrain"
rm out/b.st.log
fails 1 "its log is missing" "$PARSREC" compare shop.st --models "$list" -o out --seeds 1 --epochs 3

# ---- killed in the middle, and again, then finished: the same report ----
if [ -z "${PARSREC_SANITIZE:-}" ]; then # what counts are the files that are left
    long="a=parsrec:$small,b=parsrec:$small:rate=0.003"
    ok "$PARSREC" compare shop.st --models "$long" -o whole --seeds 1 --epochs 30
    # kill_in MODEL: killed once a checkpoint of that model is there.
    kill_in() {
        stop_when 9 "[ -e killed/$1.st.ckpt ] && [ ! -e killed/report.csv ]" "rm -f killed/$1.st* killed/report.*" \
            "$PARSREC" compare shop.st --models "$long" -o killed --seeds 1 --epochs 30
    }
    kill_in a
    kill_in b
    ok test -e killed/a.st
    absent killed/report.csv
    ok "$PARSREC" compare shop.st --models "$long" -o killed --seeds 1 --epochs 30
    ok cmp whole/report.csv killed/report.csv
    ok cmp whole/a.st killed/a.st
    ok cmp whole/b.st killed/b.st
    # A killed writer may leave its temporary file, but no checkpoint under its name.
    ok test ! -e killed/a.st.ckpt
    ok test ! -e killed/b.st.ckpt
fi
# A stop by signal says so, and loses nothing either.
"$PARSREC" compare shop.st --models "c=parsrec:$small" -o killed --seeds 1 --epochs 10000 >/dev/null 2>stopped &
victim=$!
while [ ! -e killed/c.st.ckpt ] && kill -0 $victim 2>/dev/null; do sleep 0.02; done
kill -INT $victim
wait $victim
same $? 1 "exit of a stopped run"
ok grep -q "the same command resumes" stopped
fails 1 "epochs = 10000, not 5" "$PARSREC" compare shop.st --models "c=parsrec:$small" -o killed --seeds 1 --epochs 5

# ---- synthetic data bring the oracle, which is the ceiling and never the best ----
mkdir preset
ok "$PARSREC" synth -o preset/data.st --users 40 --sessions 8
ok "$PARSREC" compare preset/data.st --models pop,sasrec:dim.item=8,bert4rec:dim.item=8 -o preset --seeds 1 --epochs 1
says "oracle"
if grep -q "the best is oracle" stdout; then fail "the oracle competes"; else pass; fi
same "$(grep -c '^oracle,oracle,' preset/report.csv)" 8 "rows of the oracle"
# A preset does not overwrite data that it did not make.
fails 1 "holds other data than paper-small" "$PARSREC" compare --preset paper-small -o preset

# ---- mistakes cost nothing: one sentence, and no folder left behind ----
fails 1 "there is no model 'sasrek'" "$PARSREC" compare shop.st --models pop,sasrek -o bad
fails 1 "two models are called 'pop'" "$PARSREC" compare shop.st --models pop,pop -o bad2
fails 1 "is not a setting" "$PARSREC" compare shop.st --models parsrec:wide -o bad2
fails 1 "nonsense" "$PARSREC" compare shop.st --models parsrec:nonsense=1 -o bad
fails 1 "empty place" "$PARSREC" compare shop.st --models pop,,personal -o bad2
fails 1 "is not measured here" "$PARSREC" compare shop.st --models pop -o bad2 --measure HR@7
fails 1 "there is no preset 'papr'" "$PARSREC" compare --preset papr -o bad2
fails 1 "cannot open" "$PARSREC" compare nowhere.st --models pop -o bad
fails 1 "missing.st" "$PARSREC" compare shop.st --models pop,x=@missing.st -o bad3
fails 1 "is not a folder" "$PARSREC" compare shop.st --models pop -o shop.st
fails 1 "cannot be made" "$PARSREC" compare shop.st --models pop -o no/such/folder
absent bad bad2
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed && chmod a-w closed
    fails 1 "closed" "$PARSREC" compare shop.st --models pop -o closed
fi
fails 2 "which data set" "$PARSREC" compare --models pop -o bad
fails 2 "which models" "$PARSREC" compare shop.st -o bad
fails 2 "pass -o DIR" "$PARSREC" compare shop.st --models pop
fails 2 "--k 0" "$PARSREC" compare shop.st --models pop -o bad --k 0
printf 'user,session,item\nu,1,a\nu,2,b\n' | "$PARSREC" import -o tiny.st - >/dev/null 2>&1
fails 1 "nobody can be evaluated" "$PARSREC" compare tiny.st --models pop -o bad
fails 1 "none of the 2 items of the data set is in the model's catalogue" "$PARSREC" compare tiny.st --models x=@out/a.st -o bad

# ---- names that HTML, Markdown and CSV have signs for ----
ok "$PARSREC" compare shop.st --models '<i>"&|=pop' -o odd
ok grep -qF '&lt;i&gt;&quot;&amp;|' odd/report.html
same "$(grep -c '<i>' odd/report.html)" 0 "markup from a name"
ok grep -qF '"<i>""&|",pop,' odd/report.csv

# ---- without --seeds: three, since that takes seconds here ----
ok "$PARSREC" compare shop.st --models "a=parsrec:$small" -o usual --epochs 1 --only-listed --json
same "$(ls usual/*.st | tr '\n' ' ')" "usual/a.seed2.st usual/a.seed3.st usual/a.st " "three trainings"
ok grep -qF "Means over 3 seeds of training." usual/report.md
ok grep -qF "p over seeds" usual/report.md
# One epoch is the best so far, and more might help.
ok grep -qF "| a † |" usual/report.md
ok grep -qF "† not trained out" usual/report.md
ok grep -q '"not_trained_out": *true' usual/report.json
