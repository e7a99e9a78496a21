#!/bin/sh
# Runs tests repeatedly, in another order each round, on a machine that is kept busy: what depends on time, on
# free ports, on names of files or on the order of tests shows here.
#   bench/check_under_load.sh [ROUNDS [LOOPS [CTEST OPTION...]]]
# 10 rounds beside 6 busy loops unless given. Without options of ctest, the tests that start servers, browsers,
# databases or threads, and those that kill or time something; "-R ." takes all of them.
# AT_ONCE rounds run at the same time, 1 unless set: each is the load of the others, and meets their ports and files,
# so that no loops are needed (LOOPS 0). Each has a folder of its own for its logs and its temporary files.
# BUILD names the builds, release unless set, which must be there (./check, or cmake --build --preset release).
# JOBS tests of a round run at a time, 2 unless set. Fails when any run of any test does, and says which.
#   AT_ONCE=5 JOBS=2 bench/check_under_load.sh 10 0 -R .     ten runs of all tests, about ten tests at any time
#   BUILD='release dev tsan' bench/check_under_load.sh 10 6 -R .     the tests of ./check, ten times
set -u
cd "$(dirname "$0")/.." || exit 1
rounds=${1:-10} loops=${2:-6} at_once=${AT_ONCE:-1} builds=${BUILD:-release}
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift
timed='^web[.]|^cli[.](serve|mistakes|train|memory|kill|store|forget|import_postgres|bench|recommend_all|tune|compare|ablate|whatif|features)|^unit[.](serve|store|queue|kill|live|train)$'
[ $# -gt 0 ] || set -- -R "$timed"
logs=$(mktemp -d)
busy=
end_loops() { for p in $busy; do kill "$p" 2>/dev/null; done; }
trap end_loops EXIT
trap 'exit 1' INT TERM

for _ in $(seq "$loops"); do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done

bad='\*\*\*(Failed|Timeout|Exception|Not Run)'
# one NUMBER [CTEST OPTION...]: a round, from a folder that only says where the tests are.
one() {
    round=$logs/round-$1
    number=$1
    shift
    mkdir -p "$round/tmp"
    for build in $builds; do echo "subdirs(\"$PWD/build/$build\")"; done >"$round/CTestTestfile.cmake"
    TMPDIR=$round/tmp ctest --test-dir "$round" --schedule-random --output-on-failure -j"${JOBS:-2}" "$@" >"$round/log" 2>&1
    echo $? >"$round/status"
    echo "round $number of $rounds: $(grep -c ' Passed ' "$round/log") passed," \
        "$(grep -c '\*\*\*Skipped' "$round/log") skipped, $(grep -cE "$bad" "$round/log") failed," \
        "$(sed -n 's/^Total Test time (real) = *//p' "$round/log")"
    grep -E "$bad" "$round/log"
    rm -rf "$round/tmp"
}
next=1
while [ $next -le "$rounds" ]; do
    running=
    while [ $next -le "$rounds" ] && [ "$(echo $running | wc -w)" -lt "$at_once" ]; do
        one $next "$@" &
        running="$running $!"
        sleep 1.1 # ctest takes the order from the second in which it starts
        next=$((next + 1))
    done
    for p in $running; do wait "$p"; done
done
if [ "$(cat "$logs"/round-*/status | sort -u)" = 0 ]; then
    echo "passed"
    rm -rf -- "$logs"
    exit 0
fi
echo "FAILED: what the tests said is in $logs"
exit 1
