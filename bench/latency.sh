#!/bin/sh
# What one recommendation takes, ours and the PyTorch peer's, in turn, in one run: a basket of three, the
# ten best of 2,000 items, a known user.
#   bench/latency.sh ACTIONS.csv[.gz] PEER.py [MODEL]
# PEER.py --latency prints "latency_us median M p99 P". Without MODEL one is trained on the actions for one
# epoch by the preset paper; speed does not depend on what was learnt. The best of three medians counts on
# both sides, for the peer at one and two threads. Needs Debian's python3-torch.
set -eu
actions=${1:?usage: bench/latency.sh ACTIONS.csv PEER.py [MODEL]}
peer=${2:?usage: bench/latency.sh ACTIONS.csv PEER.py [MODEL]}
parsrec=${PARSREC:-build/release/src/parsrec}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=${3:-$work/model}
if [ $# -lt 3 ]; then
    "$parsrec" import -o "$work/data.st" "$actions" >/dev/null
    "$parsrec" train -o "$model" "$work/data.st" --preset paper --epochs 1 >/dev/null 2>&1
fi
for round in 1 2 3; do
    "$parsrec" bench score "$model" --seconds 4 --json 2>/dev/null |
        sed 's/.*"median_us": \([0-9.]*\).*"why_median_us": \([0-9.]*\).*/\1 \2/' >>"$work/ours"
    for threads in 1 2; do
        /usr/bin/python3 "$peer" "$actions" --latency --threads $threads | awk '{print $3}' >>"$work/peer"
    done
done
awk 'FNR == NR {if (FNR == 1 || $1 < ours) ours = $1; if (FNR == 1 || $2 < why) why = $2; next}
     FNR == 1 || $1 < peer {peer = $1}
     END {printf "ours %.1f us (reasons %.1f us more)\npeer %.1f us\nratio %.1f\n", ours, why, peer, peer / ours}' \
    "$work/ours" "$work/peer"
