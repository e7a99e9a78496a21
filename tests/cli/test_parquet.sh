# Parquet files and DuckDB queries: the same data set as from CSV, options, mistakes; export.
# Needs DuckDB's library, which scripts/get_duckdb.sh puts into build/duckdb.
shop=$PARSREC_SOURCE/examples/corner_shop.csv

# Without the library, one sentence. CSV needs no library.
PARSREC_DUCKDB=$folder/nothing.so
export PARSREC_DUCKDB
fails 1 "Parquet files and DuckDB queries need libduckdb, which cannot be loaded; get it from the npm package" \
    "$PARSREC" import -o x.st orders.parquet
absent x.st
ok "$PARSREC" import -o shop.st "$shop"
fails 1 "need libduckdb" "$PARSREC" export shop.st -o shop.parquet
absent shop.parquet
ok "$PARSREC" export shop.st -o actions.csv
same "$(head -n 2 actions.csv | tr '\n' ' ')" "user,session,time,item K01,1-1,2024-01-03T00:00:00Z,1280 " "exported CSV"
same "$(wc -l <actions.csv)" "$(wc -l <"$shop")" "exported rows"
ok "$PARSREC" export shop.st -o -
same "$(cksum <stdout)" "$(cksum <actions.csv)" "standard output"
fails 2 "no output" "$PARSREC" export shop.st
fails 1 "is a table already" "$PARSREC" export actions.csv -o other.csv
fails 1 "not a data set" "$PARSREC" export "$PARSREC_SOURCE/README.md" -o other.csv

PARSREC_DUCKDB=$PARSREC_SOURCE/build/duckdb/libduckdb.so
if [ ! -e "$PARSREC_DUCKDB" ]; then
    echo "skipped: $PARSREC_DUCKDB is not there (scripts/get_duckdb.sh fetches it)"
    [ "$failed" -eq 0 ] && exit 77
    return
fi

# The name of the input is part of a data set, so the two files have one name in two folders.
checksum() { "$PARSREC" info "$1" --json | tr -d ' ' | grep -o '"checksum":"[^"]*"' | head -n 1; }
mkdir csv typed
ok "$PARSREC" export shop.st -o actions.parquet
same "$(find . -name '*.tmp')" "" "temporary files"
mv actions.csv csv/orders
cp actions.parquet typed/orders
ok "$PARSREC" import -o a.st csv/orders
ok "$PARSREC" import -o b.st parquet:typed/orders
same "$(checksum a.st)" "$(checksum b.st)" "checksum of CSV and Parquet"
ok test -n "$(checksum a.st)"
ok "$PARSREC" import -o c.st actions.parquet --json
says '"rows_read":3153'

# Keys that look like numbers, empty fields, quotes, letters beyond ASCII, dates, times with zones.
cat >odd.csv <<'C'
user,session,time,item,price,note
007,1,2024-01-03 10:20:30,"a ""b"", c",1.50,x
007,1,2024-01-03 10:20:30,čaj,,
8,2,2024-02-03 00:00:00,0010,2.25,"line
two"
C
cp odd.csv csv/odd
ok "$PARSREC" import -o o.st csv/odd
sql="SELECT \"user\", session, CAST(time AS TIMESTAMP) AS time, item, CAST(price AS DOUBLE) AS price FROM read_csv('odd.csv', all_varchar = true)"
ok "$PARSREC" import -o d.st duckdb: --query "$sql;"
items() { "$PARSREC" list "$1" items --json; }
same "$(items d.st)" "$(items o.st)" "items of a query"
ok "$PARSREC" export d.st -o d.csv
ok "$PARSREC" export o.st -o o.csv
ok cmp d.csv o.csv
ok grep -q '^007,1-1,2024-01-03T10:20:30Z,"a ""b"", c"$' d.csv
# Types that are read as text: decimals, booleans, wide numbers.
ok "$PARSREC" import -o w.st duckdb: --query "SELECT 'u' || (i % 3) AS \"user\", CAST(i // 4 AS HUGEINT) AS session, (i % 5 = 0) AS item FROM range(24) t(i)" --time ''
ok "$PARSREC" export w.st -o -
says ",true"
says ",false"

# One table with everything: names, categories and returns; a quantity of a type of its own.
printf 'customer,order,product_id,product_name,category,quantity\na,1,7,Tea,Drinks,1.0\na,1,8,Jam,Food,-1.0\nb,2,8,Jam,Food,2.5\n' >sheet.csv
ok "$PARSREC" import -o s.st duckdb: --query "SELECT * REPLACE (CAST(quantity AS DECIMAL(9, 2)) AS quantity) FROM read_csv('sheet.csv')"
says "item = product_id, name = product_name, category = category, quantity = quantity"
says "1  return"
ok "$PARSREC" list s.st items
says "Jam"

# Several files, a query over them, items from Parquet.
mkdir parts
ok "$PARSREC" export o.st -o parts/1.parquet
ok "$PARSREC" export d.st -o parts/2.parquet
ok "$PARSREC" import -o p.st 'parquet:parts/*.parquet' --json
says '"rows_read":6'
ok "$PARSREC" import -o p.st 'parquet:parts/*.parquet' --query "SELECT * FROM input WHERE \"user\" = '8' -- one user" --json
says '"rows_read":2'
printf 'item,name,category\n1280,Tea,Drinks\n' >items.csv
ok "$PARSREC" export items.csv -o items.parquet
ok "$PARSREC" import -o i.st actions.parquet --items items.parquet --json
says '"role":"category"'

# A database file, read only.
fails 1 "name a table with --table or give --query" "$PARSREC" import -o x.st duckdb:
fails 1 "Parquet files have no tables" "$PARSREC" import -o x.st actions.parquet --table t
fails 1 "none.parquet: cannot be read: IO Error: No files found" "$PARSREC" import -o x.st none.parquet
fails 1 "cannot be read" "$PARSREC" import -o x.st duckdb: --query "SELECT 1; DROP TABLE t"
fails 1 "cannot be opened" "$PARSREC" import -o x.st duckdb:none.db --table t
head -c 900 actions.parquet >cut.parquet
fails 1 "cut.parquet: cannot be read" "$PARSREC" import -o x.st cut.parquet
fails 1 "parquet:csv/orders: cannot be read" "$PARSREC" import -o x.st parquet:csv/orders
fails 1 "there is no column 'sku'" "$PARSREC" import -o x.st actions.parquet --item sku
absent x.st
