#!/bin/sh
# Hostile clients for a long time: the rounds of tests/cli/hostile_clients.py against one server, with a new model and
# jobs between them. Nothing may be refused that should be answered, the server stays up and ends well, and after the
# first round neither its memory nor its open files grow.
#   bench/serve_hostile.sh [ROUNDS]     20 unless given, each half a minute to a minute
# Needs the release build (./check --build-only), curl and Python.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-20}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
example=$here/../examples
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -9 $server 2>/dev/null || true; rm -rf -- "$work"' EXIT
cd "$work"
"$parsrec" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv" >/dev/null 2>&1
"$parsrec" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 1 >/dev/null 2>&1
"$parsrec" serve shop.model --listen 127.0.0.1:0 --request-time 5s --work-time 20s --connections 5100 --no-quality >url 2>log &
server=$!
while ! [ -s url ]; do sleep 0.1; done
port=$(sed 's/.*://' url)
# size: resident memory in kB and open files.
size() { echo "$(awk '/^VmRSS/ {print $2}' /proc/$server/status) $(ls /proc/$server/fd | wc -l)"; }
bad=0 first=
for round in $(seq "$rounds"); do
    python3 "$here/../tests/cli/hostile_clients.py" requests "$port" || bad=1
    python3 "$here/../tests/cli/hostile_clients.py" slow "$port" 5100 5000 || bad=1
    kill -HUP $server
    sleep 2
    now=$(size)
    echo "round $round: memory in kB and open files $now"
    [ -n "$first" ] || first=$now
done
set -- $first $now
[ $(($3 * 10)) -le $(($1 * 12 + 200000)) ] || { echo "memory grows: $1 to $3 kB"; bad=1; }
[ "$4" -le $(($2 + 8)) ] || { echo "open files grow: $2 to $4"; bad=1; }
kill -TERM $server
wait $server || bad=1
server=
if grep -i 'sanitizer\|runtime error' log; then bad=1; fi
if [ $bad -eq 0 ]; then echo passed; else echo FAILED; fi
exit $bad
