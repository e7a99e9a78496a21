#!/bin/sh
# Fetches DuckDB's shared library from npm, for `parsrec import` of Parquet files and DuckDB queries.
# usage: scripts/get_duckdb.sh [FOLDER]     FOLDER: where libduckdb.so goes (default: build/duckdb)
# Then: export PARSREC_DUCKDB=FOLDER/libduckdb.so, or put it at /usr/local/lib/parsrec/libduckdb.so.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/duckdb}
version=1.5.6-r.1
case $(uname -m) in
x86_64) kind=linux-x64 ;;
aarch64) kind=linux-arm64 ;;
*)
    echo "there is no package of DuckDB for $(uname -m)" >&2
    exit 1
    ;;
esac
if [ -e "$out/libduckdb.so" ] && [ "$(cat "$out/version" 2>/dev/null)" = "$version" ]; then exit 0; fi
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-duckdb.XXXXXX")
trap 'case $work in */parsrec-duckdb.??????) rm -rf "$work" ;; esac' EXIT
(cd "$work" && npm pack --silent "@duckdb/node-bindings-$kind@$version" >/dev/null && tar xzf ./*.tgz)
mkdir -p "$out"
cp "$work/package/LICENSE" "$out/LICENSE"
cp "$work/package/libduckdb.so" "$out/libduckdb.so.tmp"
mv "$out/libduckdb.so.tmp" "$out/libduckdb.so"
echo "$version" >"$out/version"
