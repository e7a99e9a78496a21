# The same rows from CSV, standard input, Parquet, Arrow arrays, a pandas frame, SQLite and PostgreSQL are the same
# data set: one checksum. The name of an input is part of it, so all are imported under one name.
rows=$folder/orders.csv
awk 'BEGIN {
    print "user,session,time,item"
    for (u = 0; u < 40; u++)
        for (s = 0; s < 6; s++)
            for (k = 0; k < 1 + (u + s) % 4; k++)
                printf "%s%03d,%d-%d,2024-%02d-%02d %02d:30:0%d,%s %d\n", u % 3 ? "K" : "", u, u, s, 1 + s, 1 + u % 28, u % 24, k,
                    (u + k) % 5 ? "art" : "\"said \"\"čaj\"\", a\"", (u * 7 + s * 3 + k) % 50
}' | sed 's/" \([0-9]*\)$/ \1"/' >"$rows"
checksum() { "$PARSREC" info "$1" --json | tr -d ' ' | grep -o '"checksum":"[^"]*"' | head -n 1; }
# equal FILE WHAT: the data set of this input is that of the CSV file.
equal() { same "$(checksum "$1")" "$(checksum csv.st)" "checksum of $2"; }

ok "$PARSREC" import -o csv.st "$rows" --name orders
ok test -n "$(checksum csv.st)"
ok sh -c '"$PARSREC" import -o stdin.st - --name orders <"$1"' - "$rows"
equal stdin.st "standard input"
ok "$PARSREC" import -o other.st "$rows"
if [ "$(checksum other.st)" = "$(checksum csv.st)" ]; then fail "the name is not part of the data set"; else pass; fi

if command -v sqlite3 >/dev/null; then
    ok sqlite3 shop.db ".mode csv" ".import $rows orders"
    ok "$PARSREC" import -o sqlite.st sqlite:shop.db --table orders --name orders
    equal sqlite.st SQLite
fi

duckdb=$PARSREC_SOURCE/build/duckdb/libduckdb.so
if [ -e "$duckdb" ]; then
    PARSREC_DUCKDB=$duckdb
    export PARSREC_DUCKDB
    ok "$PARSREC" import -o query.st duckdb: --query "SELECT * FROM read_csv('$rows', all_varchar = true)" --name orders
    equal query.st "a DuckDB query"
    ok "$PARSREC" export csv.st -o orders.parquet
    ok "$PARSREC" import -o parquet.st orders.parquet --name orders
    ok "$PARSREC" export csv.st -o orders.again.csv
    ok "$PARSREC" import -o again.st orders.again.csv --name orders
    same "$(checksum parquet.st)" "$(checksum again.st)" "checksum of Parquet"
fi

# Python loads no library with AddressSanitizer; tests/python.sh does that for the package's own tests.
if /usr/bin/python3 -c 'import numpy, pandas' 2>/dev/null && ! nm -D "$PARSREC_LIBRARY" | grep -q __asan_init; then
    cat >frames.py <<'P'
import sys

import pandas as pd

sys.path.insert(0, sys.argv[1])
import parsrec

frame = pd.read_csv(sys.argv[2], dtype=str)
parsrec.Dataset.from_frame(frame, name="orders").save("pandas.st")
arrays = {name: frame[name].to_numpy(dtype=object) for name in frame.columns}
parsrec.Dataset.from_frame(arrays, name="orders").save("arrays.st")
frame["time"] = pd.to_datetime(frame["time"])
for name in ("user", "session", "item"):
    frame[name] = frame[name].astype("category")
parsrec.Dataset.from_frame(frame, name="orders").save("typed.st")
P
    if /usr/bin/python3 frames.py "$PARSREC_SOURCE/python" "$rows" >stdout 2>stderr; then
        equal pandas.st "a pandas frame"
        equal arrays.st "arrays in Arrow's form"
        equal typed.st "a pandas frame with times and categories"
    else
        fail "frames: $(tail -n 1 stderr)"
    fi
fi

. "$PARSREC_SOURCE/tests/cli/postgres.sh"
ok psql -q "$url" -c 'CREATE TABLE orders("user" text, session text, "time" text, item text, at serial)' \
    -c "\\copy orders(\"user\", session, \"time\", item) FROM '$rows' CSV HEADER"
ok "$PARSREC" import -o postgres.st "$url" --query 'SELECT "user", session, "time", item FROM orders ORDER BY at' --name orders
equal postgres.st PostgreSQL
ok psql -q "$url" -c 'ALTER TABLE orders ALTER "time" TYPE timestamp USING "time"::timestamp'
ok "$PARSREC" import -o stamped.st "$url" --query 'SELECT "user", session, "time", item FROM orders ORDER BY at' --name orders
equal stamped.st "PostgreSQL with timestamps"
