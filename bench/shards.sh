#!/bin/sh
# Imports rows in random order as a file, as a folder of shards by one process, and by several processes that each
# take a part of the shards; then the same rows in another order. Prints rows per second and the peak memory of a
# process, and compares the folders byte by byte and their counts with those of the file.
# usage: bench/shards.sh [ROWS [PROCESSES [FOLDER]]]      10000000 2 $TMPDIR unless given
# ROWS may be the name of a CSV file (.gz too); its columns are recognised as by parsrec import.
# FOLDER needs about 150 bytes of disk per row; everything in it that this script made is removed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rows=${1:-10000000} processes=${2:-2}
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d "${3:-${TMPDIR:-/tmp}}/parsrec-shards.XXXXXX")
trap "rm -rf -- '$work'" EXIT
export PARSREC_PROGRESS=off
case $rows in
*.gz) gunzip -c "$rows" >"$work/rows.csv" ;;
*[!0-9]*) cp "$rows" "$work/rows.csv" ;;
*)
    cc -O2 -o "$work/random_rows" "$here/random_rows.c" -lm
    "$work/random_rows" "$rows" $((rows / 100 + 1)) $((rows / 2000 + 1)) >"$work/rows.csv" 2>"$work/made"
    ;;
esac
cd "$work"
count=$(($(wc -l <rows.csv) - 1))
(head -n 1 rows.csv && tail -n +2 rows.csv | sort -S 1G) >sorted.csv
# timed WHAT COMMAND...: seconds, rows per second, peak memory of the largest process
timed() {
    what=$1
    shift
    env time -f '%e %M' -o time "$@" >out
    awk -v what="$what" -v rows="$count" '{ printf "%-44s %6.1f s  %5.2f million rows/s  peak %5.0f MB\n", what, $1, rows / $1 / 1e6, $2 / 1024 }' time
}
echo "$count rows, $(wc -c <rows.csv | awk '{ printf "%.2f", $1 / 1e9 }') GB of text"
timed "a file" "$parsrec" import -o file.data rows.csv --sort
timed "256 shards, one process" "$parsrec" import --shards -o one rows.csv
timed "256 shards, one process, sorted rows" "$parsrec" import --shards -o two sorted.csv --max-memory 512M
timed "8 shards, one process" "$parsrec" import --shards=8 -o eight rows.csv
timed "dictionary" "$parsrec" import --shards=8 --dictionary -o steps sorted.csv
timed "8 shards, $processes processes, each reads all" sh -c "seq 0 7 | xargs -P $processes -I{} '$parsrec' import --shard {}/8 -o steps rows.csv"
timed "loading and checking the file" "$parsrec" check file.data
timed "loading and checking 256 shards" "$parsrec" check one
diff -r one two && diff -r eight steps && echo "same bytes in any order and from many processes"
for folder in file.data one eight; do
    "$parsrec" info $folder --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*(d["data"][k] if "data" in d else d[k] for k in ("users", "sessions", "items", "actions")))'
done | uniq | awk '{ print "users, sessions, items, actions:", $0 } END { exit NR != 1 }'
