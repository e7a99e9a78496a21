#!/bin/sh
# Builds a wheel of the Python package with the shared library inside, off line.
# usage: scripts/build_wheel.sh [FOLDER]     FOLDER: where to put it (default: build/wheel)
# Needs nothing but Python. The library is taken from PARSREC_LIBRARY, or from build/release, which is built if
# it is missing.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/wheel}
python=${PYTHON:-/usr/bin/python3}
if [ -z "${PARSREC_LIBRARY-}" ]; then
    PARSREC_LIBRARY=$here/build/release/src/libparsrec.so
    [ -e "$PARSREC_LIBRARY" ] || { cd "$here" && cmake --preset release && cmake --build --preset release --target parsrec_shared; }
fi
export PARSREC_LIBRARY
mkdir -p "$out"
exec "$python" -B "$here/python/build_backend.py" "$out"
