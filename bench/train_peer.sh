#!/bin/sh
# Training speed of parsrec and of the PyTorch peer on the same data, in turn, in one run.
#   bench/train_peer.sh ACTIONS.csv[.gz] PEER.py [SECONDS]
# PEER.py prints "train_items_per_s N threads T". Both get the BLAS kernels that parsrec picks; then
# the peer runs once more with OpenBLAS' own choice, and its best counts. Needs Debian's python3-torch.
set -eu
actions=${1:?usage: bench/train_peer.sh ACTIONS.csv PEER.py [SECONDS]}
peer=${2:?usage: bench/train_peer.sh ACTIONS.csv PEER.py [SECONDS]}
seconds=${3:-30}
parsrec=${PARSREC:-build/release/src/parsrec}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$parsrec" import -o "$work/data.st" "$actions" >/dev/null

ours() { "$parsrec" bench train "$work/data.st" --threads "$1" --seconds "$seconds" --json 2>/dev/null; }
field() { sed "s/.*\"$1\": \([0-9.]*\).*/\1/"; }
theirs() { /usr/bin/python3 "$peer" "$actions" --seconds "$seconds" --threads "$1" | awk '{print $2}'; }
more() { awk -v a="$1" -v b="$2" 'BEGIN {print (a + 0 > b + 0 ? a : b)}'; }

ours1=$(ours 1) ours2=$(ours 2)
core=$(echo "$ours1" | sed 's/.*"kernels": "\([^"]*\)".*/\1/')
peer1=$(OPENBLAS_CORETYPE=$core theirs 1) peer2=$(OPENBLAS_CORETYPE=$core theirs 2)
plain1=$(theirs 1) plain2=$(theirs 2)
again1=$(ours 1) again2=$(ours 2)
rate1=$(more "$(echo "$ours1" | field items_per_s)" "$(echo "$again1" | field items_per_s)")
rate2=$(more "$(echo "$ours2" | field items_per_s)" "$(echo "$again2" | field items_per_s)")
best1=$(more "$peer1" "$plain1")
best=$(more "$best1" "$(more "$peer2" "$plain2")")
gemm1=$(echo "$again1" | field sgemm_gflops) gemm2=$(echo "$again2" | field sgemm_gflops)
echo "kernels $core"
echo "ours 1 thread   $rate1 items/s, share $(echo "$ours1" | field share), $(echo "$again1" | field share)"
echo "ours 2 threads  $rate2 items/s, share $(echo "$ours2" | field share), $(echo "$again2" | field share)"
echo "peer 1 thread   $peer1 items/s ($plain1 with OpenBLAS' own choice)"
echo "peer 2 threads  $peer2 items/s ($plain2 with OpenBLAS' own choice)"
awk -v a="$rate1" -v b="$best1" -v c="$rate2" -v d="$best" -v g="$gemm1" -v h="$gemm2" 'BEGIN {
    printf "1 thread: %.2f times the peer\n2 threads: %.2f times the best of the peer\n", a / b, c / d
    printf "scaling from 1 to 2 threads: %.2f of sgemm'"'"'s own (%.2f)\n", (c / a) / (h / g), h / g }'
