# tune: the search, its best.conf, a kill in the middle, and mistakes.
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
ranges="--set rate=0.0005..0.01(log) --set dim.item=4,8 --set heads=1..3 --set dim.user=8 --set dropout.keys=0..0.4"

# ---- 9 trials, then 3, then 1 ----
ok "$PARSREC" tune shop.st -o out $ranges --trials 9 --epochs 9
says "The best is trial-"
says "no test session was looked at"
says "parsrec train -o best.st shop.st --config out/best.conf --seed 1"
for file in report.md report.csv report.json report.html epochs.svg best.conf; do ok test -s "out/$file"; done
same "$(grep -c '://' out/report.html)" 0 "hosts named in the page"
cat >check.py <<'END'
import csv, json, math
report = json.load(open("out/report.json"))
trials = report["trials"]
assert len(trials) == 9 and report["best"] == trials[0]["trial"]
assert sorted(len(t["validation"]) for t in trials) == [1] * 6 + [3] * 2 + [9]
logs = {}
for t in trials:
    lines = [json.loads(l) for l in open(f"out/{t['trial']}.st.log")]
    begin = [l for l in lines if l["event"] == "begin"]
    fresh = [l["epoch"] for l in lines if l["event"] == "epoch" and not l["earlier"]]
    assert fresh == list(range(1, len(t["validation"]) + 1)), "an epoch is learnt once"
    logs[t["trial"]] = {l["epoch"]: l["valid"]["NDCG@10"] for l in lines if l["event"] == "epoch"}
    assert list(logs[t["trial"]].values()) == t["validation"]
    assert t["value"] == max(t["validation"]) == t["validation"][t["best_epoch"] - 1]
    c, s = begin[-1]["config"], t["settings"]
    assert c["dim.user"] == 8 and (8 + c["dim.item"]) % c["heads"] == 0
    assert math.isclose(c["rate"], float(s["rate"])) and c["heads"] == int(s["heads"])
    if t["trial"] != "trial-01":
        assert 0.0005 <= c["rate"] <= 0.01 and c["dim.item"] in (4, 8) and 1 <= c["heads"] <= 3
        assert 0 <= c["dropout.keys"] <= 0.4
    else:
        assert c["rate"] == 0.001 and c["dim.item"] == 64, "the settings as they are"
assert len({json.dumps(t["settings"]) for t in trials}) == 9
# Those that continue are the best of a round, by what it had learnt until then.
for epochs, kept in ((1, 3), (3, 1)):
    had = sorted((t for t in trials if len(t["validation"]) >= epochs),
                 key=lambda t: (-max(t["validation"][:epochs]), t["trial"]))
    assert {t["trial"] for t in had[:kept]} == {t["trial"] for t in had if len(t["validation"]) > epochs}
assert len(list(csv.DictReader(open("out/report.csv")))) == 6 + 3 * 2 + 9
END
ok python3 check.py
best=$(sed -n 's/.*"best": "\(.*\)".*/\1/p' out/report.json)
# Trials are only validated; the step that follows the epochs is left out of them.
ok "$PARSREC" train -o best.st shop.st --config out/best.conf --seed 1 --set newest=off
ok cmp best.st "out/$best.st"
same "$(ls out/*.ckpt)" "out/$best.st.ckpt" "checkpoints of those that were cut"

# ---- the same again learns nothing, and any number of jobs gives the same ----
cp out/report.csv first.csv
ok "$PARSREC" tune shop.st -o out $ranges --trials 9 --epochs 9
same "$(cat stderr)" "" "nothing is trained again"
ok cmp first.csv out/report.csv
ok "$PARSREC" tune shop.st -o jobs $ranges --trials 9 --epochs 9 --jobs 3 --threads 4
ok cmp first.csv jobs/report.csv
ok "$PARSREC" tune shop.st -o out $ranges --trials 9 --epochs 9 --json
same "$(grep -c '"trial": ' stdout)" 9 "trials as JSON"

# Killed before the first line of a log: the same command begins that trial.
mkdir begun
: >begun/trial-01.st.log
ok "$PARSREC" tune shop.st -o begun --set dim.user=4 --set dim.item=4 --trials 1 --epochs 1

# ---- killed in the first round and in the last one: the same search; sanitizers add nothing to that ----
if [ -z "${PARSREC_SANITIZE:-}" ]; then
    kill_when() { stop_when 9 "$1" "rm -rf killed" "$PARSREC" tune shop.st -o killed $ranges --trials 9 --epochs 90; }
    ok "$PARSREC" tune shop.st -o whole $ranges --trials 9 --epochs 90
    kill_when "[ -e killed/trial-04.st.ckpt ]"
    absent killed/report.csv
    kill_when "[ -e killed/report.csv ]"
    ok "$PARSREC" tune shop.st -o killed $ranges --trials 9 --epochs 90
    ok cmp whole/report.csv killed/report.csv
    ok cmp whole/best.conf killed/best.conf
    best=$(sed -n 's/.*"best": "\(.*\)".*/\1/p' whole/report.json)
    ok cmp "whole/$best.st" "killed/$best.st"
fi
"$PARSREC" tune shop.st -o stopped --trials 2 --epochs 10000 >/dev/null 2>said &
victim=$!
while [ ! -e stopped/trial-01.st.ckpt ] && kill -0 $victim 2>/dev/null; do sleep 0.02; done
kill -INT $victim
wait $victim
same $? 1 "exit of a stopped search"
ok grep -q "the same command resumes" said

# ---- other kinds, with ranges of their own ----
ok "$PARSREC" tune shop.st -o seq --model sasrec --set dim.item=8 --set length=8,16 --trials 2 --epochs 1 --measure HR@10
says "--model sasrec"

# ---- mistakes cost nothing ----
fails 1 "belongs to another search" "$PARSREC" tune shop.st -o out $ranges --trials 9 --epochs 9 --seed 2
fails 1 "there is no setting 'rat'" "$PARSREC" tune shop.st -o bad --set rat=1,2
fails 1 "smaller number to a larger" "$PARSREC" tune shop.st -o bad --set rate=0.1..0.01
fails 1 "with (log) from above 0" "$PARSREC" tune shop.st -o bad --set "dropout.keys=0..0.4(log)"
fails 1 "list its values" "$PARSREC" tune shop.st -o bad --set bias=0..1
fails 1 "bias" "$PARSREC" tune shop.st -o bad --set bias=on,maybe
fails 1 "a search cannot choose it" "$PARSREC" tune shop.st -o bad --set epochs=1,2
fails 1 "has two ranges" "$PARSREC" tune shop.st -o bad --set heads=1,2 --set heads=1..4
fails 1 "different settings can be drawn" "$PARSREC" tune shop.st -o bad --set heads=1,2 --trials 5
fails 1 "tune trains models, and upcf counts" "$PARSREC" tune shop.st -o bad --model upcf
ok "$PARSREC" eval upcf shop.st --split valid --set upcf.recent=3
fails 1 "there is no model 'sasrek'" "$PARSREC" tune shop.st -o bad --model sasrek
fails 1 "choose one of them" "$PARSREC" tune shop.st -o bad --measure MRR
fails 1 "cannot open" "$PARSREC" tune nowhere.st -o bad
printf 'user,session,item\nu,1,a\nu,2,b\n' | "$PARSREC" import -o tiny.st - >/dev/null 2>&1
fails 1 "nobody can be validated" "$PARSREC" tune tiny.st -o bad
absent bad
fails 2 "pass -o DIR" "$PARSREC" tune shop.st
fails 2 "--cut 1" "$PARSREC" tune shop.st -o bad --cut 1
