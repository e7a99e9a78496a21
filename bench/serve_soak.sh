#!/bin/sh
# A server under load for some minutes: recommendations all the time, a new model every 2 seconds, events coming in;
# then kill -9 in the middle of them, and a restart. No request may fail, memory stays flat, and every event that
# was acknowledged is there afterwards.
#   bench/serve_soak.sh [SECONDS [sqlite|postgres]]     600 and both unless given
# A request fails that has no answer after PATIENCE seconds, 10 unless set.
# TRAIN sets options of the two models that take turns, USERS and SESSIONS the size of their data.
# Needs the release build (./check --build-only), wrk, and for postgres an installed PostgreSQL.
set -u
PARSREC_SOURCE=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-600} stores=${2:-sqlite postgres}
parsrec=${PARSREC:-$PARSREC_SOURCE/build/release/src/parsrec}
work=$(mktemp -d)
cd "$work" || exit 1
server_pid= load_pid= wrk_pid= bad=0
stop_postgres() { :; }
finish_up() {
    for p in $server_pid $load_pid $wrk_pid; do kill -9 "$p" 2>/dev/null; done
    stop_postgres
    cd / && rm -rf -- "$work"
}
trap finish_up EXIT
trap 'exit 1' INT TERM

"$parsrec" synth -o data.st --users "${USERS:-256}" --sessions "${SESSIONS:-20}" >/dev/null || exit 1
for seed in 1 2; do
    # shellcheck disable=SC2086 # words
    "$parsrec" train -o model-$seed.st data.st ${TRAIN:---preset paper} --epochs 1 --seed $seed >train.log 2>&1 ||
        { cat train.log; exit 1; }
done
echo 0123456789abcdef0123456789abcdef >token
chmod 600 token

start() { # STORE
    : >url
    "$parsrec" serve served.st --store "$1" --token-file token --listen 127.0.0.1:0 >url 2>>log &
    server_pid=$!
    began=$(date +%s%N)
    while ! [ -s url ] && kill -0 $server_pid 2>/dev/null; do sleep 0.02; done
    echo "started in $((($(date +%s%N) - began) / 1000000)) ms"
}

soak() { # STORE
    cp model-1.st served.st
    rm -f told.begun told.over
    start "$1"
    wrk -t1 -c16 -d"${seconds}s" --timeout "${PATIENCE:-10}s" --latency -s "$PARSREC_SOURCE/bench/serve.lua" "$(cat url)/v1/recommend" 0 "$(cat token)" >wrk.out &
    wrk_pid=$!
    python3 "$PARSREC_SOURCE/bench/serve_soak.py" load "$(cat url)" $server_pid "$(cat token)" served.st model-2.st told \
        >load.out 2>&1 &
    load_pid=$!
    wait $wrk_pid
    wrk_pid=
    while ! [ -e told.begun ] && kill -0 $load_pid 2>/dev/null; do sleep 0.1; done
    : >told.over
    kill -9 $server_pid
    wait $server_pid 2>/dev/null
    wait $load_pid || bad=1
    load_pid=
    cat load.out
    grep -E 'requests in|Requests/sec|Non-2xx|Socket errors|99%' wrk.out
    if grep -q 'Non-2xx\|Socket errors' wrk.out; then bad=1; fi
    start "$1"
    python3 "$PARSREC_SOURCE/bench/serve_soak.py" verify "$(cat url)" "$(cat token)" told || bad=1
    kill -TERM $server_pid
    wait $server_pid || bad=1
    server_pid=
    if grep -q -i 'sanitizer\|warning' log; then cat log; bad=1; fi
}

for kind in $stores; do
    echo "== $kind, $seconds seconds"
    if [ "$kind" = postgres ]; then
        fail() { echo "$*"; exit 1; }
        missing() { fail "$@"; }
        . "$PARSREC_SOURCE/tests/cli/postgres.sh"
        soak "$url"
    else
        soak sqlite:events.db
    fi
done
if [ $bad -eq 0 ]; then echo "passed"; else echo "FAILED"; fi
exit $bad
