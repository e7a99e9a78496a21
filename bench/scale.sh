#!/bin/sh
# What size costs: training with default settings on shops of 2 thousand, 100 thousand and a million items.
# usage: bench/scale.sh [-p PARSREC] [-w FOLDER] [STAGE...]          stages: train epoch
#   train   cost per predicted item on one thread, three rounds over the three shops, in plain products
#           of the same run. Goals: at most 1.5 times the cost at 2 thousand items with 100 thousand, at
#           most 2 times with a million.
#   epoch   one epoch of 200,000 users and 7.3 million actions on two threads. Goal: within 5 minutes.
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
[ $# -gt 0 ] || set -- train epoch
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

for stage; do
    case $stage in
    train | epoch) "$stage" ;;
    *) echo "scale.sh: there is no stage '$stage'; there are: train, epoch" >&2; exit 2 ;;
    esac
done
