#!/bin/sh
# How long a server takes to start on a store of some million events, with and without `parsrec fold-events`.
#   bench/fold_events.sh [EVENTS [sqlite|postgres]]     2,000,000 in a file of SQLite unless given
# The events are sent to a server, 1,000 a request, of 200,000 users with two items each.
# Needs the release build (./check --build-only); for postgres an installed PostgreSQL.
set -u
PARSREC_SOURCE=$(cd "$(dirname "$0")/.." && pwd)
events=${1:-2000000} kind=${2:-sqlite}
parsrec=${PARSREC:-$PARSREC_SOURCE/build/release/src/parsrec}
work=$(mktemp -d)
cd "$work" || exit 1
server_pid=
stop_postgres() { :; }
finish_up() {
    [ -z "$server_pid" ] || kill -9 "$server_pid" 2>/dev/null
    stop_postgres
    cd / && rm -rf -- "$work"
}
trap finish_up EXIT
trap 'exit 1' INT TERM
store=sqlite:shop.model.events
if [ "$kind" = postgres ]; then
    fail() { echo "$*"; exit 1; }
    postgres_fsync=on
    . "$PARSREC_SOURCE/tests/cli/postgres.sh"
    store=$url
fi
example=$PARSREC_SOURCE/examples
"$parsrec" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv" >/dev/null || exit 1
"$parsrec" train -o shop.model shop.st --epochs 1 >/dev/null 2>&1 || exit 1

# start WHAT: prints how long it takes until the server is ready.
start() {
    : >url
    began=$(date +%s%N)
    "$parsrec" serve shop.model --store "$store" --no-quality --listen 127.0.0.1:0 >url 2>log &
    server_pid=$!
    while ! [ -s url ] && kill -0 $server_pid 2>/dev/null; do sleep 0.01; done
    took=$((($(date +%s%N) - began) / 1000000))
    [ -s url ] || { cat log; exit 1; }
    echo "$1: ready after $took ms"
}
stop() {
    kill -TERM $server_pid
    wait $server_pid
    server_pid=
}

start "empty store"
python3 - "$(cat url)" "$events" <<'P' || exit 1
import http.client, json, random, sys, threading, time
address, events = sys.argv[1].split("//")[1], int(sys.argv[2])
items = [str(1000 + 7 * i) for i in range(40)]
def send(part):
    rng, c = random.Random(part), http.client.HTTPConnection(address, timeout=600)
    for _ in range(part, events // 1000, 4):
        body = {"events": [{"user": f"u{rng.randrange(200000)}", "items": rng.sample(items, 2)} for _ in range(1000)]}
        c.request("POST", "/v1/events", json.dumps(body))
        answer = c.getresponse()
        if answer.status != 200:
            sys.exit(f"{answer.status} {answer.read()}")
        answer.read()
began = time.time()
threads = [threading.Thread(target=send, args=(i,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(f"{events} events stored in {time.time() - began:.0f} s")
P
stop
start "replay of all"
without=$took
stop
began=$(date +%s%N)
"$parsrec" fold-events shop.model --store "$store" 2>/dev/null || exit 1
echo "folded in $((($(date +%s%N) - began) / 1000000)) ms, $(wc -c <shop.model.histories) bytes"
start "with the file"
grep 'entries of the store' log
with=$took
curl -s -d '{"events":[{"user":"u1","items":["1000"]}]}' "$(cat url)/v1/events" >/dev/null
stop
start "with the file and one event more"
stop
began=$(date +%s%N)
"$parsrec" fold-events shop.model --store "$store" 2>/dev/null || exit 1
echo "folded again in $((($(date +%s%N) - began) / 1000000)) ms"
echo "with the file: $((100 * with / without)) % of the time without"
