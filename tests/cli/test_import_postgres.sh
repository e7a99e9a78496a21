# PostgreSQL by query and table, against a server of our own that lives as long as the test.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"

ok psql -q "$url" -c "CREATE SCHEMA shop; CREATE TABLE shop.\"Lines\"(customer text, receipt int, day date, sku text);
    INSERT INTO shop.\"Lines\" VALUES ('ann', 1, '2020-01-01', 'bread, white'), ('ann', 1, '2020-01-01', 'milk'),
    ('bob', NULL, '2020-01-02', E'two\nlines'), ('bob', NULL, '2020-01-03', 'said \"hot\"'), ('bob', 7, '2020-01-03', 'M\u00fcsli');"
number() { tr ',{}' '\n\n\n' <stdout | sed -n "s/^\"$1\"://p"; }

ok "$PARSREC" import --json -o a.st "$url" --table shop.Lines --user customer --session receipt --time day --item sku
same "$(number users) $(number sessions) $(number items) $(number actions)" "2 4 5 5" "table"
ok "$PARSREC" check a.st
query="SELECT customer AS user, receipt AS session, day AS time, sku AS item FROM shop.\"Lines\" ORDER BY day;"
ok "$PARSREC" import --json -o b.st "$url" --query "$query"
same "$(number users) $(number sessions) $(number items) $(number actions)" "2 4 5 5" "query"
ok "$PARSREC" import --json -o c.st "$url" \
    --query "SELECT 'u' || n % 100 AS user, n AS time, 'i' || n % 7 AS item FROM generate_series(1, 200000) n"
same "$(number users) $(number sessions) $(number items) $(number actions)" "100 200000 7 200000" "many rows"
if grep -q secret a.st b.st; then fail "the password stands in a file"; else pass; fi

fails 1 'relation "nothing" does not exist' "$PARSREC" import -o no.st "$url" --table nothing
fails 1 'the query fails: ERROR:  column "nope" does not exist' "$PARSREC" import -o no.st "$url" --query "SELECT nope"
fails 1 "the query failed midway: ERROR:  division by zero" "$PARSREC" import -o no.st "$url" \
    --query "SELECT n AS user, 1 / (1000 - n) AS item FROM generate_series(1, 2000) n"
fails 1 "row 2, column 2: the item has no name" "$PARSREC" import -o no.st "$url" \
    --query "SELECT n AS user, nullif(n, 2) AS item FROM generate_series(1, 3) n"
fails 1 "cannot execute" "$PARSREC" import -o no.st "$url" \
    --query "DELETE FROM shop.\"Lines\" RETURNING customer AS user, sku AS item"
fails 1 "name a table with --table or give --query" "$PARSREC" import -o no.st "$url"
# quiet: the last message does not give the password away.
quiet() { if grep -q "secret\|hush" stderr; then fail "a password is shown"; else pass; fi; }
# refused TEXT COMMAND...: fails with a warning of the password on the command line, and one sentence.
refused() {
    text=$1
    shift
    "$@" >stdout 2>stderr
    same "$?" 1 "exit of $*"
    same "$(grep -c '' stderr)" 2 "lines of stderr"
    if grep -qF -- "$text" stderr && grep -q '^warning: others could see the password' stderr; then pass; else fail "$text"; fi
    quiet
}
refused "password authentication failed" "$PARSREC" import -o no.st "postgresql://tester:hush@/postgres?host=$socket" --table x
refused "cannot connect" "$PARSREC" import -o no.st "postgresql://tester:secret@/postgres?host=/nowhere" --table x
refused "write @ and / of a user or password as %40 and %2F" "$PARSREC" import -o no.st \
    "postgresql://tester:se@hush@localhost/x" --table x
refused "the address is not of the form" "$PARSREC" import -o no.st "postgresql://tester:secret@/postgres?nonsense" --table x

# A query that takes for ever ends when parsrec is stopped, and leaves nothing running.
# Passwords for other databases inside it are not in the list of processes meanwhile.
"$PARSREC" import -o no.st "$url" >stdout 2>stderr \
    --query "SELECT 1 AS user, 'x://me:hush@there' AS item /* password = 'hush' */ FROM pg_sleep(100000)" &
import=$!
running() {
    psql -qtA "$url" -c "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%pg_sleep%'"
}
while [ "$(running)" -eq 0 ] && kill -0 $import 2>/dev/null; do sleep 0.05; done
same "$(psql -qtA "$url" -c "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%me:hush@there%= ''hush''%'")" \
    1 "the query as it was given"
same "$(tr '\0' ' ' </proc/$import/cmdline | grep -c "'x://me:\*\*\*\*@there' AS item /. password = '\*\*\*\*' ./")" \
    1 "the query in the list of processes"
kill -INT $import
wait $import
same $? 1 "exit after Ctrl-C"
same "$(grep -c 'stopped while waiting for the database' stderr)" 1 "the sentence after Ctrl-C"
while [ "$(running)" -ne 0 ]; do sleep 0.05; done # far sooner than the query would end
quiet
absent no.st
# What PostgreSQL says of a query does not give them away either.
refused 'relation "x://me:****@there" does not exist' "$PARSREC" import -o no.st "$url" --query 'SELECT * FROM "x://me:hush@there"'
