# doctor: what the machine has; a missing library is named with what to install; stores are only read.
ok "$PARSREC" doctor
for line in "parsrec " "processor " "vector units" "memory " "BLAS " "cairo " "libpq " "libduckdb " "server "; do
    same "$(grep -c "^$line" stdout)" 1 "lines that begin with $line"
done
ok "$PARSREC" doctor --json
cp stdout report.json
ok /usr/bin/python3 -c '
import json, sys
r = json.load(open("report.json"))
assert r["processor"]["cores"] >= 1 and r["processor"]["level"] in ("avx512", "avx2", "base"), r
assert r["memory"]["gb"] > r["memory"]["available_gb"] > 0, r
assert [l["name"] for l in r["libraries"]] == ["cairo", "libpq", "libduckdb"], r
assert "store" not in r, r
'
ok env PARSREC_CAIRO=nothing.so PARSREC_LIBPQ=nothing.so PARSREC_DUCKDB=nothing.so "$PARSREC" doctor
says "cairo        none: picture files need cairo, which cannot be loaded; install it (Debian: apt install libcairo2)"
says "libpq        none: PostgreSQL addresses need libpq"
says "libduckdb    none: Parquet files and DuckDB queries need libduckdb"
ok env PARSREC_CAIRO=nothing.so "$PARSREC" doctor --json
same "$(tr -d ' \n' <stdout | grep -c '"name":"cairo","found":false')" 1 "a missing library in JSON"

# Stores: missing, not a store, one that a server has not used.
fails 1 "none.db: cannot be opened" "$PARSREC" doctor --store sqlite:none.db
absent none.db
echo "text that is not a database, long enough for its header of a hundred bytes, as SQLite wants to see it" >text.db
fails 1 "text.db: cannot be opened: file is not a database" "$PARSREC" doctor --store sqlite:text.db
fails 1 "a store is sqlite:FILE or postgresql://..." "$PARSREC" doctor --store shop.db
fails 1 "postgresql: cannot connect" "$PARSREC" doctor --store postgresql://nobody@127.0.0.1:1/none
if command -v sqlite3 >/dev/null; then
    sqlite3 other.db 'CREATE TABLE t(x)'
    ok "$PARSREC" doctor --store sqlite:other.db
    says "not used by a server yet"
    sqlite3 used.db 'CREATE TABLE parsrec_events(id); INSERT INTO parsrec_events VALUES (1), (2), (3)'
    ok "$PARSREC" doctor --store sqlite:used.db --json
    same "$(tr -d ' \n' <stdout | grep -c '"used":true,"events":3')" 1 "events of a store"
fi
# A server: none, one that is not ours, and one of ours (test_serve.sh).
fails 1 "no server answers at 127.0.0.1:1" "$PARSREC" doctor --server 127.0.0.1:1
fails 1 "a server's address is HOST:PORT" "$PARSREC" doctor --server localhost
fails 1 "a server's address is HOST:PORT" "$PARSREC" doctor --server "localhost:$(printf %0600d 8080)"
fails 2 "unexpected argument" "$PARSREC" doctor shop.model
