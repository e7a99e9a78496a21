#!/bin/sh
# Two servers, HAProxy (contrib/haproxy/parsrec.cfg) and one PostgreSQL under load, on the loopback address: one server is
# killed with kill -9 and started again, the other restarted with SIGTERM, the database restarted at once and then taken
# away for a minute. Counts failed answers (0 but those that were cut in flight), acknowledged events that are lost (0), and
# how long it takes until a purchase acknowledged by one server is known by the other (p99 at most 50 ms).
#   bench/serve_cluster.sh [SECONDS [AWAY]]     of quiet load before and after the trouble, 30 unless given; seconds without
#                                               the database, 60 unless given
# wrk asks for recommendations, with pauses (bench/serve_cluster.lua); bench/serve_cluster.py sends events and checks them.
# The share of the processors that stays idle is printed: where none does, the times are those of a queue.
# Needs the release build (./check --build-only), PostgreSQL, HAProxy, wrk and Python.
set -u
PARSREC_SOURCE=$(cd "$(dirname "$0")/.." && pwd)
quiet=${1:-30} away=${2:-60}
parsrec=${PARSREC:-$PARSREC_SOURCE/build/release/src/parsrec}
PATH=$PATH:/usr/sbin
for tool in haproxy wrk; do command -v $tool >/dev/null || { echo "$tool is not installed"; exit 1; }; done
work=$(mktemp -d)
cd "$work" || exit 1
pid_1= pid_2= proxy_pid= load_pid= wrk_pid= bad=0
stop_postgres() { :; }
finish_up() {
    for p in $load_pid $wrk_pid $pid_1 $pid_2 $proxy_pid; do kill -9 "$p" 2>/dev/null; done
    stop_postgres
    cd / && rm -rf -- "$work"
}
trap finish_up EXIT
trap 'exit 1' INT TERM
fail() { echo "$*"; exit 1; }
postgres_fsync=on
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
clean_up() { finish_up; }
example=$PARSREC_SOURCE/examples
"$parsrec" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv" >/dev/null || exit 1
"$parsrec" train -o shop.model shop.st --epochs 1 >/dev/null 2>&1 || exit 1
echo 0123456789abcdef0123456789abcdef >token
chmod 600 token
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
at_1=127.0.0.1:$(free_port) at_2=127.0.0.1:$(free_port) front=127.0.0.1:$(free_port)

# run AT LOG: a server; $! is its process.
run() { "$parsrec" serve shop.model --store "$url" --token-file token --no-quality --listen "$1" >>"$2.out" 2>>"$2" & }
ready() { # AT
    tries=0
    until curl -sf "http://$1/readyz" >/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || fail "$1 is not ready"
        sleep 0.05
    done
}
# used NUMBER: until the server is ready and HAProxy knows; its last word on the server is in its log.
used() {
    eval "ready \"\$at_$1\""
    until grep "/parsrec$1 is" haproxy.log | tail -1 | grep -q 'is UP\|^$'; do
        grep -q "/parsrec$1 is" haproxy.log || return # it was never down
        sleep 0.05
    done
}
run "$at_1" log_1
pid_1=$!
run "$at_2" log_2
pid_2=$!
ready "$at_1"
ready "$at_2"
PARSREC_BIND=$front PARSREC_1=$at_1 PARSREC_2=$at_2 haproxy -db -f "$PARSREC_SOURCE/contrib/haproxy/parsrec.cfg" >haproxy.log 2>&1 &
proxy_pid=$!
ready "$front"
python3 "$PARSREC_SOURCE/bench/serve_cluster.py" "http://$front" "http://$at_1" "http://$at_2" "$(cat token)" "$work" >load.out 2>&1 &
load_pid=$!
wrk -t1 -c"${CONNECTIONS:-16}" -d3600s --timeout 30s --latency -s "$PARSREC_SOURCE/bench/serve_cluster.lua" "http://$front" "$(cat token)" "$work" \
    >wrk.out 2>&1 &
wrk_pid=$!
# idle SECONDS: how much of the processors nobody uses meanwhile, with everything under load and nothing in trouble.
idle() {
    set -- "$1" $(sed -n 's/^cpu  *//p' /proc/stat)
    sleep "$1"
    shift
    python3 -c 'import sys
a, b = [[int(x) for x in t.split()[:8]] for t in sys.argv[1:]]
d = [y - x for x, y in zip(a, b)]
print("%.0f %% of the processors idle" % (100 * (d[3] + d[4]) / sum(d)))' "$*" "$(sed -n 's/^cpu  *//p' /proc/stat)"
}
# back: until both servers have their store again.
back() {
    start_postgres
    for at in $at_1 $at_2; do
        until curl -s "http://$at/readyz" | grep -q '"store":"up"'; do sleep 0.1; done
    done
    sleep 1
    rm away
    sleep 1
}
idle "$quiet"

: >trouble
sleep 1
echo "kill -9 of server 1"
: >killed
kill -9 $pid_1
wait $pid_1 2>/dev/null
sleep 2
rm killed
run "$at_1" log_1
pid_1=$!
used 1
echo "SIGTERM to server 2, and a start"
kill -TERM $pid_2
wait $pid_2 || { echo "server 2 did not end well"; bad=1; }
run "$at_2" log_2
pid_2=$!
used 2
sleep 1
for seconds in 0 "$away"; do
    echo "the database is stopped, for $seconds s"
    : >away
    as_server "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
    sleep "$seconds"
    back
done
rm trouble
idle "$quiet"
: >over
wait $load_pid || bad=1
load_pid=
kill -INT $wrk_pid
wait $wrk_pid
wrk_pid=
sed -n '/answers to wrk\|failed:/p' wrk.out
grep -q ' 0 answers to wrk failed' wrk.out || { cat wrk.out; bad=1; }
cat load.out
grep -h 'store' log_1 log_2 | sort | uniq -c
if [ $bad -eq 0 ]; then echo "passed"; else echo "FAILED"; fi
exit $bad
