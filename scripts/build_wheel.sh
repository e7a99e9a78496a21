#!/bin/sh
# Builds a wheel of the Python package with the shared library inside, off line.
# usage: scripts/build_wheel.sh [FOLDER]     FOLDER: where to put it (default: build/wheel)
# Needs python3-pip, python3-setuptools and python3-wheel. The library is taken from PARSREC_LIBRARY, or
# from build/release, which is built if it is missing.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/wheel}
python=${PYTHON:-/usr/bin/python3}
if [ -z "${PARSREC_LIBRARY-}" ]; then
    PARSREC_LIBRARY=$here/build/release/src/libparsrec.so
    [ -e "$PARSREC_LIBRARY" ] || { cd "$here" && cmake --preset release && cmake --build --preset release --target parsrec_shared; }
fi
PARSREC_LIBRARY=$(readlink -f "$PARSREC_LIBRARY")
export PARSREC_LIBRARY
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-wheel.XXXXXX")
trap 'case $work in */parsrec-wheel.??????) rm -rf "$work" ;; esac' EXIT
cp -R "$here/python" "$work/python"
rm -rf "$work/python/build" "$work/python/parsrec.egg-info"
mkdir -p "$out"
"$python" -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir "$out" "$work/python"
ls "$out"/parsrec-*.whl
