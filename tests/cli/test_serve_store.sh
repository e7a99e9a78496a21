# What a SQLite store keeps of events, also after a model was trained on them, and of those who were forgotten; a store of
# the first version; two servers on one file; a store that cannot be written; servers that are killed.
. "$PARSREC_SOURCE/tests/cli/events_lib.sh"
other_pid= holder_pid= senders=
clean_up() {
    for p in $server_pid $other_pid $holder_pid; do kill -9 "$p" 2>/dev/null; done
}
store=sqlite:events.db
walk_through

# ---- nothing of the forgotten is left in the files; the mark is none that a hash may contain ----
begin shop.model
for i in 1 2 3 4 5 6 7 8 9; do
    tell 200 "{\"user\":\"Sheldon-zyxw\",\"session\":\"visit-$i-zyxw\",\"items\":[\"1000\",\"secret-thing-zyxw\"],\"id\":\"receipt-$i-zyxw\"}"
    tell 200 "{\"user\":\"dora\",\"items\":[\"kept-thing\"]}"
done
same "$(($(cat events.db* | grep -ac zyxw) > 0))" 1 "something to forget"
forget Sheldon-zyxw
same "$(cat events.db* | grep -ac zyxw)" 0 "traces of a user while the server runs"
same "$(($(cat events.db* | grep -ac kept-thing) > 0))" 1 "what others bought"
tell 200 '{"user":"Sheldon-zyxw","items":["1000"],"id":"receipt-1-zyxw"}'
tells 'a["duplicates"] == 1'
stop_server
same "$(cat events.db* | grep -ac zyxw)" 0 "traces of a user after the server"
same "$(echo events.db*)" events.db "files of a store at rest"

# ---- a store of the first version, written by the program of then ----
cp "$PARSREC_SOURCE/tests/golden/store_v1.sqlite" old.db
store=sqlite:old.db
same "$(($(grep -ac old-and-gone old.db) > 0))" 1 "the key of a forgotten user in a store of old"
begin shop.model
get 200 /v1/users/old-kept
tells 'a["baskets"] == 2 and sorted(map(sorted, a["recent"])) == [["1000", "1007"], ["1014"]]'
get 404 /v1/users/old-and-gone
get 200 /v1/users/K02
tells 'a["baskets"] == 1 and a["recent"] == [["1007"]]'
tell 200 '{"user":"old-kept","items":["1000"],"id":"x"}'
same "$(cat old.db* | grep -ac 'old-and-gone\|bygone')" 0 "traces in an upgraded store"
stop_server
begin shop.model
get 200 /v1/users/old-kept
tells 'a["baskets"] == 3'
get 404 /v1/users/old-and-gone
stop_server
exported '^old-kept' 4
python3 -c 'import sqlite3; c = sqlite3.connect("old.db"); c.execute("PRAGMA user_version = 3"); c.commit()'
fails 1 "version 3" "$PARSREC" serve shop.model --store "$store" --listen 127.0.0.1:0

# ---- rows that no server wrote: a sentence, and nothing is computed with them ----
# foreign SENTENCE USER TIME ITEMS TYPE: replaying a store with such a row fails with it.
foreign() {
    cp odd.db odder.db
    python3 - "$2" "$3" "$4" "$5" <<'P'
import sqlite3, sys
c = sqlite3.connect("odder.db")
c.execute("INSERT INTO parsrec_events (origin, user_key, session, time, items, user_hash, type)"
          " VALUES (1, ?, 's', CAST(? AS INTEGER), ?, '22222222222222222222222222222222', ?)", sys.argv[1:])
c.commit()
P
    fails 1 "$1" "$PARSREC" fold-events shop.model --store sqlite:odder.db
    rm -f odder.db*
}
store=sqlite:odd.db
begin shop.model
tell 200 '{"user":"K01","items":["1000"]}'
stop_server
foreign "not valid JSON" K01 1 'zzz' buy
foreign "not valid JSON" K01 1 '"1000"' buy
foreign "maximum parsing depth" K01 1 "$(printf '[%.0s' $(seq 3000))" buy
foreign "something other than keys" K01 1 '[[["1000"]]]' buy
foreign "is not valid" K01 1 '["1000"]' sell
foreign "the time -9223372036854775807 is out of range" K01 -9223372036854775807 '["1000"]' buy
foreign "the time 9223372036854775807 is out of range" K01 9223372036854775807 '["1000"]' buy
foreign "no key" '' 1 '["1000"]' buy

# ---- two servers on one file ----
store=sqlite:shared.db
begin shop.model
first_pid=$server_pid first_url=$url
begin shop.model
other_pid=$server_pid
for i in 1 2 3 4 5 6 7 8 9 10; do
    for at in "$first_url" "$url"; do
        curl -s -o answer.$i -H "$auth" -d "{\"user\":\"both\",\"items\":[\"1000\"]}" "$at/v1/events" &
        sender=$!
        senders="$senders $sender"
    done
done
for p in $senders; do wait "$p"; done
# sees URL USER PYTHON: the answer about a user becomes so.
sees() {
    until curl -s -o stdout -H "$auth" "$1/v1/users/$2" && python3 -c 'import json, sys
a = json.load(open("stdout"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$3" 2>/dev/null; do
        sleep 0.05
    done
    pass
}
sees "$first_url" both 'a["baskets"] == 20'
sees "$url" both 'a["baskets"] == 20'
forget both
sees "$first_url" both '"error" in a'
kill -9 $other_pid
wait $other_pid 2>/dev/null
other_pid= server_pid=$first_pid url=$first_url

# ---- locked from outside: events wait or are refused, answers go on, and it ends by itself ----
cat >hold.py <<'P'
import sqlite3, sys
c = sqlite3.connect("shared.db", isolation_level=None)
c.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
c.execute("ROLLBACK")
P
mkfifo release
python3 hold.py <release >held &
holder_pid=$!
exec 9>release
while ! [ -s held ] && kill -0 $holder_pid 2>/dev/null; do sleep 0.05; done
curl -s -o locked.json -D locked.headers -w '%{http_code}' -H "$auth" -d '{"user":"lock","items":["1000"],"id":"l"}' "$url/v1/events" >locked.code &
sender=$!
recommend '{"user":"K01","basket":["1000"],"k":2}'
get 200 /v1/users/K01
wait $sender
same "$(cat locked.code)" 503 "an event while the store is locked"
if grep -qi '^retry-after' locked.headers; then pass; else fail "no Retry-After"; fi
exec 9>&-
wait $holder_pid
holder_pid=
tell 200 '{"user":"lock","items":["1000"],"id":"l"}'
tells 'a["stored"] == 1'
sees "$url" lock 'a["baskets"] == 1'
stop_server

# ---- a full disk: as far as a limit on the size of files can show it ----
store=sqlite:full.db
: >server.out
(
    ulimit -f 200 # blocks of 512 or 1024 bytes
    exec "$PARSREC" serve shop.model --store "$store" --token-file token --no-quality --listen 127.0.0.1:0 >server.out 2>server.err
) &
server_pid=$!
while ! [ -s server.out ] && kill -0 $server_pid 2>/dev/null; do sleep 0.1; done
url=$(head -n 1 server.out)
python3 - "$url" "$(cat token)" <<'P' >full.out 2>&1
import json, sys, urllib.error, urllib.request
url, token = sys.argv[1:]
def ask(path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Authorization": "Bearer " + token})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as e:
        return e.code, json.load(e), e.headers
acknowledged = refused = 0
for i in range(2000):
    status, body, headers = ask("/v1/events", {"user": "big", "items": ["1000"], "session": f"{i}-" + "x" * 200, "id": i})
    if status == 200:
        acknowledged += 1
    else:
        assert status == 503 and len(body["error"]["message"]) > 10 and headers["Retry-After"], (status, body)
        refused += 1
        status, body, _ = ask("/v1/recommend", {"user": "K01", "basket": ["1000"], "k": 2})
        assert status == 200 and len(body["items"]) == 2
    if refused == 3:
        break
assert acknowledged > 0 and refused == 3, (acknowledged, refused)
print(acknowledged)
P
same "$?" 0 "events on a full disk: $(cat full.out)"
kill -9 $server_pid
wait $server_pid 2>/dev/null
begin shop.model # and now there is room
get 200 /v1/users/big
tells "a['baskets'] == $(cat full.out)"
stop_server

# A folder that cannot be written: the server says so and does not start. Root may write everywhere.
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod 555 closed
    fails 1 "cannot" "$PARSREC" serve shop.model --store sqlite:closed/events.db --listen 127.0.0.1:0
    chmod 755 closed
    same "$(ls closed)" "" "a folder that cannot be written"
fi

# ---- killed while it works: few rounds here, many in bench/kill_store.sh ----
PARSREC=$PARSREC sh "$PARSREC_SOURCE/bench/kill_store.sh" 6 events-sqlite forget-sqlite reload-sqlite >kills 2>&1
same "$(tail -1 kills)" passed "kills: $(tail -5 kills)"
