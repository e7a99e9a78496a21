"""One table of bench/features.sh: means over seeds, and differences to no features, seed by seed."""
import json
import sys

MEASURES = ("HR@10", "NDCG@10")


def decimal(value, sign=""):
    return (("%" + sign + ".4f") % value).replace("0.", ".", 1)


def runs(row, measure):
    return [run["metrics"][measure] for run in row["seeds"]["runs"]] if row["seeds"] else [row["metrics"][measure]]


rows = {row["model"]: row for row in json.load(open(sys.argv[1]))["models"]}
print("| features | HR@10 | NDCG@10 | difference in NDCG@10, seed by seed |\n|---|---|---|---|")
for name in ("none", "user", "session", "item", "all", "oracle"):
    if name not in rows:
        continue
    means = [decimal(sum(v) / len(v)) for v in (runs(rows[name], m) for m in MEASURES)]
    off = [b - a for a, b in zip(runs(rows["none"], "NDCG@10"), runs(rows[name], "NDCG@10"))]
    told = "" if name in ("none", "oracle") else " ".join(decimal(d, "+") for d in off)
    print("| %s | %s | %s | %s |" % (name, *means, told))
