# What the server stores survives: the writer killed at any moment, the database killed under it. The same
# for SQLite and for a PostgreSQL server of our own, against which the store's other tests run too.
. "$PARSREC_SOURCE/tests/cli/postgres.sh"
tool=$PARSREC_BUILD/tests/store_tool

# kept URL: everything that was told to be stored is there, once; at most what was on its way comes on top.
kept() {
    "$tool" "$1" list | sort >stored
    sort told >told.sorted
    same "$(comm -23 told.sorted stored | wc -l)" 0 "events lost in $1"
    same "$(uniq -d stored | wc -l)" 0 "events twice in $1"
    same "$(($(comm -13 told.sorted stored | wc -l) <= $2))" 1 "events nobody told of in $1"
    if [ -s told ]; then pass; else fail "nothing was stored"; fi
}

# more_than COUNT WRITER: waits until more events than that are stored, as long as the writer lives.
more_than() { while [ "$(wc -l <told)" -le "$1" ] && kill -0 "$2" 2>/dev/null; do sleep 0.02; done; }

for store in "sqlite:$PWD/events.db" "$url"; do
    : >told
    for round in 1 2 3 4 5; do
        before=$(wc -l <told)
        "$tool" "$store" write 8 >>told 2>writer.log &
        writer=$!
        more_than $((before + 20 * round)) $writer
        kill -9 $writer
        wait $writer 2>/dev/null
    done
    kept "$store" 40 # 5 rounds, 8 threads
done

# The database dies and comes back; the writer lives, and what it tells is true.
: >told
psql -q "$url" -c "TRUNCATE parsrec_events"
"$tool" "$url" write 8 >>told 2>writer.log &
writer=$!
for round in 1 2 3; do
    more_than $((round * 50)) $writer
    before=$(wc -l <told)
    restart_postgres
    more_than $((before + 100)) $writer
    same $(($(wc -l <told) > before + 100)) 1 "events after restart $round"
done
kill -9 $writer
wait $writer 2>/dev/null
kept "$url" 32

# All that unit.store asks of SQLite, asked of PostgreSQL.
PARSREC_STORE=$url
export PARSREC_STORE
ok "$PARSREC_BUILD/tests/test_store"
# Many threads share a commit: far more events than commits.
ok "$tool" "$url" fill 2000
cp stdout postgres.speed
ok "$tool" "sqlite:$PWD/fill.db" fill 2000
echo "PostgreSQL $(cat postgres.speed), SQLite $(cat stdout)"
