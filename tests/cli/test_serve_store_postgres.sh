# The same as cli.serve_store for PostgreSQL: what it keeps, a store of the first version, a restart in the middle.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
store=$url
. "$PARSREC_SOURCE/tests/cli/events_lib.sh"
frozen=
clean_up() {
    [ -z "$frozen" ] || kill -CONT $frozen
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
# The database is back: /readyz says so without a further event, not only when a failed write is forgotten by itself.
is_up() { web "$url/readyz" | grep -q '"store":"up"'; }
wait_for grep -q "the store answers again" server.err
ok is_up
wait_for answers 200 curl -s -o stdout -w '%{http_code}' -H "$auth" -d '{"user":"pg","items":["1000"],"id":"p"}' "$url/v1/events"
get 200 /v1/users/pg
tells 'a["baskets"] == 1'

# Restarted while nobody wrote: the first event is stored, and is known.
restart_postgres
tell 200 '{"user":"first","items":["1000"]}'
get 200 /v1/users/first
tells 'a["baskets"] == 1'

# An event that is stored while histories cannot be read is acknowledged once they have it, and so is one that is sent
# again: the connection that reads is cut and no other is let in, the one that writes stays.
admin=$(echo "$store" | sed 's,/postgres?,/template1?,')
admits() { ok psql -Atq "$admin" -c "ALTER DATABASE postgres ALLOW_CONNECTIONS $1"; }
is_stored() { web -H "$auth" "$url/metrics" | grep -qx "parsrec_events_stored_total $stored"; }
is_down() { web "$url/readyz" | grep -q '"store":"down"'; }
sends() { web -H "$auth" -o "$1.answer" -w '%{http_code}' -d '{"user":"late","items":["1000"],"id":"late"}' "$url/v1/events" >"$1.code"; }
stored=$(web -H "$auth" "$url/metrics" | sed -n 's/^parsrec_events_stored_total //p')
stored=$((stored + 1))
admits false
ok psql -Atq "$admin" -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT id, origin%'"
says t
sends first &
first=$!
wait_for is_stored
sends second &
second=$!
wait_for is_down
get 404 /v1/users/late
same "$(cat first.code second.code)" "" "answers before the histories have the event"
admits true
wait $first
get 200 /v1/users/late
tells 'a["baskets"] == 1'
wait $second
same "$(cat first.code second.code)" 200200 "answers once they have it"
cp second.answer stdout
tells 'a["stored"] == 0 and a["duplicates"] == 1'
stop_server

# A database that is frozen is lost like one that has gone, and keeps nobody from stopping the server.
begin shop.model
tell 200 '{"user":"frozen","items":["1000"]}'
frozen=$(head -n 1 "$server/data/postmaster.pid")
frozen="$frozen $(pgrep -P "$frozen")"
kill -STOP $frozen
tell 503 '{"user":"frozen","items":["1007"]}'
wait_for is_down
recommend '{"user":"frozen","basket":["1000"],"k":2}'
stop_server
fails 1 "postgresql: cannot connect" "$PARSREC" doctor --store "$store"
kill -CONT $frozen
frozen=
ok grep -q 'warning: events cannot be stored: postgresql: cannot write to the store: no answer within 35 s' server.err

# doctor does not wait for the end of a lock either.
psql -q "$store" -c "BEGIN; LOCK TABLE parsrec_events; SELECT pg_sleep(36000)" >locking 2>&1 &
is_locked() {
    [ "$(psql -Atq "$store" -c "SELECT count(*) FROM pg_locks WHERE relation = 'parsrec_events'::regclass AND
        mode = 'AccessExclusiveLock' AND granted")" = 1 ]
}
wait_for is_locked
fails 1 "postgresql: no answer within 10 s: it hangs, or the table is locked" "$PARSREC" doctor --store "$store"
psql -Atq "$store" -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'" >stdout
wait $!
ok "$PARSREC" doctor --store "$store"
says " events"
# Nor for a count of very many.
psql -q "$store" -c "ALTER TABLE parsrec_events SET (autovacuum_enabled = off);
    UPDATE pg_class SET reltuples = 3e8 WHERE oid = 'parsrec_events'::regclass"
ok "$PARSREC" doctor --store "$store"
says "300,000,000 events"
psql -q "$store" -c "ALTER TABLE parsrec_events RESET (autovacuum_enabled);
    UPDATE pg_class SET reltuples = -1 WHERE oid = 'parsrec_events'::regclass"

# Killed while it works: few rounds here, many in bench/kill_store.sh.
PARSREC=$PARSREC sh "$PARSREC_SOURCE/bench/kill_store.sh" 4 events-postgres forget-postgres >kills 2>&1
same "$(tail -1 kills)" passed "kills: $(tail -5 kills)"
