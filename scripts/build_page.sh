#!/bin/sh
# Makes the page of `parsrec serve` into TREE/web/dist/web_files.c, so that a build of TREE needs neither Node
# nor a network. Does nothing if it is there already.
# usage: scripts/build_page.sh TREE
set -eu
tree=$1
made=$tree/web/dist/web_files.c
[ -e "$made" ] && exit 0
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-page.XXXXXX")
trap 'case $work in */parsrec-page.??????) rm -rf "$work" ;; esac' EXIT
cp -R "$tree/web/." "$work/"
(cd "$work" && { [ -d node_modules ] || npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null; } &&
    node build.mjs files && node embed.mjs files web_files.c)
mkdir -p "$tree/web/dist"
cp "$work/web_files.c" "$made"
