#!/bin/sh
# Every measure of every protocol computed again by a second program, over whole data sets: sampled
# rankings of everybody, full rankings of some users. Fails if one number differs by more than 1e-6.
#   bench/measures_peer.sh DATA [MODEL...]        MODEL: files, or kinds that count; pop and personal if none
# FULL_USERS (300) are ranked against the whole catalogue. Uses build/release/src/parsrec, or what PARSREC names.
set -eu
data=${1:?usage: bench/measures_peer.sh DATA [MODEL...]}
shift
[ $# -gt 0 ] || set -- pop personal
root=$(cd "$(dirname "$0")/.." && pwd)
parsrec=${PARSREC:-$root/build/release/src/parsrec}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# judge MODEL OPTIONS...: the scores go through a pipe; the report is there when the pipe has ended.
judge() {
    model=$1
    shift
    "$parsrec" eval "$model" "$data" "$@" --json --dump-scores /dev/fd/3 3>&1 >"$work/report" 2>/dev/null |
        python3 "$root/tests/cli/measures_peer.py" - "$work/report"
}

# Users spread over the whole data set, as the baskets of a list tell them.
"$parsrec" eval pop "$data" --protocol next --negatives 1 --dump-scores "$work/all" >/dev/null 2>&1
python3 - "$work/all" "${FULL_USERS:-300}" >"$work/users" <<'PYTHON'
import json, sys
lines = map(json.loads, open(sys.argv[1]))
users = sorted({line["user"] for line in lines if "user" in line})
print(*users[::max(1, len(users) // int(sys.argv[2]))], sep="\n")
PYTHON
for model in "$@"; do
    for protocol in remaining next basket; do
        judge "$model" --protocol $protocol --negatives 100
        judge "$model" --protocol $protocol --negatives 100 --exclude-seen --split valid
        judge "$model" --protocol $protocol --full --users "$work/users"
    done
done
