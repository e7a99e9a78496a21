"""Agreement with the truth, as a mean over the scenarios of one report.json, by question and estimator."""
import json
import statistics
import sys

told = json.load(open(sys.argv[1]))["agreement"]
print(f"{'question':10} {'estimator':9} {'group':5} {'rank':>6} {'lowest':>7} {'points':>7} {'MAPE %':>7} "
      f"{'covered %':>9}")
for key in sorted({(a["question"], a["estimator"], a["group"]) for a in told}):
    some = [a for a in told if (a["question"], a["estimator"], a["group"]) == key]
    ranks = [a["rank_correlation"] or 0 for a in some]
    print(f"{key[0]:10} {key[1]:9} {key[2]:5} {statistics.fmean(ranks):6.2f} {min(ranks):7.2f} "
          f"{statistics.fmean(a['error_points'] for a in some):7.2f} "
          f"{100 * statistics.fmean(a['mape'] for a in some):7.2f} "
          f"{100 * statistics.fmean(a['coverage'] for a in some):9.0f}")
