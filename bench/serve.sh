#!/bin/sh
# How fast POST /v1/recommend answers over HTTP: requests a second as a share of what libmicrohttpd answers for
# a constant body in the same run, with wrk on the same machine. 2,000 items, d = 128, baskets of three, k = 10,
# 32 connections that stay open. The two take turns; the middle of the rounds counts.
#   bench/serve.sh [SECONDS [ROUNDS]]     of each measurement; 5 and 3 unless given
# Needs the release build (./check --build-only) and wrk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-5} rounds=${2:-3}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d)
pids=
trap 'for p in $pids; do kill $p 2>/dev/null; done; wait; rm -rf -- "$work"' EXIT
threads=$(nproc)

"$parsrec" synth -o "$work/data.st" --users 256 --sessions 20 --categories 20 --products 100 >/dev/null
"$parsrec" train -o "$work/model.st" "$work/data.st" --preset "${PRESET:-paper}" --epochs 1 >/dev/null 2>&1
"$parsrec" serve "$work/model.st" --listen 127.0.0.1:0 --store none --no-quality >"$work/url" 2>"$work/log" &
pids="$pids $!"
while ! [ -s "$work/url" ]; do sleep 0.1; done
ours=$(cat "$work/url")
curl -sf -o "$work/answer" -d '{"user":"7","basket":["7","131","1013"],"k":10}' "$ours/v1/recommend"
bytes=$(wc -c <"$work/answer")

cc -std=c11 -O2 -D_GNU_SOURCE "$here/constant_http.c" $(pkg-config --cflags --libs libmicrohttpd) \
    -o "$work/constant_http"
"$work/constant_http" "$threads" "$bytes" >"$work/port" &
pids="$pids $!"
while ! [ -s "$work/port" ]; do sleep 0.1; done
peer=http://127.0.0.1:$(cat "$work/port")

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
for round in $(seq "$rounds"); do
    measure constant "$peer" 0
    measure plain "$ours" 0
    measure explained "$ours" 1
done

middle() { sort -n "$work/$1" | sed -n "$(((rounds + 1) / 2))p"; }
set -- $(middle constant)
constant=$1
printf '%-28s %12s %8s %10s %10s\n' "answers of $bytes bytes" requests/s share p50 p99
printf '%-28s %12.0f %8s %10s %10s\n' "constant, libmicrohttpd" "$1" 1 "$2" "$3"
for kind in plain explained; do
    set -- $(middle $kind)
    share=$(awk "BEGIN {printf \"%.3f\", $1 / $constant}")
    printf '%-28s %12.0f %8s %10s %10s\n' "recommend, $kind" "$1" "$share" "$2" "$3"
done
