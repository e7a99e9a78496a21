# Hostile clients: each gets the right status or is cut off, and the server stays up, with a clean end.
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 1
# As many descriptors as 5,000 idle connections need, where the machine allows them; fewer under sanitizers.
idle=5000
[ -z "${PARSREC_SANITIZE:-}" ] || idle=500
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 6500 ] || idle=$(($(ulimit -Hn) - 1500))
clients=$PARSREC_SOURCE/tests/cli/hostile_clients.py
# A body cut off in the middle of a piece is waited for until the time of a request is over.
start_server shop.model --request-time 20s --work-time 20s --no-quality
ok python3 "$clients" requests "${url##*:}"
stop_server
same "$(grep -c -i -E 'sanitizer|runtime error' server.err)" 0 "sanitizers"
# Those who take their time are cut off; on a server that gives everybody little of it.
start_server shop.model --request-time 5s --connections $((idle + 100)) --no-quality
ok python3 "$clients" slow "${url##*:}" $((idle + 100)) $idle
stop_server
same "$(grep -c -i -E 'sanitizer|runtime error' server.err)" 0 "sanitizers"

# ---- more connections than are served: some get a 503, others are closed; who was there before is served ----
# A server of its own, where so few are enough that none of them is timed out before the last one comes.
start_server shop.model --connections 20 --request-time 120s --no-quality
python3 - "${url##*:}" >stdout 2>&1 <<'P'
import http.client, socket, sys
connect = lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=900)
early = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=900)
def status():
    early.request("GET", "/healthz")
    answer = early.getresponse()
    answer.read()
    return answer.status
first = status()
crowd = [connect() for _ in range(40)]
answer, late = b"", connect()
try:
    late.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    while piece := late.recv(65536):
        answer += piece
except (ConnectionResetError, BrokenPipeError):
    pass
refused = answer == b"" or answer.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in answer
statuses = (first, status())
sys.exit(0 if refused and statuses == (200, 200) else repr((answer, statuses)))
P
same "$?" 0 "one connection too many: $(cat stdout)"
stop_server

# ---- hardly any descriptors: what does not fit waits or is closed, and the server is there afterwards ----
program=$PARSREC
printf '#!/bin/sh\nulimit -n 64\nexec "%s" "$@"\n' "$program" >limited
chmod +x limited
echo 0123456789abcdef0123456789abcdef >token
chmod 600 token
PARSREC=$PWD/limited
start_server shop.model --token-file token --request-time 120s --no-quality
PARSREC=$program
ok grep -q '^warning: 24 connections at most, because the system allows 64 open files (ulimit -n)$' server.err
# Clients cannot take the descriptors that a new model needs.
python3 - "${url##*:}" "$(cat token)" >stdout 2>&1 <<'P'
import http.client, socket, sys
early = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=900)
def ask(method, path):
    early.request(method, path, headers={"Authorization": "Bearer " + sys.argv[2]})
    answer = early.getresponse()
    return answer.status, answer.read()
first = ask("GET", "/healthz")
crowd = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=900) for _ in range(100)]
reloads = [ask("POST", "/v1/admin/reload") for _ in range(3)]
sys.exit(0 if first[0] == 200 and [r[0] for r in reloads] == [200] * 3 else repr(reloads))
P
same "$?" 0 "a new model beside a hundred idle connections: $(cat stdout)"
stop_server
PARSREC=$PWD/limited
start_server shop.model --request-time 2s --no-quality
PARSREC=$program
python3 - "${url##*:}" >stdout 2>&1 <<'P'
import socket, sys
crowd = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=900) for _ in range(200)]
for s in crowd[::2]:
    s.close()
P
same "$?" 0 "two hundred connections to a server with 64 descriptors"
wait_for answers 200 curl -s -m 60 -o stdout -w '%{http_code}' "$url/healthz"
ask 200 GET /readyz
ask 200 POST /v1/recommend '{"user":"K01","k":1}'
ask 200 POST /v1/events '{"user":"K01","items":["1000"]}'
stop_server
same "$(grep -c -i -E 'sanitizer|runtime error' server.err)" 0 "sanitizers"

# ---- a server that reads with one thread answers others while it works on a batch ----
start_server shop.model --threads 1 --no-quality
python3 - "${url##*:}" "$example/corner_shop_items.csv" >stdout 2>&1 <<'P'
import csv, json, select, socket, sys
connect = lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=900)
items = [row[0] for row in csv.reader(open(sys.argv[2]))][1:41]
body = json.dumps({"requests": [{"user": "K01", "basket": items, "k": 20, "explain": True}] * 1000}).encode()
head = b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)

def answered_meanwhile():
    """Whether somebody else had an answer before the batch had."""
    large, small = connect(), connect()
    large.sendall(head + body)
    for _ in range(20):
        small.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if not small.recv(65536).startswith(b"HTTP/1.1 200 "):
            sys.exit("not healthy")
    first = not select.select([large], [], [], 0)[0]
    answer = b""
    while piece := large.recv(1 << 20):
        answer += piece
    if answer.count(b'"items":') != 1000:
        sys.exit(repr(answer[:300]))
    return first

sys.exit(0 if any(answered_meanwhile() for _ in range(5)) else "everybody waited for the batch")
P
same "$?" 0 "a batch on a server with one thread: $(cat stdout)"
stop_server

# ---- storms of reloads: the same model, a damaged one, one of another shop ----
ok "$PARSREC" synth -o other.st --users 20 --sessions 5 --categories 3 --products 4
ok "$PARSREC" train -o other.model other.st --model pop
head -c 3000 shop.model >damaged.model
echo 0123456789abcdef0123456789abcdef >token
token=$(cat token)
cp shop.model served.model
start_server served.model --token-file token --no-quality
# storm STATUS MODEL: twenty reloads of it at once, beside recommendations that must all be answered.
storm() {
    cp "$2" served.new && mv served.new served.model
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        web -X POST -o /dev/null -w '%{http_code}\n' "$url/v1/admin/reload" >"reload.$n" &
        web -o /dev/null -w '%{http_code}\n' --data-binary '{"user":"K01","basket":["1000"],"k":1}' "$url/v1/recommend" \
            >"answer.$n" &
    done
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        while ! [ -s "reload.$n" ] || ! [ -s "answer.$n" ]; do sleep 0.05; done
    done
    same "$(cat reload.* | sort -u)" "$1" "reloads of $2"
    same "$(cat answer.* | sort -u)" 200 "recommendations beside them"
    rm -f reload.* answer.*
}
ask 200 GET '/v1/relations?map=lift&by=item&top=5'
cp stdout first.json
ask 200 POST /v1/jobs '{"kind":"relations","request":{"map":"lift","by":"item","top":5}}'
tells 'a["status"] == "done" and a["result"] == json.load(open("first.json"))'
storm 200 shop.model
storm 422 damaged.model
ask 200 GET /v1/model
tells 'a["kind"] == "parsrec"'
storm 200 other.model
ask 200 GET /v1/model
tells 'a["kind"] == "pop" and a["items"] == 12'
ask 200 POST /v1/recommend '{"user":"K01","basket":["1000"],"k":2}'
tells 'a["unknown_items"] == ["1000"] and len(a["items"]) == 2'
ask 200 GET '/v1/relations?map=lift&by=item&top=5'
tells 'a["names"] != json.load(open("first.json"))["names"]'
storm 200 shop.model
ask 200 GET '/v1/relations?map=lift&by=item&top=5'
same "$(cat stdout)" "$(cat first.json)" "the first model's map"
stop_server
same "$(grep -c -i -E 'sanitizer|runtime error' server.err)" 0 "sanitizers"
