#!/bin/sh
# How many of our source files one basket passes through on its way from CSV line to answer: files of
# which at least one function runs, as callgrind sees them. Headers count for their inline functions.
# Import, training and the command line are counted from start to end of the program, the HTTP answer
# from the arrival of one request to its end, in a server that has answered before.
#
# usage: scripts/walk_files.sh [PROGRAM]         WALK_LIST=1 prints the files as well
# PROGRAM must be built without optimisation and sanitizers, so that every function can be seen:
#   cmake -B build/walk -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O0 && cmake --build build/walk --target parsrec
set -eu
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/walk/src/parsrec}")
source=$PWD
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"

report() {
    grep -E '^c?f[lie]=' "$1.out" | grep -oE '/src/[a-z_/0-9]+\.[ch]$' | sort -u >"$1.files"
    echo "$1: $(wc -l <"$1.files") files, $(grep -c '\.c$' "$1.files") of them .c"
    [ -z "${WALK_LIST:-}" ] || sed 's/^./    /' "$1.files"
}

count() {
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file="$name.out" "$@" >"$name.log" 2>&1 ||
        { cat "$name.log" >&2; exit 1; }
    report "$name"
}

count import "$program" import "$source/examples/corner_shop.csv" -o data.st
count training "$program" train data.st -o model.st --epochs 1 --threads 1
count command-line "$program" recommend model.st --user K03 --basket 1280

valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=http.out \
    "$program" serve model.st --listen 127.0.0.1:0 --store none --no-quality >serve.log 2>&1 &
server=$!
for _ in $(seq 100); do
    url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' serve.log || true)
    [ -z "$url" ] || break
    sleep 0.3
done
ask() { curl -sf "$url/v1/recommend" -d '{"user": "K03", "basket": ["1280"]}' >/dev/null; }
ask
callgrind_control -i on "$server" >/dev/null 2>&1
ask
callgrind_control -d "$server" >/dev/null 2>&1
kill "$server"
wait "$server" || true
server=
mv http.out.1 http.out && report http
