# Two servers on one store: `seen`, forgetting, connections that are cut, a database that is away, HAProxy in front. The
# same in PostgreSQL and, where it applies, in one file of SQLite. Nothing is measured: bench/serve_cluster.sh does that.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
database=$url
. "$PARSREC_SOURCE/tests/cli/events_lib.sh"
pids= proxy_pid=
clean_up() {
    for p in $pids $server_pid $proxy_pid; do kill -9 "$p" 2>/dev/null; done
    stop_postgres
}

# pair: two servers on $store, at $a and $b, with the processes $a_pid and $b_pid and the logs a.err and b.err.
pair() {
    begin shop.model
    a=$url a_pid=$server_pid
    mv server.err a.err
    begin shop.model
    b=$url b_pid=$server_pid
    mv server.err b.err
    pids="$a_pid $b_pid"
}
end_pair() {
    for server_pid in $pids; do stop_server; done
    pids=
}
# buys AT USER SESSION ITEM: $seen is the number in the answer.
buys() {
    url=$1
    tell 200 "{\"user\":\"$2\",\"session\":\"$3\",\"items\":[\"$4\"]}"
    seen=$(python3 -c 'import json; print(json.load(open("stdout"))["seen"])')
}
# shows AT USER SESSION ITEMS: the server knows these items of the session, as Python writes them, once it has $seen.
shows() {
    url=$1
    recommend "{\"user\":\"$2\",\"session\":\"$3\",\"k\":1,\"seen\":$seen}"
    tells "a['basket'] == $4"
}
# refuses STATUS TEXT AT BODY: a recommendation that is not given.
refuses() {
    same "$(curl -s -o stdout -D headers -w '%{http_code}' -H "$auth" -d "$4" "$3/v1/recommend")" "$1" "status of $4"
    says "$2"
}
# comes_true COMMAND...: waits until it succeeds.
comes_true() {
    until "$@" >/dev/null 2>&1; do sleep 0.05; done
    pass
}

own_purchases_are_seen() {
    for round in 1 2 3 4 5; do
        buys "$a" ann "first $round" 1000
        shows "$b" ann "first $round" "['1000']"
        buys "$b" ann "second $round" 1007
        shows "$a" ann "second $round" "['1007']"
    done
    # An event that is sent again through another server has a number too.
    url=$a
    tell 200 '{"user":"ann","session":"once","items":["1014"],"id":"receipt"}'
    url=$b
    tell 200 '{"user":"ann","session":"once","items":["1014"],"id":"receipt"}'
    tells 'a["duplicates"] == 1'
    seen=$(python3 -c 'import json; print(json.load(open("stdout"))["seen"])')
    shows "$a" ann once "['1014']"
    # A batch waits once, for the newest.
    buys "$a" ann batch 1000
    url=$b
    recommend "{\"requests\":[{\"user\":\"ann\",\"session\":\"batch\",\"k\":1,\"seen\":1},{\"user\":\"ann\",\"session\":\"batch\",\"k\":1,\"seen\":$seen}]}"
    tells '[x["basket"] for x in a["answers"]] == [["1000"]] * 2'
    # What is not a number of this store.
    refuses 400 "newest event of the store has number" "$b" "{\"user\":\"ann\",\"seen\":$((seen + 1000))}"
    refuses 400 "seen must be a whole number" "$b" '{"user":"ann","seen":"3"}'
    refuses 400 "seen must be a whole number" "$b" '{"user":"ann","seen":-3}'
}

the_forgotten_are_forgotten_by_all() {
    buys "$b" "$1" s 1000
    shows "$a" "$1" s "['1000']"
    url=$a
    forget "$1"
    seen=$(python3 -c 'import json; print(json.load(open("stdout"))["seen"])')
    url=$b
    recommend "{\"user\":\"$1\",\"session\":\"s\",\"k\":1,\"seen\":$seen}"
    tells 'a["basket"] == [] and a["source"] == "popular"'
    get 404 "/v1/users/$1"
}

# ---- two servers on one file ----
store=sqlite:shared.db
pair
own_purchases_are_seen
the_forgotten_are_forgotten_by_all K04
end_pair
store=none
begin shop.model
refuses 422 "keeps no events" "$url" '{"user":"K01","seen":3}'
stop_server
printf '{"user":"K01","seen":3}\n' | "$PARSREC" recommend shop.model - >stdout 2>stderr
says "seen has a meaning only where events are followed"

# ---- two servers on one database ----
store=$database
pair
own_purchases_are_seen
the_forgotten_are_forgotten_by_all K05

# Connections that are cut, all of them, again and again: each server comes back by itself and has missed nothing.
cut_all() {
    psql -Atq "$store" -c "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'parsrec serve'" >cut
}
for round in 1 2 3 4; do
    cut_all
    buys "$a" cut "$round" 1000
    cut_all
    buys "$b" cut "$round" 1007
    shows "$a" cut "$round" "['1000', '1007']"
    shows "$b" cut "$round" "['1000', '1007']"
done
if [ "$(cat cut)" -gt 0 ]; then pass; else fail "no connection was cut"; fi
# A server that was away while a user was forgotten.
buys "$a" K06 s 1000
shows "$b" K06 s "['1000']"
kill -STOP $b_pid
cut_all
url=$a
forget K06
seen=$(python3 -c 'import json; print(json.load(open("stdout"))["seen"])')
kill -CONT $b_pid
url=$b
recommend "{\"user\":\"K06\",\"session\":\"s\",\"k\":1,\"seen\":$seen}"
tells 'a["basket"] == [] and a["source"] == "popular"'

# ---- the database is away: answers go on, events and what cannot be known yet get 503, nothing is lost ----
buys "$a" away s 1000
shows "$b" away s "['1000']"
as_server "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
for at in "$a" "$b"; do
    url=$at
    same "$(curl -s -o stdout -D headers -w '%{http_code}' -H "$auth" -d '{"user":"away","items":["1000"],"id":"x"}' "$url/v1/events")" 503 \
        "an event without a database"
    if grep -qi '^retry-after: [1-9]' headers; then pass; else fail "no Retry-After"; fi
    shows "$at" away s "['1000']"
    refuses 503 "has not heard of event" "$at" "{\"user\":\"away\",\"seen\":$((seen + 1))}"
    if grep -qi '^retry-after: [1-9]' headers; then pass; else fail "no Retry-After"; fi
    get 200 /readyz
    comes_true sh -c "curl -s '$url/readyz' | grep -q '\"store\":\"down\"'"
done
start_postgres
for at in "$a" "$b"; do
    url=$at
    comes_true curl -sf -H "$auth" -d '{"user":"away","session":"later","items":["1007"],"id":"x"}' "$url/v1/events"
    comes_true sh -c "curl -s '$url/readyz' | grep -q '\"store\":\"up\"'"
done
buys "$b" away last 1014
shows "$a" away s "['1000']"
shows "$a" away later "['1007']"
shows "$a" away last "['1014']"
for log in a.err b.err; do
    same "$(grep -c 'warning: the store does not answer' $log | sed 's/[1-9][0-9]*/some/')" some "$log: the loss of the store"
    same "$(grep -c '^the store answers again' $log | sed 's/[1-9][0-9]*/some/')" some "$log: its return"
    same "$(grep -c 'secret\|tester' $log)" 0 "$log: the store's address"
done

# ---- a server is killed while HAProxy stands in front ----
config=$PARSREC_SOURCE/contrib/haproxy/parsrec.cfg
if command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ]; then
    PATH=$PATH:/usr/sbin
    ok haproxy -c -f "$config"
    # It does not say which port it was given, so one is chosen; another, should somebody else take it first.
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        front=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print("127.0.0.1:%d" % s.getsockname()[1])')
        PARSREC_BIND=$front PARSREC_1=${a#http://} PARSREC_2=${b#http://} haproxy -db -f "$config" >haproxy.log 2>&1 &
        proxy_pid=$!
        url=http://$front
        until curl -sf "$url/readyz" >/dev/null 2>&1 || ! kill -0 $proxy_pid 2>/dev/null; do sleep 0.05; done
        kill -0 $proxy_pid 2>/dev/null && break
    done
    ok curl -sf "$url/readyz"
    for round in 1 2 3 4 5 6 7 8; do
        buys "$url" "user $round" s 1000
    done
    kill -9 $a_pid
    wait $a_pid 2>/dev/null
    pids=$b_pid
    for round in 1 2 3 4 5 6 7 8; do
        shows "$url" "user $round" s "['1000']"
        tell 200 "{\"user\":\"user $round\",\"session\":\"s\",\"items\":[\"1007\"]}" "Idempotency-Key: $round"
        get 200 "/v1/users/user%20$round"
        tells 'a["baskets"] == 1'
    done
    kill -TERM $proxy_pid
    wait $proxy_pid
    proxy_pid=
else
    left_out "haproxy is not there: no server was killed behind it"
fi
end_pair
