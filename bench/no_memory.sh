#!/bin/sh
# Makes every allocation of every public call fail in turn, under AddressSanitizer: bench/no_memory.sh [COUNT]
# COUNT failures of each call at equal distances, or all of them, which takes about half an hour. The test
# unit.no_memory tries 40 of each.
set -eu
cd "$(dirname "$0")/.."
cmake --preset dev >/dev/null
cmake --build --preset dev --target test_no_memory >/dev/null
PARSREC_ALLOCATIONS=${1:-all} LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0 \
    build/dev/tests/test_no_memory
