#!/bin/sh
# Two ranks of one thread against one rank of two threads, in turns: items per second as a ratio, the share
# of a batch that rank 0 waited, and bytes sent per batch beside the formula of docs/scale.md.
#   bench/ranks.sh PARSREC [ROUNDS]       3 rounds by default; needs Open MPI, Python and bc
# The large shop comes from bigshop.c, in ../shared/bench beside the source or $PARSREC_SHOP.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rounds=${2:-3}
source=${PARSREC_SHOP:-$here/../../shared/bench/bigshop.c}
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PARSREC_PROGRESS=off
# speed LOG: the best items per second of its epochs.
speed() { sed -nE 's/.*"items_per_s": ?([0-9.]+).*/\1/p' "$1" | sort -g | tail -1; }

# shop NAME DATA SETTINGS...: both ways of training, in turns; the sums of their best speeds are compared.
shop() {
    name=$1 data=$2 one=0 two=0 round=0
    shift 2
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        "$program" train -o one.model "$data" "$@" --threads 2 >log 2>&1
        mpirun -n 2 --oversubscribe --bind-to none "$program" train -o two.model "$data" "$@" --threads 1 \
            --keep-checkpoint >log 2>&1
        cmp one.model two.model
        one=$(echo "$one + $(speed one.model.log)" | bc)
        two=$(echo "$two + $(speed two.model.log)" | bc)
    done
    echo "$name: 2 ranks x 1 thread / 1 rank x 2 threads = $(echo "scale=3; $two / $one" | bc)"
    grep -h 'ranks:' log
}

"$program" synth -o sample.data --users 1000 --sessions 12 --seed 5 >log 2>&1
shop "preset paper, 2,000 items" sample.data --preset paper --epochs 2
# With one chunk per rank, rank 0 sends half of its gradient to the owner of that half, and the sum of
# the other half back: together 4 bytes per trained number outside the user table.
/usr/bin/python3 - <<'FORMULA'
import json, struct
with open("two.model.ckpt", "rb") as file:
    head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
numbers = 0
for name, tensor in head.items():
    if name.startswith("param.") and name != "param.user_emb":
        size = 1
        for n in tensor["shape"]:
            size *= n
        numbers += size
print("formula: %d numbers, %d bytes per batch" % (numbers, 4 * numbers))
FORMULA
[ -f "$source" ] || { echo "ranks.sh: there is no $source; name it in PARSREC_SHOP" >&2; exit 1; }
cc -O2 -o bigshop "$source" -lm
# Users of the shop, then users who buy every item once, so that all are in the catalogue.
{
    ./bigshop 4000 100000 8 1
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "s%d,%d,%d,i%d\n", i / 50, i % 50 / 5, i % 50 / 5, i }'
} | "$program" import - -o big.data >log 2>&1
shop "default settings, bigshop of 100,000 items, sampled loss" big.data --epochs 1
