#!/bin/sh
# How well parsrec whatif foresees re-choice: each of the 20 categories of the paper's own groups dropped
# in turn, with and without the outside option; rank correlation of estimated and true changes, and the
# mean error of the change.
#   bench/whatif_rechoice.sh PARSREC OUT [USERS [EPOCHS [SEED]]]
set -eu
parsrec=$1 out=$2 users=${3:-4096} epochs=${4:-1} seed=${5:-1}
threads=${THREADS:+--threads $THREADS}
mkdir -p "$out"
drops=
for c in $(seq 0 19); do drops="$drops --drop C$c"; done
for kind in refill leave; do
    outside=
    [ $kind = leave ] && outside=--outside
    data=$out/$kind-data.st model=$out/$kind-model.st
    [ -e "$data" ] || "$parsrec" synth -o "$data" --users "$users" --seed "$seed" $outside
    if [ -e "$model.ckpt" ]; then
        "$parsrec" train -o "$model" "$data" --resume "$model.ckpt" >/dev/null
    elif [ ! -e "$model" ]; then
        "$parsrec" train -o "$model" "$data" --epochs "$epochs" --seed "$seed" $threads >/dev/null
    fi
    "$parsrec" whatif "$model" "$data" $drops --each --group truth --missing $kind --draws 4 \
        --resamples 200 --truth-sets 500 $threads -o "$out/$kind" >"$out/$kind.txt"
    echo "--missing $kind $outside"
    python3 "$(dirname "$0")/whatif_ranks.py" "$out/$kind/report.json"
done
