#!/bin/sh
# One training epoch, with its validation, and one evaluation over the whole catalogue in one run: time and
# peak memory of each, and which share of the epoch the evaluation takes.
#   bench/full_ranking.sh DATA...        PARSREC, PRESET (paper) and THREADS (all cores) if set
# Needs GNU time.
set -eu
[ $# -gt 0 ] || { echo "usage: bench/full_ranking.sh DATA..." >&2; exit 2; }
parsrec=${PARSREC:-build/release/src/parsrec}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measured NAME COMMAND...: seconds and peak memory in MB, as $seconds and $memory; its output in $work/NAME.
measured() {
    name=$1
    shift
    env time -q -f '%e %M' -o "$work/time" "$@" >"$work/$name" 2>"$work/err" ||
        { cat "$work/err" >&2; exit 1; }
    read -r seconds memory <"$work/time"
    memory=$((memory / 1024))
}

printf '%-24s %22s %22s %9s  %s\n' "" "training epoch" "full ranking" "share" "ranked"
for data in "$@"; do
    measured train "$parsrec" train -o "$work/model.st" "$data" --preset "${PRESET:-paper}" --epochs 1 \
        --threads "${THREADS:-0}"
    epoch=$seconds epoch_memory=$memory
    measured eval "$parsrec" eval "$work/model.st" "$data" --full --threads "${THREADS:-0}" --json
    ranked=$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["baskets"], "baskets,", r["steps"], "steps")' \
        "$work/eval")
    share=$(awk -v a="$seconds" -v b="$epoch" 'BEGIN {printf "%.2f", a / b}')
    printf '%-24s %9.1f s %7d MB %9.1f s %7d MB %9s  %s\n' "$(basename "$data")" \
        "$epoch" "$epoch_memory" "$seconds" "$memory" "$share" "$ranked"
    rm -f "$work"/model.st*
done
