#!/bin/sh
# 5.8 M rows from CSV, Parquet, SQLite, PostgreSQL, Arrow arrays and a pandas frame: seconds and checksums.
# usage: bench/same_rows.sh [path of parsrec [USERS]]     Goal: one checksum.
# Needs DuckDB's library (scripts/get_duckdb.sh), sqlite3, PostgreSQL and pandas; what is missing is left out.
# tests/cli/test_same_rows.sh is the same with few rows.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
parsrec=$(readlink -f "${1:-$here/build/release/src/parsrec}")
users=${2:-8192}
: "${PARSREC_DUCKDB:=$here/build/duckdb/libduckdb.so}" "${PARSREC_LIBRARY:=$(dirname "$parsrec")/libparsrec.so.0}"
export PARSREC_DUCKDB PARSREC_LIBRARY PARSREC_PROGRESS=off
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-rows.XXXXXX")
clean_up() { :; }
trap 'clean_up; case $work in */parsrec-rows.??????) rm -rf "$work" ;; esac' EXIT
cd "$work"
checksums=
# row NAME FILE SECONDS: a line of the table.
row() {
    sum=$("$parsrec" info --json "$2" | tr -d ' ' | grep -o '"checksum":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    printf '%-12s %8s s   %s\n' "$1" "$3" "$sum"
    checksums="$checksums $sum"
    rm -f "$2"
}
# measure NAME INPUT [OPTIONS]: imports it and prints its line.
measure() {
    name=$1
    shift
    began=$(date +%s.%N)
    "$parsrec" import -o made.st "$@" --name orders --json >/dev/null
    row "$name" made.st "$(echo "$(date +%s.%N) $began" | awk '{ printf "%.2f", $1 - $2 }')"
}

"$parsrec" synth --users "$users" --sessions 170 -o data.st >/dev/null
"$parsrec" export data.st -o orders.csv
rm data.st
measure CSV orders.csv
if [ -e "$PARSREC_DUCKDB" ]; then
    "$parsrec" import -o data.st orders.csv >/dev/null
    "$parsrec" export data.st -o orders.parquet
    rm data.st
    measure Parquet orders.parquet
fi
if command -v sqlite3 >/dev/null; then
    sqlite3 shop.db '.mode csv' '.import orders.csv orders'
    measure SQLite sqlite:shop.db --table orders
    rm shop.db
fi
if /usr/bin/python3 -c 'import pandas' 2>/dev/null; then
    /usr/bin/python3 - "$here/python" >times <<'PYTHON'
import sys
import time

import pandas as pd

sys.path.insert(0, sys.argv[1])
import parsrec

frame = pd.read_csv("orders.csv", dtype=str)
for name, table in (("pandas", frame), ("Arrow", {c: frame[c].to_numpy(dtype="S") for c in frame.columns})):
    began = time.perf_counter()
    parsrec.Dataset.from_frame(table, name="orders").save(name + ".st")
    print(name, f"{time.perf_counter() - began:.2f}")
PYTHON
    while read -r name seconds; do row "$name" "$name.st" "$seconds"; done <times
fi
missing() { echo "PostgreSQL is left out: $1"; }
if command -v psql >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    . "$here/tests/cli/postgres.sh"
    psql -q "$url" -c 'CREATE UNLOGGED TABLE orders(at bigserial, "user" text, session text, "time" text, item text)' \
        -c "\\copy orders(\"user\", session, \"time\", item) FROM 'orders.csv' CSV HEADER"
    measure PostgreSQL "$url" --query 'SELECT "user", session, "time", item FROM orders ORDER BY at'
fi
# shellcheck disable=SC2086 # a list of words
if [ "$(printf '%s\n' $checksums | sort -u | wc -l)" -eq 1 ]; then echo "goal: one checksum: reached"; else echo "goal: one checksum: missed"; exit 1; fi
