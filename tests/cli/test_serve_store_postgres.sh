# The same as cli.serve_store for PostgreSQL: what it keeps, a store of the first version, a restart in the middle.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
store=$url
. "$PARSREC_SOURCE/tests/cli/events_lib.sh"
clean_up() {
    [ -z "$server_pid" ] || kill -9 "$server_pid" 2>/dev/null
    stop_postgres
}
# As the first version left it.
psql -q "$store" <<'S'
CREATE TABLE parsrec_events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, origin bigint NOT NULL,
  batch bigint NOT NULL, place integer NOT NULL, user_key text NOT NULL, session text, time bigint, items text,
  UNIQUE (origin, batch, place));
CREATE INDEX parsrec_events_user ON parsrec_events (user_key);
INSERT INTO parsrec_events (origin, batch, place, user_key, session, time, items) VALUES
  (1, 1, 1, 'old-kept', 'a', 1700000000, '["1000","1007"]'), (1, 1, 2, 'old-kept', NULL, NULL, '["1014"]'),
  (1, 2, 1, 'K02', NULL, NULL, NULL), (1, 3, 1, 'K02', 'again', 1700001000, '["1007"]');
S
walk_through
begin shop.model
get 200 /v1/users/old-kept
tells 'a["baskets"] == 2'
get 200 /v1/users/K02
tells 'a["baskets"] == 1 and a["recent"] == [["1007"]]'
same "$(psql -Atq "$store" -c "SELECT count(*) FROM parsrec_events WHERE items IS NULL AND length(user_key) <> 32")" 0 \
    "keys of forgotten users in clear"

# Restarted in the middle: events wait or get 503, answers go on, and it is back by itself.
as_server "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
curl -s -o stdout -D headers -w '%{http_code}' -H "$auth" -d '{"user":"pg","items":["1000"],"id":"p"}' "$url/v1/events" >code
same "$(cat code)" 503 "an event without a database"
if grep -qi '^retry-after' headers; then pass; else fail "no Retry-After"; fi
recommend '{"user":"K01","basket":["1000"],"k":2}'
start_postgres
wait_for answers 200 curl -s -o stdout -w '%{http_code}' -H "$auth" -d '{"user":"pg","items":["1000"],"id":"p"}' "$url/v1/events"
# An attempt before may have been stored and not answered; this one then only learns that, and the replay may be
# behind. The number of the answer says what to wait for.
seen=$(python3 -c 'import json; print(json.load(open("stdout"))["seen"])')
recommend '{"user":"K01","k":1,"seen":'"$seen"'}'
get 200 /v1/users/pg
tells 'a["baskets"] == 1'
stop_server

# Killed while it works: few rounds here, many in bench/kill_store.sh.
PARSREC=$PARSREC sh "$PARSREC_SOURCE/bench/kill_store.sh" 4 events-postgres forget-postgres >kills 2>&1
same "$(tail -1 kills)" passed "kills: $(tail -5 kills)"
