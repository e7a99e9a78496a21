#!/bin/sh
# Runs one file of python/tests with pytest; exit 77 (skipped) if pytest or numpy is missing.
# usage: tests/python.sh FILE     PARSREC_LIBRARY names the library under test
set -u
python=/usr/bin/python3
for module in numpy pytest; do
    if ! "$python" -c "import $module" 2>/dev/null; then
        echo "skipped: $python has no module $module (Debian: python3-$module)"
        exit 77
    fi
done
# A library with AddressSanitizer needs its runtime loaded first. Python itself does not free everything.
if nm -D "$PARSREC_LIBRARY" | grep -q __asan_init; then
    LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
    ASAN_OPTIONS=detect_leaks=0
    export LD_PRELOAD ASAN_OPTIONS
fi
exec "$python" -B -m pytest -q -rs -p no:cacheprovider "$1"
