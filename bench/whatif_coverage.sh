#!/bin/sh
# How often the 90 % intervals of parsrec whatif hold the truth, and what the estimates are off by: the
# paper's scenario repeatedly with other seeds.
#   bench/whatif_coverage.sh PARSREC OUT [RUNS [USERS [EPOCHS]]]
# Data and models stay in OUT; the same command resumes after a stop, and answers again.
set -eu
parsrec=$1 out=$2 runs=${3:-10} users=${4:-512} epochs=${5:-10}
mkdir -p "$out"
for seed in $(seq 1 "$runs"); do
    "$parsrec" whatif --preset paper -o "$out/$seed" --users "$users" --epochs "$epochs" \
        --seed "$seed" --truth-sets 1000 ${THREADS:+--threads "$THREADS"} >"$out/$seed.txt" 2>"$out/$seed.err"
done
python3 "$(dirname "$0")/whatif_summary.py" "$out"
