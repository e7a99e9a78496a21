#!/bin/sh
# Makes every allocation of every public call fail in turn, Jansson's too, under AddressSanitizer:
#   bench/no_memory.sh [COUNT [CALL]]
# COUNT failures of each call at equal distances, or all of them, which takes hours for compare, ablate and tune; CALL
# is one of the calls that the test lists, such as explain. The test unit.no_memory tries a few failures of each.
set -eu
cd "$(dirname "$0")/.."
cmake -B build/mutate -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g" -DPARSREC_SANITIZE=address,undefined >/dev/null
cmake --build build/mutate --target test_no_memory >/dev/null
[ $# -lt 2 ] || export PARSREC_CALL="$2"
PARSREC_ALLOCATIONS=${1:-all} LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0 \
    build/mutate/tests/test_no_memory
