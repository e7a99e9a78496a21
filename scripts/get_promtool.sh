#!/bin/sh
# Unpacks promtool of Debian's package prometheus into a folder, without installing the package, whose service
# would start.
# usage: scripts/get_promtool.sh [FOLDER]     FOLDER: where promtool goes (default: build/promtool)
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/promtool}
[ ! -x "$out/promtool" ] || exit 0
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-promtool.XXXXXX")
trap 'case $work in */parsrec-promtool.??????) rm -rf "$work" ;; esac' EXIT
(cd "$work" && apt-get -q -o APT::Sandbox::User=root download prometheus && dpkg-deb -x ./prometheus_*.deb unpacked)
mkdir -p "$out"
cp "$work/unpacked/usr/bin/promtool" "$out/promtool"
