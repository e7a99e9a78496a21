#!/bin/sh
# Kills a random rank at a random time, resumes on another number of ranks, and compares with a run that
# nobody disturbed: model and last checkpoint, byte for byte.
#   bench/ranks_kill.sh PARSREC [ROUNDS]         20 rounds by default; needs Open MPI and pgrep
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rounds=${2:-20}
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PARSREC_PROGRESS=off PARSREC_DIVIDE=always
sum() { cat "$1.model" "$1.model.ckpt" | sha256sum | cut -c1-16; }
# number N: a random whole number below N.
number() { echo $(($(od -An -N4 -tu4 /dev/urandom) % $1)); }

"$program" synth -o shop.data --users 200 --sessions 8 --seed 5 >log 2>&1
settings='--set dim.user=8 --set dim.item=8 --epochs 12 --threads 1'
# shellcheck disable=SC2086 # words
"$program" train -o whole.model shop.data $settings --keep-checkpoint >log 2>&1
echo "undisturbed: $(sum whole)"
wrong=0
round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    ranks=$(($(number 4) + 2)) again=$(($(number 4) + 1)) victim=$(number "$ranks")
    rm -f run.model run.model.ckpt
    # shellcheck disable=SC2086
    mpirun -n "$ranks" --quiet "$program" train -o run.model shop.data $settings --peer-time 20 \
        --checkpoint-minutes 0 --keep-checkpoint >log 2>&1 &
    launcher=$!
    while [ ! -e run.model.ckpt ] && kill -0 $launcher 2>/dev/null; do sleep 0.02; done
    sleep "$(number 2).$(number 1000)"
    pid=$(pgrep -P $launcher | sort -n | sed -n "$((victim + 1))p")
    killed=no
    [ -z "$pid" ] || { kill -KILL "$pid" 2>/dev/null && killed=yes; }
    wait $launcher || :
    cp run.model.ckpt left.ckpt
    mpirun -n "$again" --quiet "$program" train -o run.model shop.data --resume left.ckpt --threads 1 \
        --keep-checkpoint >log 2>&1 || { cat log; exit 1; }
    found=$(sum run)
    [ "$found" = "$(sum whole)" ] || wrong=$((wrong + 1))
    echo "round $round: $ranks ranks, rank $victim killed ($killed), resumed on $again: $found"
done
echo "$rounds rounds, $wrong with other bytes"
[ $wrong -eq 0 ]
