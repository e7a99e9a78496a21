#!/bin/sh
# How fast training is with the memory of what a user bought, and with all parts of the default settings, as a share of
# the plain network of the same width: items per second, each divided by the sgemm rate of its own run. The rows take turns;
# the middle of the rounds counts.
#   bench/parts_speed.sh [SECONDS [ROUNDS]]     of each measurement; 3 and 5 unless given
# Needs the release build (./check --build-only).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-3} rounds=${2:-5}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

memory='bias=on unique=on recall=on'
neighbours="$memory neighbours=10"
all="$neighbours pull=on past=on kin=on"

# measure FILE SETTING...: a line with the speed.
measure() {
    file=$1
    shift
    for set in "$@"; do
        shift
        set -- "$@" --set "$set"
    done
    "$parsrec" bench train --seconds "$seconds" --threads 1 "$@" --json 2>/dev/null |
        sed -n 's/.*"items_per_s": *\([0-9.]*\).*"sgemm_gflops": *\([0-9.]*\).*/\1 \2/p' |
        awk 'NF == 2 {print $1 / $2}' >>"$file"
}
for round in $(seq "$rounds"); do
    for width in 128 64; do
        size="dim.user=$width dim.item=$width"
        # shellcheck disable=SC2086 # settings are words
        {
            measure "$work/$width.plain" $size
            measure "$work/$width.memory" $size $memory
            measure "$work/$width.neighbours" $size $neighbours
            measure "$work/$width.all" $size $all
        }
    done
done

middle() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }
printf '%-34s %8s %8s\n' 'share of the plain network' 'd = 128' 'd = 64'
for row in 'memory:memory' 'neighbours:memory, neighbours' 'all:all parts of the defaults'; do
    printf '%-34s' "${row#*:}"
    for width in 128 64; do
        awk -v own="$(middle "$work/$width.${row%%:*}")" -v plain="$(middle "$work/$width.plain")" \
            'BEGIN {printf " %8.2f", own / plain}'
    done
    echo
done
