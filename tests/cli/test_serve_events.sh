# Events of a server: in the answers at once, there after a kill and a restart, gone when a user is
# forgotten, seen by another server on the same store. The same on SQLite and on PostgreSQL.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
database=$url
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
command -v curl >/dev/null || missing "curl is not installed"
example=$PARSREC_SOURCE/examples
sed 's/^\(1042\|1056\|1063\),[^,]*/\1,Twin/' "$example/corner_shop_items.csv" >items.csv
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items items.csv
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 2
echo 0123456789abcdef0123456789abcdef >token
token=$(cat token)
other_pid=
clean_up() {
    [ -z "$server_pid" ] || kill -9 "$server_pid" 2>/dev/null
    [ -z "$other_pid" ] || kill -9 "$other_pid" 2>/dev/null
    stop_postgres
}

forget() {
    curl -s -o stdout -w '%{http_code}' -X DELETE -H "Authorization: Bearer $(cat token)" "$url/v1/users/$1"
}

walk_through() {
    store=$1
    start_server shop.model --store "$store" --token-file token --no-quality
    ask 404 GET /v1/users/new
    ask 200 POST /v1/recommend '{"user":"new","k":3}'
    tells 'a["source"] == "popular"'
    ask 200 POST /v1/events '{"user":"new","session":"s1","items":["1000","White rolls","unheard of"]}'
    tells 'a == {"stored": 1, "duplicates": 0, "unknown_items": ["unheard of"], "ambiguous_items": [], "seen": a["seen"]} and a["seen"] > 0'
    ask 200 GET /v1/users/new
    tells 'a["baskets"] == 1 and a["recent"] == [["1000", "1007"]] and not a["known"]'
    ask 200 POST /v1/events '{"user":"new","session":"s1","items":[1014]}'
    ask 200 POST /v1/events '{"events":[{"user":"new","items":["1021"],"time":1700000000},{"user":"K01","items":["1021"]}]}'
    tells 'a["stored"] == 2'
    ask 200 GET /v1/users/new
    tells 'a["baskets"] == 2 and sorted(map(sorted, a["recent"])) == [["1000", "1007", "1014"], ["1021"]]'
    ask 200 POST /v1/recommend '{"user":"new","basket":["1000"],"k":5}'
    tells 'a["source"] == "anyone"'
    cp stdout before.json
    # The open basket is no part of the past.
    ask 200 POST /v1/recommend '{"user":"open","basket":["1000"],"k":5}'
    cp stdout alone.json
    ask 200 POST /v1/events '{"user":"open","session":"now","items":["1000"]}'
    ask 200 POST /v1/recommend '{"user":"open","session":"now","basket":["1000"],"k":5}'
    same "$(cat stdout)" "$(cat alone.json)" "an open basket"
    ask 200 POST /v1/recommend '{"user":"open","session":"now","k":5}'
    same "$(cat stdout)" "$(cat alone.json)" "an open basket by its session alone"

    # A name that several items have is no unknown item: the keys to choose from are told.
    ask 200 POST /v1/recommend '{"user":"new","basket":["Twin",7,"1000"],"k":1}'
    tells 'a["unknown_items"] == [7] and a["ambiguous_items"] == [{"name": "Twin", "keys": ["1042", "1056", "1063"]}]'
    ask 404 POST /v1/recommend '{"basket":["Twin"],"strict":true}'
    tells "a['error']['message'].endswith(\"several items are named 'Twin'; use the item's key: '1042', '1056', '1063'\")"
    ask 200 POST /v1/recommend '{"user":"new","basket":["1042"],"k":1}'
    tells '"ambiguous_items" not in a and "unknown_items" not in a'
    ask 200 POST /v1/events '{"user":"twins","items":["Twin","1042","Twin","none"]}'
    tells 'a["unknown_items"] == ["none"] and a["ambiguous_items"] == [{"name": "Twin", "keys": ["1042", "1056", "1063"]}]'

    ask 404 GET '/v1/relations?map=lift&user=twins'
    tells '"known from events alone" in a["error"]["message"]'

    # Keys that are filled up to a width are what import makes of them: of one user, and forgotten with them.
    ask 200 POST /v1/events '{"user":"  wide ","session":"s1  ","items":["1000   "],"type":"cart"}'
    tells 'a["unknown_items"] == []'
    ask 200 POST /v1/events '{"user":"wide","session":"s1","items":["1007"]}'
    ask 200 POST /v1/recommend '{"user":"wide    ","session":" s1","k":1}'
    tells 'a["user"] == "wide    " and a["basket"] == ["1007", "1000"]'
    ask 200 POST /v1/recommend '{"user":"K01  ","basket":[" 1000"],"k":1}'
    tells 'a["source"] == "model" and a["basket"] == ["1000"]'
    ask 200 GET '/v1/relations?map=lift&user=K01%20'
    ask 200 GET /v1/users/%20wide
    tells 'a["recent"] == [["1007"]]'
    same "$(forget 'wide%20')" 200 "status of forgetting"
    ask 404 GET /v1/users/wide
    ask 400 POST /v1/events '{"user":"  ","items":["1000"]}'

    # Purchases after training have their dates. The data ended long ago, so the time is theirs.
    ask 200 POST /v1/recommend '{"user":"K02","only":["1210"],"explain":true}'
    tells 'a["time_from"] == "data" and a["items"][0]["why"]["last_days"] == 19'
    ask 200 POST /v1/events '{"user":"K02","items":["1210"],"time":"2024-04-02"}'
    ask 200 POST /v1/recommend '{"user":"K02","only":["1210"],"explain":true,"time":"2024-04-12"}'
    tells 'a["time_from"] == "request" and a["items"][0]["why"]["last_days"] == 10'
    tells 'a["items"][0]["why"]["sentence"].endswith("in 9 earlier baskets, usually every 11 days, last 10 days ago")'
    ask 200 POST /v1/recommend '{"user":"K02","only":["1210"],"explain":true}'
    tells 'a["time"] == "2024-04-02T00:00:00Z" and a["items"][0]["why"]["last_days"] == 0'
    ask 400 POST /v1/recommend '{"user":"K02","time":"noon"}'

    # Nothing of a body with a mistake is stored.
    ask 400 POST /v1/events '{"events":[{"user":"half","items":["1000"]},{"user":"half","items":[]}]}'
    ask 400 POST /v1/events '{"user":"half","items":["1000"],"basket":[]}'
    ask 400 POST /v1/events '{"items":["1000"]}'
    ask 400 POST /v1/events '{"user":"","items":["1000"]}'
    ask 400 POST /v1/events '{"user":"half","items":["1000"],"time":"now"}'
    ask 400 POST /v1/events '{"user":"half","items":["\u0000"]}'
    ask 404 GET /v1/users/half

    # Gone without a word, and back.
    kill -9 $server_pid
    wait $server_pid 2>/dev/null
    start_server shop.model --store "$store" --token-file token --no-quality
    ask 200 POST /v1/recommend '{"user":"new","basket":["1000"],"k":5}'
    same "$(cat stdout)" "$(cat before.json)" "the answer after a restart"

    # Another server learns of it.
    first_url=$url first_pid=$server_pid
    server_pid=
    start_server shop.model --store "$store" --token-file token --no-quality
    other_pid=$server_pid
    ask 200 POST /v1/events '{"user":"wanderer","items":["1000"]}'
    url=$first_url server_pid=$first_pid
    wait_for answers 200 web -o stdout -w '%{http_code}' "$url/v1/users/wanderer"
    ask 200 GET /v1/users/wanderer

    # Forgotten for good, also where it takes seconds to find out what the user bought.
    ask 200 GET '/v1/relations?map=lift&user=K01'
    ask 202 POST /v1/jobs '{"kind":"relations","request":{"map":"lift","by":"item","user":"K01"}}'
    job=$(sed 's/.*"job":"\([0-9a-f]*\)".*/\1/' stdout)
    same "$(forget K01)" 200 "forgetting"
    job_is_gone() { web "$url/v1/jobs/$job" | grep -qi 'there is no'; }
    wait_for job_is_gone
    ask 200 POST /v1/events '{"user":"K01","items":["1000"]}'
    ask 404 GET '/v1/relations?map=lift&user=K01'
    same "$(forget K01)" 200 "forgetting again"
    ask 404 GET /v1/users/K01
    ask 404 GET '/v1/relations?map=lift&user=K01'
    ask 404 POST /v1/whatif '{"drop":["item=1000"],"groups":["user:K01"]}'
    ask 200 POST /v1/recommend '{"user":"K01","k":3}'
    tells 'a["source"] == "popular"'
    kill -9 $other_pid
    wait $other_pid 2>/dev/null
    other_pid=
    stop_server
    start_server shop.model --store "$store" --token-file token --no-quality
    ask 404 GET /v1/users/K01
    ask 200 GET /v1/users/new
    stop_server
}

walk_through sqlite:events.db
walk_through "$database"

# ---- the database restarts: the server keeps answering, and says what it cannot do, but not where ----
# until_ready WORD: /readyz says so of the store.
until_ready() {
    until web -o stdout "$url/readyz" && grep -q "\"store\":\"$1\"" stdout; do sleep 0.05; done
    ask 200 GET /readyz
    tells "a == {'status': 'ready', 'store': '$1'}"
}
start_server shop.model --store "$database" --token-file token --no-quality
until_ready up
as_server "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
until_ready down
ask 200 POST /v1/recommend '{"user":"new","k":3}'
ask 503 POST /v1/events '{"user":"new","items":["1000"]}'
tells 'a["error"]["code"] == "store_unavailable"'
same "$(grep -c -E "$socket|tester|secret|5432" stdout)" 0 "addresses in an answer"
start_postgres
ask_event() { web -o stdout -w '%{http_code}' --data-binary '{"user":"new","items":["1000"]}' "$url/v1/events"; }
wait_for answers 200 ask_event
until_ready up
stop_server
ok grep -q 'warning: the store does not answer: postgresql: ' server.err
ok grep -q 'warning: events cannot be stored: postgresql: ' server.err
ok grep -q '^the store answers again$' server.err
ok grep -q '^events are stored again$' server.err
same "$(grep -c secret server.err)" 0 "passwords in the log"

# ---- the password of the database is nowhere to be seen ----
unset PGPASSWORD
shown() { tr '\0' ' ' </proc/$server_pid/cmdline; }
start_server shop.model --store "postgresql://tester:secret@/postgres?host=$socket" --token-file token --no-quality
until_ready up
same "$(shown | grep -c secret)" 0 "the password in the list of processes"
same "$(shown | grep -c 'postgresql://tester:\*\*\*\*\*\*@')" 1 "the rest of the address"
ok grep -q 'warning: others could see the password on the command line' server.err
ok grep -q 'warning: others on this machine may read token; chmod go-r makes it safe' server.err
stop_server
(umask 077 && echo "postgresql://tester:secret@/postgres?host=$socket" >store.url && cat token >token.own)
start_server shop.model --store-file store.url --token-file token.own --no-quality
until_ready up
stop_server
same "$(grep -c 'secret\|warning' server.err)" 0 "a word on secrets"
fails 1 "exclude each other" "$PARSREC" serve shop.model --store none --store-file store.url --listen 127.0.0.1:0
: >empty.url
fails 1 "the first line must be a store" "$PARSREC" serve shop.model --store-file empty.url --listen 127.0.0.1:0
# Wrong ones are not quoted, nor what libpq would take for a host or a port.
for wrong in 'tester:se@cret@localhost/x' 'tester:se/cret@localhost/x' 'tester:secret@/postgres?host=/nowhere' \
    'tester:secret@/postgres?nonsense' 'tester@/postgres?host=/nowhere&password=secret' 'tester:secret@localhost:cret/x'; do
    "$PARSREC" serve shop.model --store "postgresql://$wrong" --listen 127.0.0.1:0 >stdout 2>stderr
    same "$?" 1 "exit for $wrong"
    if [ "$wrong" != 'tester:secret@localhost:cret/x' ]; then
        same "$(grep -c 'cret\|:se' stderr)" 0 "the password in '$(cat stderr)'"
    fi
done
PGPASSWORD=secret
export PGPASSWORD

# Beside the model, unless it is said where.
token=
start_server shop.model --no-quality
ask 200 GET /readyz
stop_server
ok test -s shop.model.events
fails 1 "events" "$PARSREC" serve shop.model --store sqlite:no/such/folder/events --listen 127.0.0.1:0
fails 1 "store" "$PARSREC" serve shop.model --store nonsense --listen 127.0.0.1:0
