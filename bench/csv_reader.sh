#!/bin/sh
# libcsv against our CSV reader on the same file, both giving every field and doing nothing with it.
# usage: bench/csv_reader.sh [FILE.csv|FILE.csv.gz]     Without a file: a synthetic one of 5.8 M rows.
# A compressed file is inflated first, and the time of that alone is shown too.
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
case $1 in
*.gz)
    /usr/bin/python3 - "$1" "$work/plain.csv" <<'PYTHON'
import sys, time, zlib

packed = open(sys.argv[1], "rb").read()
began = time.perf_counter()
text = zlib.decompressobj(31).decompress(packed)
print(f"zlib    {time.perf_counter() - began:6.3f} s to inflate {len(text) / 1e6:.1f} MB")
open(sys.argv[2], "wb").write(text)
PYTHON
    set -- "$work/plain.csv"
    ;;
esac
cc -std=c11 -O2 -D_GNU_SOURCE -I"$here/../src" -I"$here/../include" "$here/csv_reader.c" \
    "$build/libparsrec.a" -lcsv $(pkg-config --libs jansson sqlite3 libpq libzstd zlib cairo) \
    -lpthread -lm -o "$work/csv_reader"
"$work/csv_reader" "$1"
