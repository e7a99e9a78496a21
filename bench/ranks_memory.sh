#!/bin/sh
# What a rank holds: one training of a shop with many users by 1, 2 and 4 ranks, the peak of memory of each rank
# beside what the program said before the first batch, and whether the models are the same.
#   bench/ranks_memory.sh PARSREC [USERS [ITEMS [SETTINGS...]]]       a million users of 20,000 items by default
# Needs Open MPI and GNU time. The shop comes from bigshop.c, in ../shared/bench beside the source or $PARSREC_SHOP;
# three sessions per user. It is kept in $PARSREC_SHOPS, if that is set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
users=${2:-1000000} items=${3:-20000}
shift
[ $# -eq 0 ] || shift
[ $# -eq 0 ] || shift
source=${PARSREC_SHOP:-$here/../../shared/bench/bigshop.c}
[ -f "$source" ] || { echo "ranks_memory.sh: there is no $source; name it in PARSREC_SHOP" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
data=${PARSREC_SHOPS:-$work}/users$users.items$items.data
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PARSREC_PROGRESS=off
[ -f "$data" ] || {
    cc -O2 -o bigshop "$source" -lm
    ./bigshop "$users" "$items" 3 1 | "$program" import - -o "$data" >log 2>&1
}
for n in 1 2 4; do
    # shellcheck disable=SC2016 # the rank's own shell shall know its number
    mpirun -n $n --bind-to none sh -c \
        'exec /usr/bin/time -f %M -o peak.$OMPI_COMM_WORLD_SIZE.$OMPI_COMM_WORLD_RANK "$@"' rank \
        "$program" train -o run.model "$data" --epochs 1 --threads 1 --checkpoint-minutes 1000 "$@" \
        >log 2>&1 || { cat log; exit 1; }
    peaks=$(sort -n peak.$n.* | awk '{ printf " %.0f", $1 / 1000 }')
    echo "$n ranks: peak$peaks MB; $(sed -n 's/.*\(memory: about [^(]*([^)]*)\).*/\1/p' log)"
    sed -n 's/.*rank 0 holds/    rank 0 holds/p' log
    [ $n -gt 1 ] || mv run.model one.model
    [ $n -eq 1 ] || cmp one.model run.model
done
