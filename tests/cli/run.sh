#!/bin/sh
# Runs one CLI test in an empty folder of its own, with the helpers of lib.sh.
# A test is a script of calls such as:
#   ok    "$PARSREC" info data.st          the command exits 0
#   fails 1 "no such column" "$PARSREC" …  it exits 1 and one line on stderr has that text
# Exit 77 skips (CTest shows it as skipped).
#
# The test runs in a shell of its own: whatever it calls its variables, what is removed at the end is
# the folder made here and nothing else. A test that starts servers stops them in `clean_up`.
set -u
# What a busy machine would show of progress is not what tests look at.
export PARSREC_PROGRESS=off
if [ "${1-}" = --inside ]; then
    folder=$PWD
    clean_up() { :; }
    trap 'clean_up' EXIT
    trap 'exit 1' INT TERM
    . "$PARSREC_SOURCE/tests/cli/lib.sh"
    . "$2"
    finish
fi
run_made=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-cli.XXXXXX") || exit 1
readonly run_made
cd "$run_made" || exit 1
sh "$PARSREC_SOURCE/tests/cli/run.sh" --inside "$1"
code=$?
cd / && case $run_made in */parsrec-cli.??????) rm -rf "$run_made" ;; esac
exit $code
