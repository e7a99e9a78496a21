#!/bin/sh
# libcsv against our CSV reader on the same file, both giving every field and doing nothing with it.
# usage: bench/csv_reader.sh [FILE.csv]     Without a file: a synthetic one of 5.8 M rows.
# Needs the release build (./check --build-only) and libcsv (Debian: libcsv-dev).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/release/src
work=$(mktemp -d)
trap "rm -rf -- '$work'" EXIT
if [ $# -eq 0 ]; then
    "$build/parsrec" synth --users 8192 --sessions 170 --csv "$work/synthetic.csv" >/dev/null
    set -- "$work/synthetic.csv"
fi
cc -std=c11 -O2 -D_GNU_SOURCE -I"$here/../src" -I"$here/../include" "$here/csv_reader.c" \
    "$build/libparsrec.a" -lcsv $(pkg-config --libs jansson sqlite3 libpq libzstd zlib cairo) \
    -lpthread -lm -o "$work/csv_reader"
"$work/csv_reader" "$1"
