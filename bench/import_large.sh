#!/bin/sh
# Imports rows in random order, more than the memory allowed, and compares the counts with those of the
# program that made the rows. Prints rows per second and the peak memory.
# usage: bench/import_large.sh [ROWS [MEMORY [FOLDER]]]      200000000 1G $TMPDIR unless given
#        bench/import_large.sh beside [ROWS [FOLDER]]        20000000 unless given
#   beside: the same rows by parsrec without a limit, by DuckDB and by pandas (import_beside.py), three rounds in turns.
#           Each reads the text, keeps an item once per session, sorts by user and time and writes the result. Needs
#           DuckDB's library (scripts/get_duckdb.sh), and memory for what pandas takes: 400 bytes per row.
# FOLDER needs about 100 bytes of disk per row; everything in it that this script made is removed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
beside= rows=200000000 memory=1G
[ "${1-}" != beside ] || { beside=yes rows=20000000 memory=; shift; }
[ $# -eq 0 ] || { rows=$1; shift; }
[ -n "$beside" ] || [ $# -eq 0 ] || { memory=$1; shift; }
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
: "${PARSREC_DUCKDB:=$here/../build/duckdb/libduckdb.so}"
work=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/parsrec-large.XXXXXX")
trap "rm -rf -- '$work'" EXIT
cc -O2 -o "$work/random_rows" "$here/random_rows.c" -lm
"$work/random_rows" "$rows" $((rows / 100 + 1)) $((rows / 2000 + 1)) >"$work/rows.csv" 2>"$work/expected"

# A command with its time (wall, user, system) and peak memory.
measured() { # NAME COMMAND...
    name=$work/$1
    shift
    env time -f '%e %M %U %S' -o "$name.time" "$@" >"$name.json"
}

if [ -n "$beside" ]; then
    for round in 1 2 3; do
        measured parsrec.$round "$parsrec" import -o "$work/rows.data" "$work/rows.csv" --sort --json
        measured duckdb.$round /usr/bin/python3 "$here/import_beside.py" duckdb "$PARSREC_DUCKDB" "$work/rows.csv" \
            "$work/rows.parquet"
        measured pandas.$round /usr/bin/python3 "$here/import_beside.py" pandas "$work/rows.csv" "$work/rows.npy"
    done
    set -- parsrec duckdb pandas
else
    measured parsrec.1 "$parsrec" import -o "$work/rows.data" "$work/rows.csv" --sort --max-memory "$memory" --json
    set -- parsrec
fi
/usr/bin/python3 - "$work" "$rows" "$memory" "$@" <<'PYTHON'
import glob, json, os, statistics, sys
work, rows, memory, *names = sys.argv[1:]
expected = open(work + "/expected").read().strip()
limit = f", at most {memory}" if memory else ""
print(f"{int(rows):,d} rows, {os.path.getsize(work + '/rows.csv') / 1e9:.1f} GB of text{limit}")
wrong = False
for name in names:
    runs = sorted(glob.glob(f"{work}/{name}.*.json"))
    reports = [json.load(open(run)) for run in runs]
    costs = [tuple(map(float, open(run[:-4] + "time").read().split())) for run in runs]
    # The time of the whole process for parsrec; without starting Python and loading the library for the others.
    seconds = statistics.median(r.get("seconds", c[0]) if name != "parsrec" else c[0] for r, c in zip(reports, costs))
    read = f" ({statistics.median(r['read'] for r in reports):.1f} until read)" if "read" in reports[0] else ""
    print(f"{name:8s} {seconds:6.1f} s{read}, processor {statistics.median(c[2] + c[3] for c in costs):.0f} s, "
          f"{int(rows) / seconds / 1e6:.2f} million rows/s, peak {max(c[1] for c in costs) / 1024:,.0f} MB")
    for report in reports:
        got = "%(users)d users, %(sessions)d sessions, %(items)d items, %(actions)d actions" % report
        if got != expected:
            wrong = True
            print(f"{name}: expected {expected}, got {got}")
print("counts as expected: " + ("no" if wrong else "yes") + ", " + expected)
sys.exit(wrong)
PYTHON
