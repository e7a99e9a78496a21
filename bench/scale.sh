#!/bin/sh
# What size costs: training with default settings on shops of 2 thousand, 100 thousand and a million items,
# answers from them, and training of ten million users in 12 GB.
# usage: bench/scale.sh [-p PARSREC] [-w FOLDER] [STAGE...]          stages: train epoch million answers users
#   train   cost per predicted item on one thread, three rounds over the three shops, in plain products
#           of the same run. Goals: at most 1.5 times the cost at 2 thousand items with 100 thousand, at
#           most 2 times with a million.
#   epoch   one epoch of 200,000 users and 7.3 million actions on two threads. Goal: within 5 minutes.
#   million a million items, a million users and 36.5 million actions from CSV to data set, model (one epoch),
#           eval --full of 10,000 users and a server's answer, with time and peak of memory of each step beside
#           what `parsrec size` and the line before training said. Goal: within a tenth. Takes an hour and 25 GB of disk.
#   answers median and p99 of an answer in process: a known user with 30 to 50 past items, three items in the
#           basket, k = 10, in catalogues of 2 thousand, 100 thousand and a million items (models of one epoch).
#           Goals, for both: 40 us, 200 us, 1.2 ms; and 10,000 answers ($COMPARED) the same as from scoring
#           everything, which takes a quarter of an hour at a million items. The last model is that of `million`.
#           Then the search alone on tables of a hundred thousand and a million rows made from a learnt one
#           (search_rows.c), if $LEARNT names a model of few items.
#   users   ten million users of a small shop with train --max-memory 12G: the first hundred batches, the peak
#           of memory, and the time that is left by the program's own estimate.
# Shops and measurements are kept in FOLDER (./scale); what is there is not made again, so that a run that
# was interrupted continues. The shops come from bigshop.c, in ../shared/bench beside the source or
# $PARSREC_SHOP. For `train` every item is bought at least once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
parsrec=$here/../build/release/src/parsrec
shop=${PARSREC_SHOP:-$here/../../shared/bench/bigshop.c}
work=scale
while getopts p:w: option; do
    case $option in
    p) parsrec=$OPTARG ;;
    w) work=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- train epoch million answers users
[ -f "$shop" ] || { echo "scale.sh: there is no $shop; name it in PARSREC_SHOP" >&2; exit 1; }
mkdir -p "$work"
[ -x "$work/bigshop" ] || cc -O2 -o "$work/bigshop" "$shop" -lm

# USERS of the shop, then users who buy every item once, 50 each in ten sessions.
every_item() { # USERS ITEMS
    "$work/bigshop" "$1" "$2" 8 1
    awk -v items="$2" 'BEGIN { for (i = 0; i < items; i++)
        printf "s%d,%d,%d,i%d\n", i / 50, i % 50 / 5, i % 50 / 5, i }'
}

import() { # NAME: rows on standard input
    [ -f "$work/$1.st" ] && { cat >/dev/null; return; }
    "$parsrec" import - -o "$work/$1.part.st" >/dev/null
    mv "$work/$1.part.st" "$work/$1.st"
}

sizes="2000 100000 1000000"

train() {
    for items in $sizes; do
        [ -f "$work/items$items.st" ] || every_item 20000 "$items" | import "items$items"
    done
    for round in 1 2 3; do
        for items in $sizes; do
            result=$work/train.$items.$round.json
            [ -s "$result" ] && continue
            "$parsrec" bench train "$work/items$items.st" --preset default --threads 1 --seconds 10 \
                --json >"$result.part"
            mv "$result.part" "$result"
        done
    done
    /usr/bin/python3 - "$work" $sizes <<'PYTHON'
import json, statistics, sys

work, *sizes = sys.argv[1:]
goals = {"2000": 1, "100000": 1.5, "1000000": 2}
runs = {s: [json.load(open(f"{work}/train.{s}.{r}.json")) for r in (1, 2, 3)] for s in sizes}
# Other programs slow all rounds down, but not alike: the plain products that a run measures between its
# own slices say how fast the machine was meanwhile.
rate = {s: [r["items_per_s"] / r["sgemm_gflops"] for r in runs[s]] for s in sizes}
missed = False
print("items        items/s   sgemm GFLOP/s   items per GFLOP   cost against 2,000   goal    (medians)")
for s in sizes:
    cost = statistics.median(a / b for a, b in zip(rate[sizes[0]], rate[s]))
    middle = {k: statistics.median(r[k] for r in runs[s]) for k in ("items_per_s", "sgemm_gflops")}
    missed |= cost > goals[s]
    print(f"{int(s):9,d} {middle['items_per_s']:10,.0f} {middle['sgemm_gflops']:15.1f} "
          f"{statistics.median(rate[s]):17.0f} {cost:20.2f} {goals[s]:6}")
sys.exit(missed)
PYTHON
}

epoch() {
    [ -f "$work/large.st" ] || "$work/bigshop" 200000 100000 8 1 | import large
    [ -s "$work/epoch.json" ] || {
        "$parsrec" train -o "$work/large.model" "$work/large.st" --epochs 1 --threads 2 \
            2>"$work/epoch.log" >/dev/null
        grep '"epoch"' "$work/large.model.log" | tail -n 1 >"$work/epoch.json"
    }
    /usr/bin/python3 - "$work/epoch.json" <<'PYTHON'
import json, sys

e = json.load(open(sys.argv[1]))
print(f"an epoch of 7.3 million actions, 99,043 items, two threads: {e['seconds']:.0f} s (goal 300), "
      f"{e['items_per_s']:,.0f} items/s")
sys.exit(e["seconds"] > 300)
PYTHON
}

# measured NAME COMMAND...: once; its time in seconds and peak of memory in kB go to NAME.cost, what it says to NAME.log.
measured() {
    name=$work/$1
    shift
    [ -s "$name.cost" ] && return
    /usr/bin/time -o "$name.part" -f '%e %M' "$@" >"$name.log" 2>&1
    mv "$name.part" "$name.cost"
}

million() {
    [ -s "$work/million.csv" ] || {
        "$work/bigshop" 1000000 1000000 8 1 >"$work/million.part"
        mv "$work/million.part" "$work/million.csv"
    }
    measured million.import "$parsrec" import "$work/million.csv" -o "$work/million.st"
    measured million.size "$parsrec" size --users 1000000 --items 914305 --actions 36530443 --basket 4.6 --undated --json
    measured million.train "$parsrec" train "$work/million.st" -o "$work/million.model" --epochs 1
    measured million.eval "$parsrec" eval "$work/million.model" "$work/million.st" --full --most-users 10000
    [ -s "$work/million.serve.cost" ] || serve_one
    /usr/bin/python3 - "$work" <<'PYTHON'
import json, re, sys

work = sys.argv[1]
text = open(f"{work}/million.size.log").read()
said = json.loads(text[text.index("{"):])
line = re.search(r"memory: about (\d+) MB", open(f"{work}/million.train.log").read())
missed = False
print("step      seconds   peak MB   said by size MB   ratio   said by train MB   ratio")
for step, key in (("import", "import_memory"), ("train", "train_memory"), ("eval", None), ("serve", "serve_memory")):
    seconds, peak = map(float, open(f"{work}/million.{step}.cost").read().split())
    row = f"{step:8} {seconds:8.0f} {peak * 1024 / 1e6:9.0f}"
    for value in (said[key] if key else None, float(line[1]) * 1e6 if step == "train" else None):
        ratio = value / (peak * 1024) if value else None
        missed |= ratio is not None and not 0.9 <= ratio <= 1.1
        row += f" {value / 1e6:17.0f} {ratio:7.2f}" if value else f" {'':17} {'':7}"
    print(row)
sys.exit(missed)
PYTHON
}

# A server with the large model answers one question; its peak is the system's figure for the process.
serve_one() {
    "$parsrec" serve "$work/million.model" --listen 127.0.0.1:0 >"$work/million.serve.log" 2>&1 &
    server=$!
    began=$(date +%s)
    until grep -q 'http://127.0.0.1:' "$work/million.serve.log"; do
        kill -0 $server || { cat "$work/million.serve.log" >&2; exit 1; }
        sleep 0.2
    done
    address=$(sed -n 's/.*\(http:\/\/127.0.0.1:[0-9]*\).*/\1/p' "$work/million.serve.log" | head -n 1)
    curl -fsS "$address/v1/recommend" -H 'content-type: application/json' \
        -d '{"user": "u77", "basket": ["i1", "i2", "i3"], "k": 10}' >"$work/million.answer.json"
    peak=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/$server/status)
    kill $server
    wait $server || :
    echo "$(($(date +%s) - began)) $peak" >"$work/million.serve.cost"
}

answers() {
    build=$(dirname "$parsrec")
    cc -std=c11 -O2 -D_GNU_SOURCE -I"$here/../src" -I"$here/../include" "$here/answers.c" \
        "$build/libparsrec.a" $(pkg-config --libs jansson sqlite3 libzstd zlib) -lpthread -lm -ldl \
        -o "$work/answers"
    for items in 2000 100000; do
        [ -f "$work/items$items.st" ] || every_item 20000 "$items" | import "items$items"
    done
    for name in items2000 items100000 million; do
        [ -f "$work/$name.model" ] || "$parsrec" train -o "$work/$name.model" "$work/$name.st" --epochs 1 \
            >"$work/$name.log" 2>&1
        "$work/answers" "$work/$name.model" 10000 "${COMPARED:-10000}"
    done | awk -v goals="40 200 1200" 'BEGIN { split(goals, goal)
            print "items      median us   p99 us   goal us   compared   different   reasons us" }
        { printf "%9d %10.1f %8.1f %9d %10d %11d %12d\n", $1, $2, $3, goal[NR], $4, $5, $6
          missed += $2 > goal[NR] || $3 > goal[NR] || $5 > 0 }
        END { exit missed > 0 || NR < 3 }'
    [ -n "${LEARNT-}" ] || return 0
    cc -std=c11 -O2 -D_GNU_SOURCE -I"$here/../src" -I"$here/../include" "$here/search_rows.c" \
        "$build/libparsrec.a" $(pkg-config --libs jansson sqlite3 libzstd zlib) -lpthread -lm -ldl \
        -o "$work/search_rows"
    echo "rows, median and p99 us, rows read, looked at twice, scored; compared, different"
    for rows in 100000 1000000; do "$work/search_rows" "$LEARNT" $rows 1000; done
}

# Three sessions of five items for each of the ten million, of 20,000 items. Ten lines of progress are a hundred seconds
# and more than a hundred batches.
users() {
    [ -f "$work/users.st" ] || "$work/bigshop" 10000000 20000 3 1 | import users
    rm -f "$work/users.model.ckpt"
    "$parsrec" train "$work/users.st" -o "$work/users.model" --epochs 1 --max-memory 12G --checkpoint-minutes 1000 \
        --set loss=sampled >"$work/users.log" 2>&1 &
    trainer=$!
    batch=0
    while kill -0 $trainer 2>/dev/null; do
        batch=$(tr '\r' '\n' <"$work/users.log" | grep -c '^training:' || :)
        [ "$batch" -ge 10 ] && break
        sleep 1
    done
    grep -E '^memory|max-memory' "$work/users.log"
    tr '\r' '\n' <"$work/users.log" | grep '^training:' | tail -n 1
    sed -n 's/^VmHWM:/peak of memory:/p; s/^VmRSS:/memory now:/p' /proc/$trainer/status
    kill -9 $trainer # without a checkpoint of 13 GB
    wait $trainer || :
}

for stage; do
    case $stage in
    train | epoch | million | answers | users) "$stage" ;;
    *) echo "scale.sh: there is no stage '$stage'; there are: train, epoch, million, answers, users" >&2; exit 2 ;;
    esac
done
