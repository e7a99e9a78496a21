#!/bin/sh
# Runs tests again and again, in another order each round, on a machine that is kept busy: what depends on time, on
# free ports or on the order of processes shows here.
#   bench/check_under_load.sh [ROUNDS [LOOPS [CTEST OPTION...]]]
# 10 rounds beside 6 busy loops unless given. Without options of ctest, the tests that start servers, browsers,
# databases or threads, and those that kill or time something; "-R ." takes all of them.
# BUILD names the build, release unless set, which must be there (./check, or cmake --build --preset release).
# JOBS tests run at a time, 2 unless set. Fails when any run of any test does, and says which.
set -u
cd "$(dirname "$0")/.." || exit 1
rounds=${1:-10} loops=${2:-6} build=build/${BUILD:-release}
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift
timed='^web[.]|^cli[.](serve|mistakes|train|memory|kill|store|forget|import_postgres|bench)|^unit[.](serve|store|queue|kill|live|train)$'
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
bad=0
for round in $(seq "$rounds"); do
    log=$logs/round-$round
    ctest --test-dir "$build" --schedule-random --output-on-failure -j"${JOBS:-2}" "$@" >"$log" 2>&1 || bad=1
    echo "round $round of $rounds: $(grep -c ' Passed ' "$log") passed, $(grep -c '\*\*\*Skipped' "$log") skipped," \
        "$(grep -cE '\*\*\*(Failed|Timeout|Exception|Not Run)' "$log") failed, $(sed -n 's/^Total Test time (real) = *//p' "$log")"
    grep -E '\*\*\*(Failed|Timeout|Exception|Not Run)' "$log"
done
if [ $bad -eq 0 ]; then
    echo "passed"
    rm -rf -- "$logs"
else
    echo "FAILED: what the tests said is in $logs"
fi
exit $bad
