# What events carry and what becomes of them, as a walk through any store in $store: to be read into a test.
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
command -v curl >/dev/null || missing "curl is not installed"
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 1
echo 0123456789abcdef0123456789abcdef >token
chmod 600 token
begin() { start_server "$1" --store "$store" --token-file token --no-quality; }
auth="Authorization: Bearer $(cat token)"
# tell STATUS BODY [HEADER]: events.
tell() {
    curl -s -o stdout -w '%{http_code}' -H "$auth" ${3:+-H "$3"} -d "$2" "$url/v1/events" >code
    same "$(cat code)" "$1" "status of $2"
}
get() {
    curl -s -o stdout -w '%{http_code}' -H "$auth" "$url$2" >code
    same "$(cat code)" "$1" "status of $2"
}
recommend() {
    curl -s -o stdout -w '%{http_code}' -H "$auth" -d "$1" "$url/v1/recommend" >code
    same "$(cat code)" 200 "status of $1"
}
forget() {
    same "$(curl -s -o stdout -w '%{http_code}' -X DELETE -H "$auth" "$url/v1/users/$1")" 200 "forgetting $1"
}
# exported PATTERN COUNT: rows of the store's CSV.
exported() {
    ok "$PARSREC" export-events "$store" -o events.csv --types buy,cart,view
    same "$(grep -c -- "$1" events.csv)" "$2" "rows with $1"
}

walk_through() {
    # ---- what an event carries ----
    begin shop.model
    before=$(date -u +%Y-%m-%dT%H)
    tell 200 '{"user":"ann","items":["1000"]}'
    after=$(date -u +%Y-%m-%dT%H)
    tell 200 '{"user":"ben","session":"s","items":["1000"],"time":1700000000}'
    tell 200 '{"user":"ben","session":"s","items":["1007"],"time":1700000000123}'
    tell 200 '{"user":"ben","session":"s","items":["1014"],"time":"2023-11-14T23:13:20.5+01:00"}'
    tell 200 '{"user":"ben","session":"t","items":["1021"],"time":"2023-11-14","quantity":3}'
    tell 200 '{"user":"cyd","session":"u","items":["1021",{"item":"1000","quantity":0.25}],"quantity":2,"type":"view"}'
    for bad in '"time":"yesterday"' '"time":-1' '"time":"1969-12-31"' "\"time\":$(($(date +%s) + 90000))" '"time":1e15' '"time":[]' '"type":"steal"' '"type":1' '"quantity":0' \
        '"quantity":"2"' '"id":""' '"items":[{"item":"1000","price":1}]' '"items":[{"quantity":1}]'; do
        tell 400 "{\"user\":\"bad\",\"items\":[\"1000\"],$bad}"
    done
    exported '^ann,event [0-9]*,'"\\($before\\|$after\\)"'.*,1000,1,buy$' 1
    exported '^ben,s,2023-11-14T22:13:20Z,10..,1,buy$' 3
    exported '^ben,t,2023-11-14T00:00:00Z,1021,3,buy$' 1
    exported '^cyd,u,.*,1021,2,view$' 1
    exported '^cyd,u,.*,1000,0.25,view$' 1
    exported '^bad' 0
    ok "$PARSREC" export-events "$store" -o bought.csv
    same "$(grep -c view bought.csv)" 0 "views among purchases"
    get 404 /v1/users/cyd # a view is no purchase

    # ---- sent twice, stored once ----
    tell 200 '{"user":"ida","items":["1000"],"id":"order-1"}'
    tells 'a["stored"] == 1 and a["duplicates"] == 0'
    tell 200 '{"user":"ida","items":["1000"],"id":"order-1"}'
    tells 'a["stored"] == 0 and a["duplicates"] == 1'
    body='{"events":[{"user":"ida","items":["1007"]},{"user":"otto","items":["1007"],"id":7},{"user":"otto","items":["1007"],"id":"7"}]}'
    tell 200 "$body" "Idempotency-Key: 5f0c"
    tells 'a["stored"] == 2 and a["duplicates"] == 1'
    tell 200 "$body" "Idempotency-Key: 5f0c"
    tells 'a["stored"] == 0 and a["duplicates"] == 3'
    tell 200 "$body" "Idempotency-Key: 5f0d"
    tells 'a["stored"] == 1 and a["duplicates"] == 2'
    get 200 /v1/users/ida
    tells 'a["baskets"] == 3'
    # Sent again in part, and another body under the same key by mistake: nothing is lost.
    tell 200 '{"events":[{"user":"eve","items":["1000"]},{"user":"eve","items":["1014"]},{"user":"eve","items":["1014"]}]}' "Idempotency-Key: e"
    tells 'a["stored"] == 3 and a["duplicates"] == 0'
    tell 200 '{"events":[{"user":"eve","items":["1014"]},{"user":"eve","items":["1014"]}]}' "Idempotency-Key: e"
    tells 'a["stored"] == 0 and a["duplicates"] == 2'
    tell 200 '{"user":"eve","items":["1021"]}' "Idempotency-Key: e"
    tells 'a["stored"] == 1 and a["duplicates"] == 0'

    # ---- an open basket ----
    recommend '{"user":"new","basket":["1000","1014"],"k":5}'
    cp stdout guest.json
    tell 200 '{"user":"new","session":"now","items":["1000","1014"],"type":"cart"}'
    get 200 /v1/users/new
    tells 'a["baskets"] == 0'
    recommend '{"user":"new","session":"now","basket":["1000","1014"],"k":5}'
    same "$(sed 's/"source":"[a-z]*"//' stdout)" "$(sed 's/"source":"[a-z]*"//' guest.json)" "an open basket is no history"
    recommend '{"user":"new","session":"now","k":5}'
    same "$(sed 's/"source":"[a-z]*"//' stdout)" "$(sed 's/"source":"[a-z]*"//' guest.json)" "a session without a basket"
    tell 200 '{"user":"new","session":"now","items":["1000"]}'
    get 200 /v1/users/new
    tells 'a["baskets"] == 1 and a["recent"] == [["1000"]]'

    # ---- trained on once ----
    get 200 /v1/users/ben
    cp stdout ben.json
    tell 200 '{"user":"K01","session":"seen","items":["1021"],"time":1750000000}'
    get 200 /v1/users/K01
    cp stdout k01.json
    tell 200 '{"user":"K03","session":"gone","items":["1021"],"time":1750000000}'
    forget K03
    tell 200 '{"user":"K03","session":"back","items":["1000"],"time":1750000001}'
    get 200 /v1/users/K03
    tells 'a["baskets"] == 1'
    ok "$PARSREC" import -o more.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv" --events "$store" --sort
    ok "$PARSREC" train -o more.model more.st --set dim.user=8 --set dim.item=8 --epochs 1
    tell 200 '{"user":"ben","session":"late","items":["1000"],"time":1750000002}'
    stop_server
    begin more.model
    if grep -q "has the events of the store up to number" server.err; then pass; else fail "no word of the mark"; fi
    get 200 /v1/users/K01
    same "$(python3 -c 'import json; print(json.load(open("stdout"))["baskets"])')" \
        "$(python3 -c 'import json; print(json.load(open("k01.json"))["baskets"])')" "baskets of K01, trained on"
    get 200 /v1/users/ben
    tells 'a["baskets"] == 3' # two of them in the data, one later
    get 200 /v1/users/K03     # forgotten, then one basket: the data do not count
    tells 'a["baskets"] == 1 and a["recent"] == [["1000"]]'
    stop_server
    ok "$PARSREC" import -o only.st --events "$store"
    # The store has times of its own, whatever the form of those in other inputs.
    printf 'user,session,time,item\nben,r1,02.03.2010 13:08,1000\nben,r2,05.03.2010 09:00,1007\n' >german.csv
    ok "$PARSREC" import -o german.st german.csv --time-format '%d.%m.%Y %H:%M' --events "$store"
    fails 1 "events" "$PARSREC" import -o none.st --events sqlite:shop.st
    fails 1 "no.db" "$PARSREC" export-events sqlite:no.db -o x.csv
    absent no.db x.csv none.st
}
