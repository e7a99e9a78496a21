#!/bin/sh
# Runs one file of python/tests with pytest; exit 77 (skipped) if pytest or numpy is missing. In ./check, which sets
# PARSREC_COMPLETE, what is missing is a failure: all but modules that Debian 12 does not have.
# usage: tests/python.sh FILE     PARSREC_LIBRARY names the library under test
set -u
python=/usr/bin/python3
for module in numpy pytest; do
    "$python" -c "import $module" 2>/dev/null && continue
    [ -z "${PARSREC_COMPLETE:-}" ] || { echo "FAILED: $python has no module $module"; exit 1; }
    echo "skipped: $python has no module $module (Debian: python3-$module)"
    exit 77
done
# A library with AddressSanitizer needs its runtime loaded first. Python itself does not free everything.
if nm -D "$PARSREC_LIBRARY" | grep -q __asan_init; then
    LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
    ASAN_OPTIONS=detect_leaks=0
    export LD_PRELOAD ASAN_OPTIONS
fi
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
"$python" -B -m pytest -q -rs -p no:cacheprovider "$1" >"$said" 2>&1
code=$?
unset LD_PRELOAD
cat "$said"
if [ -n "${PARSREC_COMPLETE:-}" ] && grep '^SKIPPED' "$said" | grep -vE "'(pyarrow|polars)'|AddressSanitizer"; then
    echo "FAILED: these were skipped"
    exit 1
fi
exit $code
