#!/bin/sh
# Training speed of parsrec's SASRec and of one in PyTorch on the same data, in turn, in one run.
#   bench/sasrec_peer.sh ACTIONS.csv[.gz] [SECONDS [LOSS]]        LOSS: ce (default) or bce
# Both learn from the newest 200 items of each user, as the papers do. PyTorch gets the BLAS kernels that
# parsrec picks, then OpenBLAS' own choice, batches of like length and of mixed lengths; its best counts,
# and so does the better of our two turns. QUIET names a command that each turn is run through, for
# machines that have other work. Needs Debian's python3-torch.
set -eu
usage="usage: bench/sasrec_peer.sh ACTIONS.csv [SECONDS [LOSS]]"
actions=${1:?$usage}
seconds=${2:-30}
loss=${3:-ce}
parsrec=${PARSREC:-build/release/src/parsrec}
quiet=${QUIET:-}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$parsrec" import -o "$work/data.st" "$actions" >/dev/null 2>&1

ours() {
    $quiet "$parsrec" bench train "$work/data.st" --model sasrec --set windows=last --set length=200 --set separator=off \
        --set batch=128 --set loss="$loss" \
        --threads "$1" --seconds "$seconds" --json 2>/dev/null
}
field() { sed "s/.*\"$1\": \"*\([0-9A-Za-z.]*\).*/\1/"; }
theirs() {
    threads=$1
    shift
    $quiet /usr/bin/python3 "$here/sasrec_peer.py" "$actions" --seconds "$seconds" --threads "$threads" \
        --loss "$loss" "$@" | awk '{print $2}'
}
more() { awk 'BEGIN {best = 0; for (i = 1; i < ARGC; i++) if (ARGV[i] + 0 > best) best = ARGV[i] + 0; print best}' "$@"; }

ours1=$(ours 1) ours2=$(ours 2)
core=$(echo "$ours1" | field kernels)
like1=$(OPENBLAS_CORETYPE=$core theirs 1) like2=$(OPENBLAS_CORETYPE=$core theirs 2)
mixed1=$(OPENBLAS_CORETYPE=$core theirs 1 --mixed) mixed2=$(OPENBLAS_CORETYPE=$core theirs 2 --mixed)
plain1=$(theirs 1) plain2=$(theirs 2)
again1=$(ours 1) again2=$(ours 2)
rate1=$(more "$(echo "$ours1" | field items_per_s)" "$(echo "$again1" | field items_per_s)")
rate2=$(more "$(echo "$ours2" | field items_per_s)" "$(echo "$again2" | field items_per_s)")
best1=$(more "$like1" "$mixed1" "$plain1")
best2=$(more "$like2" "$mixed2" "$plain2")
echo "kernels $core, loss $loss"
echo "ours 1 thread   $rate1 items/s, share of sgemm $(echo "$ours1" | field share), $(echo "$again1" | field share)"
echo "ours 2 threads  $rate2 items/s, share of sgemm $(echo "$ours2" | field share), $(echo "$again2" | field share)"
echo "peer 1 thread   $like1 items/s ($mixed1 in mixed batches, $plain1 with OpenBLAS' own choice)"
echo "peer 2 threads  $like2 items/s ($mixed2 in mixed batches, $plain2 with OpenBLAS' own choice)"
awk -v a="$rate1" -v b="$best1" -v c="$rate2" -v d="$(more "$best1" "$best2")" 'BEGIN {
    printf "1 thread: %.2f times the peer (goal 1.2)\n", a / b
    printf "2 threads: %.2f times the best of the peer with 1 or 2 (goal 2)\n", c / d }'
