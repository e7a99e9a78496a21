#!/bin/sh
# SASRec and BERT4Rec on MovieLens-1M against their published figures, in stages: stop it whenever you
# like, a second call continues where the first one stopped. Training takes hours on two cores.
#   bench/ml1m.sh ACTIONS.csv.gz DIR [MODEL...]        models: sasrec-bce sasrec-ce bert4rec
# The protocols: leave one out, all users; against 100 items drawn uniformly, or all items; in both the
# items that the user had before are left out.
set -eu
usage='usage: bench/ml1m.sh ACTIONS.csv.gz DIR [MODEL...]'
actions=${1:?$usage}
dir=${2:?$usage}
shift 2
[ $# -gt 0 ] || set -- sasrec-bce sasrec-ce bert4rec
parsrec=${PARSREC:-build/release/src/parsrec}
mkdir -p "$dir"
data=$dir/ml1m.st
[ -e "$data" ] || "$parsrec" import -o "$data" "$actions" >/dev/null

# name -> how it is trained; published NDCG@10 against 100 items, among all items
published_way="--set windows=last --set length=200 --set separator=off --set rate.warmup=0 --set rate.final=1"
settings() {
    case $1 in
    sasrec-bce) echo "--model sasrec $published_way --set loss=bce --set dim.item=64 --set heads=1 --set batch=64 --epochs 91" ;;
    sasrec-ce) echo "--model sasrec $published_way --set batch=128 --epochs 94" ;;
    bert4rec) echo "--model bert4rec $published_way --set batch=64 --epochs 125" ;;
    *) echo "there is no $1 here; there is: sasrec-bce, sasrec-ce, bert4rec" >&2; exit 2 ;;
    esac
}
published() {
    case $1 in
    sasrec-bce) echo ".590 .126" ;;
    sasrec-ce) echo ".590 .178" ;;
    bert4rec) echo ".600 .152" ;;
    esac
}

train() {
    model=$dir/$1.st
    how=$(settings "$1")
    if [ -e "$model" ]; then
        :
    elif [ -e "$model.ckpt" ]; then
        "$parsrec" train -o "$model" "$data" --resume "$model.ckpt" >/dev/null
    else
        # shellcheck disable=SC2086  # the settings are words
        "$parsrec" train -o "$model" "$data" $how --seed 1 >/dev/null
    fi
}

measure() { # NAME OPTION... -> HR@10 NDCG@10
    name=$1
    shift
    "$parsrec" eval "$dir/$name.st" "$data" --protocol next --exclude-seen "$@" --k 10 --json |
        awk -F'[:,]' '/"HR@10"/ && !h {h = $2} /"NDCG@10"/ && !n {n = $2} END {printf "%.4f %.4f\n", h, n}'
}

for name in "$@"; do
    train "$name"
    echo "$name $(measure "$name" --negatives 100) $(measure "$name" --full) $(published "$name")"
done | tee "$dir/ml1m.txt" | awk '
    BEGIN {printf "%-12s %10s %10s %10s %10s %10s %10s\n", "", "HR@10/100", "NDCG/100", "published", "HR@10/all", "NDCG/all", "published"}
    {printf "%-12s %10s %10s %10s %10s %10s %10s  %+.1f %% and %+.1f %%\n", $1, $2, $3, $6, $4, $5, $7, 100 * ($3 / $6 - 1), 100 * ($5 / $7 - 1)}'
