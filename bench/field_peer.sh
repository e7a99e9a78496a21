#!/bin/sh
# Training speed of gru4rec and bpr beside the same models in PyTorch, on the same data, in turn, in one run.
#   bench/field_peer.sh ACTIONS.csv[.gz] [SECONDS [MODEL...]]        models: gru4rec gru4rec:sampled gru4rec:bpr-max bpr
# gru4rec: cross entropy over the catalogue, or a loss against 2,048 drawn items.
# One thread each. PyTorch gets the BLAS kernels that parsrec picks, then OpenBLAS' own choice; gru4rec batches of
# like length and of mixed lengths, and with drawn items pieces of 512 positions that share them (ours are 256); bpr
# dense and sparse gradients. Its best counts, and so does the better of our two turns. gru4rec is also shown beside the
# program as one writes it in PyTorch without looking for speed (--plain). Seconds are of processor time,
# so that other work on the machine is not counted: PyTorch's by its own clock, ours by the share of the processor that
# the whole run had. PYTHON names the interpreter. Needs Debian's python3-torch and time.
set -eu
usage="usage: bench/field_peer.sh ACTIONS.csv [SECONDS [MODEL...]]"
actions=${1:?$usage}
seconds=${2:-15}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- gru4rec gru4rec:sampled gru4rec:bpr-max bpr
parsrec=${PARSREC:-build/release/src/parsrec}
python=${PYTHON:-/usr/bin/python3}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$parsrec" import -o "$work/data.st" "$actions" >/dev/null 2>&1

ours() { # MODEL
    settings=
    [ "$1" = bpr ] || settings="--set windows=last --set length=200 --set separator=off --set batch=128 --set loss=$loss"
    # shellcheck disable=SC2086  # the settings are words
    env time -q -f '%e %U %S' -o "$work/time" "$parsrec" bench train "$work/data.st" --model "${1%:*}" $settings --threads 1 \
        --seconds "$seconds" --json 2>/dev/null
}
# rate JSON: items per second of processor time.
rate() { awk -v r="$(echo "$1" | field items_per_s)" '{print r * $1 / ($2 + $3)}' "$work/time"; }
field() { sed "s/.*\"$1\": \"*\([0-9A-Za-z.]*\).*/\1/"; }
theirs() { # MODEL OPTION...
    kind=${1%:*}
    shift
    "$python" "$here/field_peer.py" "$kind" "$actions" --loss "$loss" "$@" --seconds "$seconds" --threads 1 --processor \
        >"$work/peer" || return 1 # an interpreter without PyTorch: no figure at all
    awk '{print $2}' "$work/peer"
}
more() { awk 'BEGIN {best = 0; for (i = 1; i < ARGC; i++) if (ARGV[i] + 0 > best) best = ARGV[i] + 0; print best}' "$@"; }

for model in "$@"; do
    loss=ce other=--mixed
    case $model in
    *:*) loss=${model#*:} ;;
    bpr) other=--sparse ;;
    esac
    first=$(ours "$model")
    one=$(rate "$first")
    core=$(echo "$first" | field kernels)
    plain=$(OPENBLAS_CORETYPE=$core theirs "$model")
    varied=$(OPENBLAS_CORETYPE=$core theirs "$model" $other)
    own=$(theirs "$model")
    long=0
    [ "$loss" = ce ] || long=$(OPENBLAS_CORETYPE=$core theirs "$model" --piece 512)
    second=$(ours "$model")
    best_ours=$(more "$one" "$(rate "$second")")
    best=$(more "$plain" "$varied" "$own" "$long")
    echo "$model: ours $best_ours items/s, share of sgemm $(echo "$first" | field share) and $(echo "$second" | field share); PyTorch $plain ($varied with $other, $own with OpenBLAS' own kernels, $long in pieces of 512)"
    awk -v m="$model" -v a="$best_ours" -v b="$best" 'BEGIN {printf "%s, 1 thread: %.2f times the peer (goal 1.5)\n", m, a / b}'
    [ "$model" != bpr ] || continue
    simple=$(OPENBLAS_CORETYPE=$core theirs "$model" --plain)
    padded=$(OPENBLAS_CORETYPE=$core theirs "$model" --plain --mixed)
    simple=$(more "$simple" "$padded")
    awk -v m="$model" -v a="$best_ours" -v b="$simple" \
        'BEGIN {printf "%s, 1 thread: %.2f times PyTorch without tuning, %s items/s\n", m, a / b, b}'
done
