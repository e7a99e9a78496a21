#!/bin/sh
# Runs one CLI test in an empty folder of its own, with the helpers of lib.sh.
# A test is a script of calls such as:
#   ok    "$PARSREC" info data.st          the command exits 0
#   fails 1 "no such column" "$PARSREC" …  it exits 1 and one line on stderr has that text
# Exit 77 skips (CTest shows it as skipped).
set -u
test_script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
cd "$folder" || exit 1
. "$PARSREC_SOURCE/tests/cli/lib.sh"
. "$test_script"
finish
