#!/bin/sh
# Damages data sets, models and checkpoints, seals them with a right checksum and tries every public
# call on them under AddressSanitizer and UBSan: bench/mutate.sh [COUNT [SEED [FIRST]]]
# tests/tools/mutate.c says what counts as found. A short run of it is the test cli.mutate.
set -eu
count=${1:-150000}
seed=${2:-1}
first=${3:-0}
cd "$(dirname "$0")/.."
cmake -B build/mutate -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g" -DPARSREC_SANITIZE=address,undefined >/dev/null
cmake --build build/mutate --target mutate >/dev/null
folder=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-mutate.XXXXXX")
if build/mutate/tests/mutate "$folder/work" "$count" "$seed" "$first"; then
    rm -rf "$folder"
else
    echo "what was found is in $folder/work"
    exit 1
fi
