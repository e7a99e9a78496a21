"""Tables in Markdown out of the reports of parsrec compare, for bench/reproduce."""
import json
import sys


def decimal(value):
    return "–" if value is None else ("%.4f" % value).replace("0.", ".", 1)


def rows_of(path):
    return json.load(open(path))["models"]


def head(*cells):
    print("| " + " | ".join(cells) + " |\n|" + "---|" * len(cells))


def line(*cells):
    print("| " + " | ".join(cells) + " |")


def scores(*measures):
    """One evaluation from standard input: "HR@10 | NDCG@10"."""
    metrics = json.load(sys.stdin)["metrics"]
    print(" | ".join(decimal(metrics[m]) for m in measures))


def over_seeds(row, measure):
    """The mean, with the values of every seed behind it."""
    mean = decimal(row["metrics"][measure])
    if not row["seeds"]:
        return mean
    return "%s (%s)" % (mean, " ".join(decimal(r["metrics"][measure]) for r in row["seeds"]["runs"]))


def report(path, *measures):
    """Models as rows, with the interval over users of the measure that decides."""
    whole = json.load(open(path))
    head("model", *measures, "difference to the best in %s" % whole["measure"])
    for row in whole["models"]:
        versus = row["versus_best"]
        told = "%s [%s, %s]" % (decimal(versus["difference"]), *map(decimal, versus["interval"])) if versus else "the best"
        line(row["model"], *(over_seeds(row, m) for m in measures), told)


PAPER = {  # its table of results on synthetic data, in the order of PAPER_MEASURES
    "pop": (.0005, .0028, .0066, .0013, .0026, .0005, .0029, .0068),
    "sasrec": (.1816, .3919, .5133, .2872, .3253, .1826, .3931, .5151),
    "bert4rec": (.1963, .4150, .5441, .3061, .3426, .1974, .4163, .5357),
    "paper": (.2136, .4791, .5825, .3489, .3800, .2249, .4784, .5792),
}
PAPER_MEASURES = ("HR@1", "HR@5", "HR@10", "NDCG@5", "NDCG@10", "Sess-Prec@1", "Sess-Prec@5", "Sess-Prec@10")


def paper(path):
    """Models as rows, the paper's own figures below those that it has too."""
    head("model", *PAPER_MEASURES)
    for row in rows_of(path):
        line(row["model"], *(decimal(row["metrics"][m]) for m in PAPER_MEASURES))
        if row["model"] in PAPER:
            line("*its row in the paper*", *map(decimal, PAPER[row["model"]]))


def cells(*words):
    """SETTING TRAINED.json SPEED.json, repeated; speed as a share of sgemm's, against the first."""
    head("setting", "HR@10", "NDCG@10", "Sess-Prec@10", "speed")
    first = None
    for setting, trained, speed in zip(words[::3], words[1::3], words[2::3]):
        valid, bench = json.load(open(trained))["valid"], json.load(open(speed))
        rate = bench["items_per_s"] / bench["sgemm_gflops"]
        first = first or rate
        line("`%s`" % setting, *(decimal(valid[m]) for m in ("HR@10", "NDCG@10", "Sess-Prec@10")), "%.2f" % (rate / first))


def oracle(*paths):
    head("seed", "HR@10", "NDCG@10", "oracle: HR@10", "NDCG@10", "share of the oracle's NDCG@10")
    for path in paths:
        whole = json.load(open(path))
        of = {row["model"]: row["metrics"] for row in whole["models"]}
        ours, best = of["parsrec"], of["oracle"]
        line(str(whole["seeds"]["training"]), decimal(ours["HR@10"]), decimal(ours["NDCG@10"]), decimal(best["HR@10"]),
             decimal(best["NDCG@10"]), decimal(ours["NDCG@10"] / best["NDCG@10"])[:4])


def baskets(*words):
    """NAME SAMPLED.json FULL.json, repeated; bold is ahead of all others by more than chance."""
    kinds = ["pop", "personal", "recent", "sasrec", "bert4rec", "parsrec"]
    head("data", *kinds, *("all items: " + k for k in kinds))
    for name, *paths in zip(words[::3], words[1::3], words[2::3]):
        cells = []
        for path in paths:
            rows = {row["model"]: row for row in rows_of(path)}
            for kind in kinds:
                others = [r["versus_best"] for k, r in rows.items() if k in kinds and k != kind]
                sure = rows[kind]["versus_best"] is None and all(v["p_corrected"] < 0.05 for v in others)
                cell = decimal(rows[kind]["metrics"]["NDCG@10"])
                cells.append("**%s**" % cell if sure else cell)
        line(name, *cells)


def difference(rows, ours, other, measure):
    """Ours less another's, with its interval paired over users; known where one of the two is the best."""
    for row, best, sign in ((rows[other], ours, -1), (rows[ours], other, 1)):
        versus = row["versus_best"]
        if versus and versus["model"] == best and versus["measure"] == measure:
            ends = sorted(sign * end for end in versus["interval"])
            return "%s [%s, %s]" % tuple(signed(v) for v in (sign * versus["difference"], *ends))
    return "–"


def signed(value):
    return ("%+.4f" % value).replace("0.", ".", 1)


def questions(*words):
    """NAME FOLDER, repeated; a folder has the reports of the questions by name."""
    known = ["pop", "personal", "recent", "markov", "mix"]
    asked = [("remaining", "NDCG@10"), ("next", "NDCG@10"), ("basket", "NDCG@10"), ("basket", "Recall@10"), ("sampled", "NDCG@10"), ("sampled", "HR@10")]
    head("data", "question", "measure", "best of five counts", "SASRec", "parsrec", "parsrec less that count", "parsrec less SASRec")
    for name, folder in zip(words[::2], words[1::2]):
        for question, measure in asked:
            rows = {row["model"]: row for row in rows_of("%s/%s.json" % (folder, question))}
            best = max(known, key=lambda model: rows[model]["metrics"][measure])
            line(name, "remaining, 100 items" if question == "sampled" else question, measure,
                 "%s (%s)" % (decimal(rows[best]["metrics"][measure]), best),
                 over_seeds(rows["sasrec"], measure) if "sasrec" in rows else "not run",
                 over_seeds(rows["parsrec"], measure), difference(rows, "parsrec", best, measure),
                 difference(rows, "parsrec", "sasrec", measure) if "sasrec" in rows else "")


def field(path):
    """All models by all three questions with intervals over users, and what each costs."""
    head("model", "remaining", "next", "basket", "basket, Recall", "training or counting, s", "answers per s")
    for row in rows_of(path):
        cell = {}
        for name, asked in row["protocols"].items():
            for measure in ("NDCG@10", "Recall@10"):
                if measure in asked["metrics"]:
                    cell[name, measure] = "%s [%s, %s]" % (
                        decimal(asked["metrics"][measure]), *map(decimal, asked["intervals"][measure]))
        line(row["model"] + (" †" if row["not_trained_out"] else ""), cell["remaining", "NDCG@10"], cell["next", "NDCG@10"],
             cell["basket", "NDCG@10"], cell["basket", "Recall@10"],
             "%.1f" % row["cost"]["seconds"], "{:,.0f}".format(row["cost"]["answers_per_s"]))


def counts(sample, *synthetic):
    """The sample, and the mean and range over synthetic data sets."""
    of = [{row["model"]: row["metrics"] for row in rows_of(path)} for path in (sample, *synthetic)]
    head("model", "sample: HR@10", "NDCG@10", "synthetic, mean (range): HR@10", "NDCG@10")
    for model in list(of[-1]):
        cells = [decimal(of[0].get(model, {}).get(m)) for m in ("HR@10", "NDCG@10")]
        for m in ("HR@10", "NDCG@10"):
            values = [o[model][m] for o in of[1:]]
            cells.append("%s (%s–%s)" % tuple(map(decimal, (sum(values) / len(values), min(values), max(values)))))
        line(model, *cells)


globals()[sys.argv[1]](*sys.argv[2:])
