"""Means over the answers in the folders of OUT (OUT/*/report.json): errors, ranks and coverage."""
import glob
import json
import statistics
import sys

reports = [json.load(open(path)) for path in sorted(glob.glob(sys.argv[1] + "/*/report.json"))]
if not reports:
    sys.exit("no OUT/*/report.json yet")
known = [[r for r in report["rows"] if not r["dropped"] and r["true_after"]] for report in reports]


def mean(values):
    values = [v for v in values if v is not None]
    return statistics.fmean(values) if values else float("nan")


def pick(rows, **wanted):
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]


def estimates(question, estimator):
    return [r for rows in known for r in pick(rows, question=question, estimator=estimator)]


print(f"{len(reports)} runs, {reports[0]['users']} users, {reports[0]['models']} model(s) each")
print("\nwatched categories: MAPE against expected sales and against the one test set (%)")
print(f"{'question':10} {'estimator':9} {'group':5} {'cat':4} {'change':>7} {'true':>7} "
      f"{'MAPE':>6} {'test':>6} {'floor':>6}")
for question in ("selection", "rechoice"):
    for estimator in ("rollout", "expected", "top10", "counted"):
        rows = [r for r in estimates(question, estimator) if r["watched"]]
        for group, category in sorted({(r["group"], r["category"]) for r in rows}):
            some = pick(rows, group=group, category=category)
            tests = [abs(r["after"] / r["test_after"] - 1) for r in some if r["test_after"]]
            print(f"{question:10} {estimator:9} {group:5} {category:4} "
                  f"{100 * mean(r['change'] for r in some):7.1f} "
                  f"{100 * mean(r['true_after'] / r['true_before'] - 1 for r in some):7.1f} "
                  f"{100 * mean(abs(r['after'] / r['true_after'] - 1) for r in some):6.1f} "
                  f"{100 * mean(tests):6.1f} {100 * mean(r['floor'] for r in some):6.1f}")

print("\nall categories: MAPE (%), error of the change (points), rank correlation, and how often the "
      "interval holds\nthe expected sales")
print(f"{'question':10} {'estimator':9} {'group':5} {'MAPE':>6} {'floor':>6} {'points':>7} {'rank':>6} "
      f"{'covered':>8}")
for question in ("selection", "rechoice"):
    for estimator in ("rollout", "expected", "top10", "counted"):
        for group in sorted({r["group"] for rows in known for r in rows}):
            told = [a for report in reports for a in pick(
                report["agreement"], question=question, estimator=estimator, group=group)]
            if told:
                print(f"{question:10} {estimator:9} {group:5} "
                      f"{100 * mean(a['mape'] for a in told):6.1f} "
                      f"{100 * mean(a['mape_floor'] for a in told):6.1f} "
                      f"{mean(a['error_points'] for a in told):7.2f} "
                      f"{mean(a['rank_correlation'] for a in told):6.2f} "
                      f"{100 * mean(a['coverage'] for a in told):7.0f} %")
