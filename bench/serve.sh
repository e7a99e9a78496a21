#!/bin/sh
# How fast POST /v1/recommend answers over HTTP: requests a second as a share of what libmicrohttpd answers for
# a constant body in the same round, with wrk on the same machine. 2,000 items, d = 128, baskets of three, k = 10,
# 32 connections that stay open. Every round starts both servers anew, since which threads come to share a core
# decides much of what the constant one does; the middle of the rounds counts, and their range is printed.
#   bench/serve.sh [SECONDS [ROUNDS]]     of each measurement; 2 and 7 unless given
# Needs the release build (./check --build-only) and wrk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-2} rounds=${2:-7}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d)
pids=
trap 'for p in $pids; do kill $p 2>/dev/null; done; wait; rm -rf -- "$work"' EXIT
threads=$(nproc)

"$parsrec" synth -o "$work/data.st" --users 256 --sessions 20 --categories 20 --products 100 >/dev/null
"$parsrec" train -o "$work/model.st" "$work/data.st" --preset "${PRESET:-paper}" --epochs 1 >/dev/null 2>&1
cc -std=c11 -O2 -D_GNU_SOURCE "$here/constant_http.c" $(pkg-config --cflags --libs libmicrohttpd) \
    -o "$work/constant_http"

# start FILE COMMAND...: a server in the background, which tells where it listens in FILE.
start() {
    told=$1
    shift
    rm -f -- "$told"
    "$@" >"$told" 2>"$work/log" &
    pids="$pids $!"
    while ! [ -s "$told" ]; do sleep 0.1; done
}
# measure NAME URL EXPLAIN: requests a second and the 50th, 99th percentile into a line of NAME.
measure() {
    wrk -t2 -c32 -d"${seconds}s" --latency -s "$here/serve.lua" "$2/v1/recommend" "$3" >"$work/wrk"
    if grep -q 'Non-2xx\|Socket errors' "$work/wrk"; then
        cat "$work/wrk" >&2
        exit 1
    fi
    awk '$1 == "50%" {p50 = $2} $1 == "99%" {p99 = $2} $1 == "Requests/sec:" {print $2, p50, p99}' \
        "$work/wrk" >>"$work/$1"
}
bytes=0
for round in $(seq "$rounds"); do
    start "$work/url" "$parsrec" serve "$work/model.st" --listen 127.0.0.1:0 --store none --no-quality
    ours=$(cat "$work/url")
    [ "$bytes" -gt 0 ] || {
        curl -sf -o "$work/answer" -d '{"user":"7","basket":["7","131","1013"],"k":10}' "$ours/v1/recommend"
        bytes=$(wc -c <"$work/answer")
    }
    start "$work/port" "$work/constant_http" "$threads" "$bytes"
    measure constant "http://127.0.0.1:$(cat "$work/port")" 0
    measure plain "$ours" 0
    measure explained "$ours" 1
    kill $pids
    wait
    pids=
done

# middle NAME: of its rounds, by requests a second.
middle() { sort -n "$work/$1" | sed -n "$(((rounds + 1) / 2))p"; }
# shares NAME: the middle, the least and the most of what each round had.
shares() {
    paste -d ' ' "$work/$1" "$work/constant" | awk '{printf "%.3f\n", $1 / $4}' | sort -n |
        awk '{all[NR] = $1} END {print all[int((NR + 1) / 2)], all[1] "-" all[NR]}'
}
printf '%-28s %12s %8s %13s %10s %10s\n' "answers of $bytes bytes" requests/s share rounds p50 p99
set -- $(middle constant)
printf '%-28s %12.0f %8s %13s %10s %10s\n' "constant, libmicrohttpd" "$1" 1 '' "$2" "$3"
for kind in plain explained; do
    set -- $(middle $kind) $(shares $kind)
    printf '%-28s %12.0f %8s %13s %10s %10s\n' "recommend, $kind" "$1" "$4" "$5" "$2" "$3"
done
