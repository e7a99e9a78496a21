#!/bin/sh
# Builds the Debian packages from the committed sources, with the page inside, and checks them with lintian.
# usage: scripts/build_deb.sh [FOLDER]     FOLDER: where to put them (default: build/deb)
# The working tree is not changed: `git archive HEAD`, or the whole tree of a release archive, is copied.
# Needs the packages of debian/control, dpkg-dev, lintian, and Node with npm for the page unless web/dist
# has it.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/deb}
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(sed -n 's/^parsrec (\(.*\)) .*/\1/p' "$here/debian/changelog" | head -n 1)
work=$out/work
case $work in */work) rm -rf "$work" ;; esac
mkdir "$work"
tree=$work/parsrec-$version
mkdir "$tree"
if [ -e "$here/.git" ]; then
    git -C "$here" archive HEAD | tar -x -C "$tree"
else
    tar -c -C "$here" --exclude=./build --exclude=./out . | tar -x -C "$tree"
fi
"$here/scripts/build_page.sh" "$tree"
cd "$tree"
dpkg-buildpackage -us -uc -b >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log" >&2; exit 1; }
rm -f "$out"/*.deb
cp "$work"/*.deb "$out"
cp "$work"/*.changes "$work"/*.buildinfo "$out"
cd "$work"
lintian --fail-on error,warning --tag-display-limit 0 ./*.changes
ls "$out"/*.deb
