#!/bin/sh
# What long work costs those who ask for recommendations: the 99th percentile of POST /v1/recommend with wrk while two
# jobs run all the time, as a multiple of that without any. In each round the same server is measured alone, beside
# what-if and relations for everybody, and alone again; the middle of the rounds counts. wrk pauses between
# requests, as customers do: where requests alone fill the machine, the percentile is that of a queue.
#   bench/serve_beside.sh [SECONDS [ROUNDS]]     of each measurement; 5 and 5 unless given
# MODEL serves another model, whose items and users need not be those of the requests. Fails when the ratio is above 3.
# Needs the release build (./check --build-only), wrk and Python.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-5} rounds=${2:-5}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d)
server= jobs=
trap 'for p in $jobs $server; do kill $p 2>/dev/null || true; done; wait; rm -rf -- "$work"' EXIT

if [ -z "${MODEL:-}" ]; then
    "$parsrec" synth -o "$work/data.st" --users 512 --sessions 20 --categories 20 --products 100 >/dev/null
    "$parsrec" train -o "$work/model.st" "$work/data.st" --preset "${PRESET:-paper}" --epochs 1 >/dev/null 2>&1
    MODEL=$work/model.st
fi
"$parsrec" serve "$MODEL" --listen 127.0.0.1:0 --store none --no-quality >"$work/url" 2>"$work/log" &
server=$!
while ! [ -s "$work/url" ]; do sleep 0.1; done
url=$(cat "$work/url")

# measure NAME: requests a second, 50th and 99th percentile in milliseconds, into a line of NAME.
measure() {
    wrk -t1 -c4 -d"${seconds}s" --latency -s "$here/serve.lua" "$url/v1/recommend" 0 "" paced >"$work/wrk"
    if grep -q 'Non-2xx\|Socket errors' "$work/wrk"; then
        cat "$work/wrk" >&2
        exit 1
    fi
    awk 'function ms(t) { return t ~ /us$/ ? t / 1000 : t ~ /ms$/ ? t + 0 : t * 1000 }
        $1 == "50%" {p50 = ms($2)} $1 == "99%" {p99 = ms($2)} $1 == "Requests/sec:" {print $2, p50, p99}' \
        "$work/wrk" >>"$work/$1"
}
for round in $(seq "$rounds"); do
    measure before
    python3 "$here/serve_jobs.py" "$url" "$round" >>"$work/jobs" &
    jobs=$!
    while ! [ -e "$work/jobs" ] || ! [ "$(grep -c running "$work/jobs")" -ge "$round" ]; do sleep 0.1; done
    measure beside
    kill $jobs
    wait $jobs 2>/dev/null || true
    jobs=
    measure after
done

paste -d ' ' "$work/before" "$work/beside" "$work/after" | awk '
    {print $6 / (($3 + $9) / 2), $3, $6, $9, $1, $4}' | sort -n >"$work/ratios"
printf '%8s %14s %14s %14s %12s %12s\n' ratio 'p99 alone ms' 'p99 beside ms' 'p99 after ms' 'alone /s' 'beside /s'
awk '{printf "%8.2f %14.2f %14.2f %14.2f %12.0f %12.0f\n", $1, $2, $3, $4, $5, $6}' "$work/ratios"
awk '{all[NR] = $1} END {m = all[int((NR + 1) / 2)]; printf "middle ratio %.2f, at most 3\n", m; exit m > 3}' "$work/ratios"
