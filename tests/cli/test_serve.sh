# The server as a client meets it: answers, errors, limits, a new model, the token, the log.
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
command -v curl >/dev/null || missing "curl is not installed"
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 2
ok "$PARSREC" train -o pop.model shop.st --model pop

# A server that does not start leaves no store behind.
fails 1 "No such file" "$PARSREC" serve nothing.model --listen 127.0.0.1:0
head -c 3000 shop.model >half.model
fails 1 "half.model" "$PARSREC" serve half.model --listen 127.0.0.1:0
fails 1 "is not an address" "$PARSREC" serve shop.model --listen nonsense
fails 1 "cannot listen on 127.0.0.1:99999: ports go from 1 to 65535" "$PARSREC" serve shop.model --listen 127.0.0.1:99999
fails 1 "ports go from 1 to 65535" "$PARSREC" serve shop.model --listen 127.0.0.1:18446744073709551617
absent nothing.model.events half.model.events shop.model.events
fails 1 "pass --token-file" "$PARSREC" serve shop.model --listen 0.0.0.0:0
fails 1 "go together" "$PARSREC" serve shop.model --tls-key x --listen 127.0.0.1:0
echo short >token
fails 1 "must be a token" "$PARSREC" serve shop.model --token-file token --listen 127.0.0.1:0
token=0123456789abcdef0123456789abcdef
printf '\357\273\277%s\r\n' $token >token # as some editors write it

cp shop.model served.model
fails 2 "served.model, which is read; name another file" "$PARSREC" serve served.model --access-log served.model \
    --listen 127.0.0.1:0
start_server served.model --token-file token --access-log access.log --store none --k-most 40 \
    --basket-most 5

# ---- quality: the model beside counts, in the answer and in the log ----
quality_is_ready() { web "$url/v1/quality" | grep -q '"ready":true'; }
wait_for quality_is_ready
ask 200 GET /v1/quality
tells '[m["model"] for m in a["models"]] == ["parsrec", "pop", "personal", "recent", "markov", "mix"]'
tells '[(p["protocol"], p["negatives"] > 0) for p in a["baselines"]["protocols"]][:3] == [("remaining", True), ("next", True), ("basket", False)]'
tells 'all(p["verdict"] in ("ahead", "level", "behind") and p["best_baseline"] for p in a["baselines"]["protocols"])'
tells 'a["baselines"]["sentence"].startswith("Test NDCG@10") and a["baselines"]["sentence"] in open("server.err").read()'
# The rows of the table and of the verdict are the same figures.
tells 'abs(a["models"][2]["metrics"]["NDCG@10"]["value"] - a["baselines"]["protocols"][0]["baselines"][1]["value"]) < 1e-6'

# ---- answers ----
ok "$PARSREC" doctor --server "${url#http://}"
says "is ready"
port=${url##*:}
ok "$PARSREC" doctor --server "[127.0.0.1]:$port" # as addresses of IPv6 are written
ok curl -s -H 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' "$url/healthz"
ok curl -s -H 'traceparent: 00-nonsense' "$url/healthz"
ask 200 GET /healthz
tells 'a == {"status": "ok"}'
ask 200 GET /readyz
tells 'a == {"status": "ready", "store": "none"}'
ask 200 HEAD /healthz
ask 200 POST /v1/recommend '{"user":"K01","basket":["1000","White rolls"],"k":3}'
cp stdout served.json
ok "$PARSREC" recommend shop.model --user K01 --basket 1000,"White rolls" -k 3 --json
same "$(cat stdout)" "$(cat served.json)" "the answer of the server and of the command"
ask 200 POST /v1/recommend '{"user":"K01","basket":["1000"],"k":2,"explain":true}'
tells 'len(a["items"]) == 2 and all(i["why"]["sentence"] for i in a["items"])'
ask 200 POST /v1/recommend '{"requests":[{"user":"K01","k":1},{"basket":["nothing"],"strict":true},{"user":"requests"}]}'
tells '[("error" in x) for x in a["answers"]] == [False, True, False]'
tells 'a["answers"][1]["error"]["code"] == "not_found"'
ask 200 POST /v1/recommend '{"basket":["x7","1000"],"k":1}'
tells 'a["unknown_items"] == ["x7"] and a["basket"] == ["1000"] and len(a["items"]) == 1'
ask 200 POST /v1/recommend '{"user":"requests","k":1}'
tells 'a["user"] == "requests"'
ask 200 GET '/v1/items?q=WHITE+ROLL&limit=5'
tells '[i["name"] for i in a["items"]] == ["White rolls"]'
ask 200 GET /v1/categories
says '"FOOD > BAKERY"'
ask 200 GET '/v1/users?q=K0&limit=3'
tells 'len(a["users"]) == 3 and a["users"][0]["baskets"] > 0'
ask 200 GET /v1/users/K01
tells 'a["user"] == "K01" and a["known"] and a["baskets"] > 0 and a["items"][0]["count"] > 0'
ask 200 GET /v1/model
tells 'a["kind"] == "parsrec" and a["items"] == 47 and a["settings"]["dim.item"] == "8" and a["number"] == 1'
ask 200 GET /v1/groups
tells '"everybody" in a["groups"] and "cluster:2" in a["groups"]'
ask 200 GET '/v1/relations?map=lift&by=category&user=K01'
tells 'a["map"] == "lift" and len(a["groups"]) == 1 and len(a["groups"][0]["values"]) == len(a["names"])'
cp stdout first.json
ask 200 GET '/v1/relations?map=lift&by=category&user=K01'
same "$(cat stdout)" "$(cat first.json)" "the same map again"
# Findings are what was counted: of all baskets, enough of them, and more than chance.
ask 200 GET '/v1/relations?map=lift&by=category&group=everybody'
tells 'len(a["groups"][0]["findings"]) > 0 and all(f["both"] >= 10 and f["lift_low"] > 1 and f["lift"] * f["row_baskets"] * f["column_baskets"] - f["both"] * f["baskets"] < 1 and "by chance" in f["evidence"] for f in a["groups"][0]["findings"])'
ask 200 GET '/v1/relations?map=drop&by=item&top=4&user=K01'
tells 'len(a["names"]) == 4 and any(v is not None for r in a["groups"][0]["values"] for v in r)'
ask 200 GET '/v1/relations?map=lift&group=cluster:2&difference=cluster%201,cluster+2'
tells 'a["difference"]["first"] == "cluster 1"'
# Two groups differ where their baskets say so; a user with few of them differs from nobody.
ask 200 GET '/v1/relations?map=drop&by=category&user=K01&group=everybody'
tells '[(c["first"], c["second"], c["findings"]) for c in a["contrasts"]] == [("user:K01", "everybody", [])]'
ask 200 GET '/v1/relations?map=embedding&by=category&user=K01&group=everybody'
tells 'a["contrasts"] is None'
ask 200 POST /v1/whatif '{"drop":["category=BAKERY"],"question":"selection","draws":2,"resamples":20}'
tells 'all(r["question"] == "selection" for r in a) and len(a) > 0'
ask 200 GET /openapi.json
ask 200 GET /metrics
says 'parsrec_http_requests_total{method="POST",route="/v1/recommend",code="200"} 5'
says 'parsrec_http_request_seconds_bucket{method="POST",route="/v1/recommend",le="+Inf"} 5'

# ---- jobs: the same answers, with progress ----
# job STATUS BODY: the job's name is in $job.
job() {
    ask "$1" POST /v1/jobs "$2"
    job=$(python3 -c 'import json; print(json.load(open("stdout"))["job"])')
}
# finished STATUS: waits until the job is.
finished() {
    ask 200 GET "/v1/jobs/$job"
    while grep -q '"status":"\(queued\|running\)"' stdout; do
        sleep 0.05
        web -o stdout "$url/v1/jobs/$job"
    done
    tells "a['status'] == '$1' and 0 <= a['progress'] <= 1"
}
ask 200 POST /v1/whatif '{"drop":["category=DAIRY"],"draws":2,"resamples":20}'
cp stdout waited.json
job 200 '{"kind":"whatif","request":{"resamples":20,"draws":2,"drop":["category=DAIRY"]}}'
tells 'a["status"] == "done" and a["progress"] == 1 and a["result"] == json.load(open("waited.json"))'
job 202 '{"kind":"relations","request":{"map":"drop","by":"category","top":5}}'
finished done
cp stdout told.json
ask 200 GET '/v1/relations?map=drop&by=category&top=5'
tells 'json.load(open("told.json"))["result"] == a'
job 202 '{"kind":"whatif","request":{"drop":["category=NO SUCH"]}}'
finished failed
tells 'a["error"]["code"] == "not_found" and "NO SUCH" in a["error"]["message"]'
job 202 '{"kind":"whatif","request":{"drop":["category=DAIRY"],"draws":1000,"resamples":10000}}'
ask 200 DELETE "/v1/jobs/$job"
tells 'a["status"] == "cancelled"'
finished cancelled
ask 404 GET /v1/jobs/00000000000000000000000000000000
ask 400 POST /v1/jobs '{"kind":"magic","request":{}}'

# ---- mistakes: the right status, a code and a sentence each ----
# mistake CODE STATUS METHOD PATH [BODY]
mistake() {
    code=$1
    shift
    ask "$@"
    tells "a['error']['code'] == '$code' and len(a['error']['message']) > 10"
}
mistake not_found 404 GET /nothing
mistake not_found 404 GET /v1
mistake not_found 404 GET /v1/users/
mistake not_found 404 GET /v1/users/K01/more
mistake not_found 404 GET /v1/users/nobody
mistake not_found 404 GET /../../etc/passwd
mistake not_found 404 GET //healthz
mistake method_not_allowed 405 GET /v1/recommend
ok grep -i '^allow: POST' headers
mistake method_not_allowed 405 PUT /v1/items
mistake bad_request 400 GET '/v1/items?limit=0'
mistake bad_request 400 GET '/v1/items?limit=1e3'
mistake bad_request 400 GET '/v1/items?q=%zz'
mistake bad_request 400 GET '/v1/items?qq=milk'
says "There is no query parameter 'qq'; this path takes q, limit."
ask 400 GET '/v1/items?q=a&limit=2&q=b'
says "The query parameter 'q' is given twice."
ask 200 GET '/v1/relations?map=lift&by=category&group=everybody&group=cluster:2'
mistake bad_request 400 GET '/v1/relations?maps=lift'
says "this path takes map, by, user, group, difference, top."
mistake bad_request 400 POST '/v1/recommend?user=K01' '{}'
says "this path takes none."
mistake bad_request 400 GET /v1/users/%00
mistake bad_request 400 GET /v1/users/%ff
mistake bad_request 400 POST /v1/recommend '{"basket":'
mistake bad_request 400 POST /v1/recommend ''
mistake bad_request 400 POST /v1/recommend '[]'
mistake bad_request 400 POST /v1/recommend '{"k":0}'
mistake bad_request 400 POST /v1/recommend '{"nonsense":1}'
mistake bad_request 400 POST /v1/recommend '{"requests":{}}'
mistake not_found 404 POST /v1/recommend '{"basket":["x7"],"strict":true}'
mistake not_found 404 POST /v1/recommend '{"only":["x7"]}'
mistake bad_request 400 POST /v1/recommend '{"session":"till-7"}'
says "says nothing without user"
mistake bad_request 400 POST /v1/recommend '{"user":null,"session":"till-7","basket":["1000"]}'
mistake too_large 413 POST /v1/recommend '{"k":41}'
ask 200 POST /v1/recommend '{"k":40}'
mistake too_large 413 POST /v1/recommend '{"basket":["1000","1007","1014","1021","1028","1035"]}'
mistake unsupported 422 POST /v1/events '{"user":"K01","items":["1000"]}'
mistake bad_request 400 GET '/v1/relations?map=nonsense'
mistake bad_request 400 GET '/v1/relations?group=x%3D/etc/passwd'
mistake not_found 404 GET '/v1/relations?user=nobody'
mistake bad_request 400 POST /v1/whatif '{"drop":["item=1000"],"groups":["x=/etc/passwd"]}'
mistake bad_request 400 POST /v1/whatif '{"groups":[]}'

# ---- the token: asked for on this machine too, since a proxy may stand in front ----
given=$token
token=
mistake unauthorized 401 POST /v1/admin/reload ''
mistake unauthorized 401 POST /v1/recommend '{"user":"K01"}'
mistake unauthorized 401 POST /v1/events '{"user":"K01","items":["1000"]}'
mistake unauthorized 401 POST /v1/jobs '{"kind":"relations","request":{}}'
mistake unauthorized 401 GET /v1/users/K01
mistake unauthorized 401 GET /metrics
ask 200 GET /healthz
ask 200 GET /readyz
ask 200 GET /openapi.json
token=$given
reload() {
    curl -s -o stdout -w '%{http_code}' -X POST -H "Authorization: Bearer $1" "$url/v1/admin/reload"
}
same "$(reload 0123456789abcdef0123456789abcdeX)" 401 "a wrong token"
same "$(reload 0123456789abcdef)" 401 "a part of the token"
same "$(reload "$token")" 200 "the token"
tells 'a["number"] == 2'

# ---- other sites' pages ----
from() { web -o stdout -w '%{http_code}' -H "$1" "$url/v1/model"; }
same "$(from 'Host: evil.example')" 403 "a name that is not ours"
same "$(from 'Host: localhost:1')" 200 "our own name"
same "$(from 'Origin: http://evil.example')" 403 "a page of another site"
same "$(from "Origin: $url")" 200 "our own page"
same "$(from 'Sec-Fetch-Site: cross-site')" 403 "a picture in a page of another site"
same "$(from 'Sec-Fetch-Site: same-origin')" 200 "what our own page shows"
# What a page can make a browser send without asking first: no Content-Type, or one of a form.
for sent in 'POST /v1/events {"user":"K01","items":["1000"]}' 'POST /v1/jobs {"kind":"relations","request":{}}' \
    'POST /v1/admin/reload {}' 'DELETE /v1/users/K01 {}' 'DELETE /v1/jobs/0 {}' 'GET /v1/jobs/0 {}' \
    'POST /v1/whatif {"drop":["item=1000"]}'; do
    how=${sent%% *} rest=${sent#* }
    for type in '' text/plain; do
        for stranger in 'Origin: http://evil.example' 'Origin: null' 'Host: evil.example'; do
            same "$(web -o stdout -w '%{http_code}' -X "$how" -H "Content-Type: $type" -H "$stranger" \
                --data-binary "${rest#* }" "$url${rest%% *}")" 403 "$how ${rest%% *} as '$type', $stranger"
        done
    done
done

# ---- a new model, and one that is not ----
cp pop.model served.new && mv served.new served.model
kill -HUP $server_pid
serves_pop() { web "$url/v1/model" | grep -q '"kind":"pop"'; }
wait_for serves_pop
ask 200 GET /v1/model
tells 'a["kind"] == "pop" and a["number"] == 3'
head -c 3000 shop.model >served.new && mv served.new served.model
same "$(reload "$token")" 422 "a damaged model"
tells 'a["error"]["code"] == "model_refused" and "old model stays" in a["error"]["message"]'
ask 200 POST /v1/recommend '{"user":"K01"}'
described

stop_server
ok grep -q 'POST /v1/recommend 200' access.log
ok grep -q 'GET /v1/users/{id} 200' access.log
same "$(grep -c 'GET /healthz 200 .* trace=4bf92f3577b34da6a3ce929d0e0e4736$' access.log)" 1 "the trace in the log"
same "$(grep -c trace= access.log)" 1 "other lines with a trace"
same "$(grep -c K01 access.log)" 0 "ids of users in the log"

# ---- HTTPS ----
ok openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost
start_server shop.model --tls-cert cert.pem --tls-key key.pem --store none --no-quality --log-targets \
    --access-log -
token=
same "${url%%:*}" https "scheme"
same "$(curl -s -k -o stdout -w '%{http_code}' "$url/v1/users/K01")" 200 "HTTPS"
same "$(curl -s -k -o stdout -w '%{http_code}' -X POST "$url/v1/admin/reload")" 403 "no token to compare with"
stop_server
ok grep -q 'GET /v1/users/K01 200' server.out
# A mistake leaves no new store behind.
fails 1 "a pair in PEM" "$PARSREC" serve shop.model --tls-cert token --tls-key token --listen 127.0.0.1:0
fails 1 "/nonexist: " "$PARSREC" serve shop.model --tls-cert /nonexist --tls-key key.pem --listen 127.0.0.1:0
fails 1 "/nonexist/log" "$PARSREC" serve shop.model --access-log /nonexist/log --listen 127.0.0.1:0
absent shop.model.events
