#!/bin/sh
# Trains by a preset with several seeds and evaluates each on the test sessions; prints every line and
# the mean. Stop it whenever you like: a second call continues where the first one stopped.
#   bench/quality.sh DATA DIR EPOCHS [SEED...]        PRESET=paper by default
set -eu
data=${1:?usage: bench/quality.sh DATA DIR EPOCHS [SEED...]}
dir=${2:?usage: bench/quality.sh DATA DIR EPOCHS [SEED...]}
epochs=${3:?usage: bench/quality.sh DATA DIR EPOCHS [SEED...]}
shift 3
[ $# -gt 0 ] || set -- 1 2 3
parsrec=${PARSREC:-build/release/src/parsrec}
preset=${PRESET:-paper}
mkdir -p "$dir"
for seed in "$@"; do
    model=$dir/$preset-$epochs-$seed.st
    if [ -e "$model" ]; then
        :
    elif [ -e "$model.ckpt" ]; then
        "$parsrec" train -o "$model" "$data" --resume "$model.ckpt" >/dev/null
    else
        "$parsrec" train -o "$model" "$data" --preset "$preset" --epochs "$epochs" --seed "$seed" >/dev/null
    fi
    "$parsrec" eval "$model" "$data" --k 10 --json |
        awk -F'[:,]' -v seed="$seed" '
            /"HR@10"/ && !hr {hr = $2} /"NDCG@10"/ && !ndcg {ndcg = $2} /"Sess-Prec@10"/ && !sp {sp = $2}
            END {printf "seed %s  HR@10 %.4f  NDCG@10 %.4f  Sess-Prec@10 %.4f\n", seed, hr, ndcg, sp}'
done | tee "$dir/$preset-$epochs.txt"
awk '{hr += $4; ndcg += $6; sp += $8; n++}
     END {printf "mean    HR@10 %.4f  NDCG@10 %.4f  Sess-Prec@10 %.4f  of %d seeds\n", hr / n, ndcg / n, sp / n, n}' \
    "$dir/$preset-$epochs.txt"
