#!/bin/sh
# Runs one fuzz target for some seconds, starting from and adding to a private copy of its corpus.
#   scripts/fuzz.sh TARGET [SECONDS]      TARGET: a tests/fuzz/fuzz_TARGET.c, such as csv; 300 seconds unless given
set -eu
cd "$(dirname "$0")/.."
target=${1:?usage: scripts/fuzz.sh TARGET [SECONDS]}
seconds=${2:-300}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "fuzz_$target" >/dev/null
work=build/fuzz/corpus-$target
mkdir -p "$work"
dictionary=tests/fuzz/$target.dict # words of the format, where there is such a list
set --
if [ -f "$dictionary" ]; then set -- "-dict=$dictionary"; fi
exec "build/fuzz/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="build/fuzz/$target-" -print_final_stats=1 "$@" "$work" "tests/fuzz/corpus/$target"
