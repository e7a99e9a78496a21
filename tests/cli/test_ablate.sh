# ablate: rows against their bases, seeds, jobs, a kill in the middle, and mistakes.
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
base=parsrec:dim.user=8:dim.item=8
few="--base $base --rows no-kin,heads-4 --row fast:rate=0.003"

# ---- one command, two seeds, the reports of compare ----
ok "$PARSREC" ablate shop.st $few -o out --epochs 2 --seeds 2
says "to its base"
says "Means over 2 seeds of training"
says "over 2 seeds"
ok grep -q "difference to its base" out/report.md
for file in base no-kin heads-4 fast; do
    ok test -s out/$file.st
    ok test -s out/$file.seed2.st
done
for file in report.md report.csv report.json report.html; do ok test -s "out/$file"; done
same "$(wc -l <out/report.csv)" 33 "rows of the CSV: 4 rows, 8 measures, a heading"
cat >check.py <<'END'
import csv, json, math, subprocess, sys
report = json.load(open("out/report.json"))
rows = {r["model"]: r for r in report["models"]}
assert rows["base"]["versus_base"] is None
for name, row in rows.items():
    runs = row["seeds"]["runs"]
    assert [r["seed"] for r in runs] == [1, 2]
    for key, value in row["metrics"].items():
        values = [r["metrics"].get(key) for r in runs]
        if None not in values:
            assert abs(sum(values) / 2 - value) < 1e-12, (name, key)
    one = json.loads(subprocess.run([sys.argv[1], "eval", runs[1]["file"], "shop.st", "--json"],
                                    capture_output=True, check=True).stdout)
    assert one["metrics"]["NDCG@10"] == runs[1]["metrics"]["NDCG@10"], name
    if name == "base":
        continue
    versus = row["versus_base"]
    assert versus["model"] == "base"
    d = [a["metrics"]["NDCG@10"] - b["metrics"]["NDCG@10"] for a, b in zip(runs, rows["base"]["seeds"]["runs"])]
    assert abs(versus["difference"] - sum(d) / 2) < 1e-12
    half = 12.7062047 * abs(d[0] - d[1]) / 2  # t with one degree of freedom
    low, high = versus["interval_over_seeds"]
    assert abs(high - sum(d) / 2 - half) < 1e-6 and abs(sum(d) / 2 - low - half) < 1e-6
for row in csv.DictReader(open("out/report.csv")):
    assert row["seeds"] == "2" and float(row["seeds_low"]) <= float(row["value"]) <= float(row["seeds_high"])
END
ok python3 check.py "$PARSREC"

# ---- any number of jobs gives the same, and seeds can be added ----
jobs_to_try="1 3"
[ -z "${PARSREC_SANITIZE:-}" ] || jobs_to_try=3
for jobs in $jobs_to_try; do
    ok "$PARSREC" ablate shop.st $few -o out$jobs --epochs 2 --seeds 2 --jobs $jobs
    ok cmp out/report.csv out$jobs/report.csv
    ok cmp out/fast.seed2.st out$jobs/fast.seed2.st
done
ok "$PARSREC" ablate shop.st $few -o out --epochs 2 --seeds 1
ok grep -q '^fast,parsrec,HR@1,.*,1,,,,$' out/report.csv
ok "$PARSREC" ablate shop.st $few -o out --epochs 2 --seeds 2
same "$(grep -c training stderr)" 0 "what was trained is not trained again"
ok cmp out/report.csv out3/report.csv

# ---- all rows of both presets can be trained ----
if [ -z "${PARSREC_SANITIZE:-}" ]; then # grad.* and unit.* have each setting there
    ok "$PARSREC" ablate shop.st --base $base -o rows --epochs 1
    same "$("$PARSREC" ablate shop.st --base $base -o rows --epochs 1 --json | grep -c '"versus_base": {')" \
        "$(awk -F, '$3 == "HR@1"' rows/report.csv | grep -vc '^base,')" "rows that have a base"
fi

# ---- killed in the middle, and again: the same report ----
if [ -z "${PARSREC_SANITIZE:-}" ]; then # what counts are the files that are left
    long="--base $base --rows no-kin --epochs 30 --seeds 2"
    ok "$PARSREC" ablate shop.st $long -o whole
    # kill_at FILE JOBS: killed once that checkpoint is there.
    kill_at() {
        stop_when 9 "[ -e killed/$1 ]" "rm -f killed/${1%.ckpt} killed/report.*" "$PARSREC" ablate shop.st $long -o killed --jobs "$2"
    }
    kill_at base.st.ckpt 2
    kill_at no-kin.seed2.st.ckpt 1
    ok test -s killed/report.csv # of the first seed
    ok "$PARSREC" ablate shop.st $long -o killed
    ok cmp whole/report.csv killed/report.csv
    for file in base no-kin base.seed2 no-kin.seed2; do ok cmp whole/$file.st killed/$file.st; done
fi
# A stop by signal says so, and loses nothing either.
"$PARSREC" ablate shop.st --base $base --rows no-kin -o stopped --epochs 10000 --jobs 2 >/dev/null 2>said &
victim=$!
while [ ! -e stopped/no-kin.st.ckpt ] && kill -0 $victim 2>/dev/null; do sleep 0.02; done
kill -INT $victim
wait $victim
same $? 1 "exit of a stopped run"
ok grep -q "stopped while training base; the same command resumes" said
ok test -e stopped/base.st.ckpt

# ---- mistakes cost nothing ----
fails 1 "there is no row 'no-kim'" "$PARSREC" ablate shop.st -o bad --rows no-kim
fails 1 "there are: all, paper, parts" "$PARSREC" ablate shop.st -o bad --preset papr
fails 1 "write --row NAME:key=value" "$PARSREC" ablate shop.st -o bad --row wide
fails 1 "nonsense" "$PARSREC" ablate shop.st -o bad --row x:nonsense=1
fails 1 "heads = 3 does not divide" "$PARSREC" ablate shop.st -o bad --row x:heads=3
fails 1 "would be the same file" "$PARSREC" ablate shop.st -o bad --seeds 2 --row x:bias=off --row x.seed2:bias=off
fails 1 "epochs = 2, not 3" "$PARSREC" ablate shop.st $few -o out --epochs 3 --seeds 2
fails 1 "cannot open" "$PARSREC" ablate nowhere.st -o bad
absent bad
fails 2 "pass -o DIR" "$PARSREC" ablate shop.st
fails 2 "an argument is missing" "$PARSREC" ablate -o bad
fails 2 "--seeds 1001" "$PARSREC" ablate shop.st -o bad --seeds 1001
