#!/bin/sh
# Where the processor time of training goes, with the default settings and cross entropy over the whole catalogue on one
# thread: the three products with the catalogue (docs/adr/0025), the loops of the softmax, the other products, the rest.
#   bench/catalogue_share.sh [DATA [SECONDS [KEY=VALUE...]]]     settings as in `parsrec train --set`
# Without DATA: synthetic data of the size of the authors' sample. 10 seconds unless given.
# Needs the release build (./check --build-only), OpenBLAS and perf (linux-perf). Preparation and the plain products
# that `parsrec bench train` runs beside training are left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${1:-} seconds=${2:-10}
if [ $# -gt 2 ]; then shift 2; else shift $#; fi
for set in "$@"; do
    shift
    set -- "$@" --set "$set"
done
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
command -v perf >"$work/which" || { echo "catalogue_share.sh: perf is not installed" >&2; exit 1; }

perf record -q -o "$work/samples" -e cpu-clock:u -F 299 --call-graph dwarf \
    "$parsrec" bench train ${data:+"$data"} --preset default --set loss=ce "$@" --threads 1 --seconds "$seconds" \
    --json >"$work/speed" 2>"$work/said" || { cat "$work/said" >&2; exit 1; }
# A sample is a paragraph of functions, the innermost first. sgemm_tn and so on say which operands are transposed.
perf script -i "$work/samples" -F ip,sym,dso 2>"$work/said" | awk '
BEGIN { RS = ""; FS = "\n" }
!/pr_arnn_learn|pr_trainer_learn/ { next }
{
    product = /cblas_sgemm/
    all++
    if (/pr_softmax_scores/ && product) scores++
    else if (/pr_softmax_gradient/ && /sgemm_nt/) outputs++
    else if (/pr_softmax_gradient/ && product) table++
    else if (/pr_softmax_(scores|gradient)/) loops++
    else if (product) other++
    else rest++
}
END {
    if (all == 0) { print "catalogue_share.sh: no samples of training" | "cat >&2"; exit 1 }
    printf "| samples | scores | gradient of outputs | gradient of the table | all three |"
    print " softmax | other products | rest |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    printf "| %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", all, scores / all, outputs / all, table / all,
        (scores + outputs + table) / all, loops / all, other / all, rest / all
}'
