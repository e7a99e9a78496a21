# Events of a server: in the answers at once, there after a kill and a restart, gone when a user is
# forgotten, seen by another server on the same store. The same on SQLite and on PostgreSQL.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
database=$url
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 77; }
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 2
echo 0123456789abcdef0123456789abcdef >token
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
    tells 'a == {"stored": 1, "unknown_items": ["unheard of"]}'
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
    tries=0
    while [ "$(curl -s -o stdout -w '%{http_code}' "$url/v1/users/wanderer")" != 200 ] && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    ask 200 GET /v1/users/wanderer

    # Forgotten for good, also where it takes seconds to find out what the user bought.
    ask 200 GET '/v1/relations?map=lift&user=K01'
    same "$(forget K01)" 200 "forgetting"
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

# Beside the model, unless it is said where.
start_server shop.model --no-quality
ask 200 GET /readyz
stop_server
ok test -s shop.model.events
fails 1 "events" "$PARSREC" serve shop.model --store sqlite:no/such/folder/events
fails 1 "store" "$PARSREC" serve shop.model --store nonsense
