#!/bin/sh
# Makes every allocation of every public call fail in turn, under AddressSanitizer: bench/no_memory.sh [COUNT [CALL]]
# COUNT failures of each call at equal distances, or all of them, which takes about half an hour; CALL is one of
# the calls that the test lists, such as explain. The test unit.no_memory tries 40 failures of each.
set -eu
cd "$(dirname "$0")/.."
cmake --preset dev >/dev/null
cmake --build --preset dev --target test_no_memory >/dev/null
[ $# -lt 2 ] || export PARSREC_CALL="$2"
PARSREC_ALLOCATIONS=${1:-all} LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0 \
    build/dev/tests/test_no_memory
