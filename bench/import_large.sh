#!/bin/sh
# Imports rows in random order, more than the memory allowed, and compares the counts with those of the
# program that made the rows. Prints rows per second and the peak memory.
# usage: bench/import_large.sh [ROWS [MEMORY [FOLDER]]]      200000000 1G $TMPDIR unless given
# FOLDER needs about 100 bytes of disk per row; everything in it that this script made is removed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rows=${1:-200000000} memory=${2:-1G}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d "${3:-${TMPDIR:-/tmp}}/parsrec-large.XXXXXX")
trap "rm -rf -- '$work'" EXIT
cc -O2 -o "$work/random_rows" "$here/random_rows.c" -lm
"$work/random_rows" "$rows" $((rows / 100 + 1)) $((rows / 2000 + 1)) >"$work/rows.csv" 2>"$work/expected"
env time -f '%e %M %U %S' -o "$work/time" "$parsrec" import -o "$work/rows.data" "$work/rows.csv" --sort \
    --max-memory "$memory" --json >"$work/report.json"
python3 - "$work" "$rows" "$memory" <<'PYTHON'
import json, os, sys
work, rows, memory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
expected = open(work + "/expected").read().strip()
report = json.load(open(work + "/report.json"))
seconds, kilobytes, user, system = map(float, open(work + "/time").read().split())
got = "%(users)d users, %(sessions)d sessions, %(items)d items, %(actions)d actions" % report
print("%d rows, %.1f GB of text, at most %s" % (rows, os.path.getsize(work + "/rows.csv") / 1e9, memory))
print("%.0f s, %.0f of them processor time, %.2f million rows/s, peak %.0f MB"
      % (seconds, user + system, rows / seconds / 1e6, kilobytes / 1024))
print("expected %s\ngot      %s" % (expected, got))
sys.exit(expected != got)
PYTHON
