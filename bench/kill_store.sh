#!/bin/sh
# Kills servers at random moments while they store events, forget users and reload; bench/kill_store.py says what must
# hold after each restart.
#   bench/kill_store.sh [ROUNDS [KIND...]]      1000 of each unless given: events-sqlite events-postgres forget-sqlite
#                                               forget-postgres reload-sqlite
# Needs the release build (./check --build-only) and for postgres an installed PostgreSQL. SEED sets the moments.
set -u
PARSREC_SOURCE=$(cd "$(dirname "$0")/.." && pwd)
rounds=${1:-1000}
[ $# -gt 0 ] && shift
kinds=${*:-events-sqlite events-postgres forget-sqlite forget-postgres reload-sqlite}
parsrec=${PARSREC:-$PARSREC_SOURCE/build/release/src/parsrec}
example=$PARSREC_SOURCE/examples
work=$(mktemp -d)
cd "$work" || exit 1
bad=0
stop_postgres() { :; }
finish_up() {
    stop_postgres
    cd / && rm -rf -- "$work"
}
trap finish_up EXIT
trap 'exit 1' INT TERM
fail() { echo "$*"; exit 1; }
missing() { fail "$@"; }

"$parsrec" import -o data.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv" >/dev/null || exit 1
for seed in 1 2; do
    "$parsrec" train -o model-$seed.st data.st --set dim.user=8 --set dim.item=8 --epochs 1 --seed $seed >train.log 2>&1 ||
        { cat train.log; exit 1; }
done
echo 0123456789abcdef0123456789abcdef >token
database=
for kind in $kinds; do
    folder=$work/$kind
    mkdir "$folder"
    cp model-1.st model-2.st token "$folder"
    store=sqlite:events.db
    case $kind in
    *-postgres)
        if [ -z "$database" ]; then
            . "$PARSREC_SOURCE/tests/cli/postgres.sh"
            database=$url
        fi
        psql -q "$database" -c "DROP TABLE IF EXISTS parsrec_events, parsrec_meta" 2>psql.log || cat psql.log
        store=$database
        ;;
    esac
    python3 "$PARSREC_SOURCE/bench/kill_store.py" "$parsrec" "$folder" "$store" "${kind%-*}" "$rounds" "${SEED:-1}" || bad=1
    if grep -q -i 'sanitizer\|runtime error' "$folder/log"; then grep -i -A20 'sanitizer\|runtime error' "$folder/log"; bad=1; fi
done
if [ $bad -eq 0 ]; then echo "passed"; else echo "FAILED"; fi
exit $bad
