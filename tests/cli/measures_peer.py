"""Computes every measure of an evaluation again, from the scores that `parsrec eval --dump-scores` wrote,
and compares them with what `parsrec eval --json` told. Written from docs/evaluation.md alone.

    measures_peer.py DUMP REPORT.json [--actions FILE.csv] [--random DRAWS]

--actions checks against the table of actions (user, session, item; sessions of a user in order) that the
right baskets were evaluated, with the right items and the right past. --random lets rankers that know
nothing walk through the same baskets and compares them with the report's, within what chance allows.
DUMP may be - for standard input. Exit status 1 when anything differs.
"""
import argparse
import collections
import csv
import json
import math
import random
import statistics
import sys

TOLERANCE = 1e-6
NOT_SPLIT = ("Precision",)
wrong = []


def complain(text):
    wrong.append(text)


def gain(rank):
    return 1 / math.log2(rank + 2)


# ---- means ----

class Means:
    """Measures of one aspect: over all steps, or over baskets of what each basket has."""

    def __init__(self):
        self.sum = collections.defaultdict(float)
        self.count = collections.Counter()
        self.weight = 0

    def add(self, name, value):
        self.sum[name] += value
        self.count[name] += 1

    def values(self):
        return {name: self.sum[name] / self.count[name] for name in self.sum}


class Sheet:
    """All items, those the user had before, and the others."""

    def __init__(self):
        self.aspects = {"all": Means(), "repeat": Means(), "new": Means()}

    def __getitem__(self, aspect):
        return self.aspects[aspect]


# ---- rankings ----

class Candidates:
    """A basket at one step: scores of its own items by place, and of the items that are not its own."""

    def __init__(self, basket, head, own, others):
        hidden = basket.before if head["exclude_seen"] else ()
        self.own = [-math.inf if math.isnan(s) or i in hidden else s
                    for i, s in zip(basket.items, own)]
        self.others = others

    def above(self, place):
        """How many others stand above an own item: a tie counts against it, so does what is no number."""
        score = self.own[place]
        return sum(1 for other in self.others if other != -math.inf and not other < score)

    def recommended(self, place):
        return self.own[place] > -math.inf

    def best(self, places):
        """The highest score; the first stored of equal ones."""
        return max(places, key=lambda p: (self.own[p], -p))


def rank_among_others(at, place):
    return at.above(place) if at.recommended(place) else None


def count_rank(means, head, rank):
    means.weight += 1
    for k in head["k"]:
        hit = rank is not None and rank < k
        means.add(f"HR@{k}", hit)
        means.add(f"NDCG@{k}", gain(rank) if hit else 0)


# ---- the protocols: each takes a step and returns the place that is filled next ----

def aspects_of(basket, places):
    yield "all", places
    yield "repeat", [p for p in places if basket.seen[p]]
    yield "new", [p for p in places if not basket.seen[p]]


def step_remaining(sheet, head, basket, at):
    left = [p for p in range(len(basket.items)) if p not in basket.placed]
    chosen = left[0]
    for aspect, places in aspects_of(basket, left):
        if not places:
            continue
        best = at.best(places)
        rank = rank_among_others(at, best)
        count_rank(sheet[aspect], head, rank)
        basket.ranks[aspect].append(rank)
        if aspect == "all" and rank is not None and rank < head["place_k"]:
            chosen = best
    return chosen


def step_next(sheet, head, basket, at):
    target = len(basket.placed)
    if target < basket.unasked:
        return target
    rank = rank_among_others(at, target)
    if rank is not None and head["candidates"] == "all":
        rank += sum(1 for score in at.own[target + 1:] if not score < at.own[target])
    for aspect, places in aspects_of(basket, [target]):
        if places:
            count_rank(sheet[aspect], head, rank)
            sheet[aspect].add("MRR", 0 if rank is None else 1 / (rank + 1))
            for k in head["k"]:
                sheet[aspect].add(f"MRR@{k}", 0 if rank is None or rank >= k else 1 / (rank + 1))
            basket.ranks[aspect].append(rank)
    return target


def listed(at):
    """One list of all candidates, best first: own places, None for the others."""
    rows = [(math.inf if math.isnan(s) else s, 0, 0, None) for s in at.others if s != -math.inf]
    rows += [(s, 1, p, p) for p, s in enumerate(at.own) if at.recommended(p)]
    return [row[3] for row in sorted(rows, key=lambda r: (-r[0], r[1], r[2]))]


def step_basket(sheet, head, basket, at):
    ranking = listed(at)
    for aspect, places in aspects_of(basket, range(len(basket.items))):
        if not places:
            continue
        means, n = sheet[aspect], len(places)
        means.weight += 1
        for k in head["k"]:
            hits = [rank for rank, p in enumerate(ranking[:k]) if p is not None and p in places]
            gains = sum(gain(rank) for rank in hits)
            means.add(f"Recall@{k}", len(hits) / n)
            means.add(f"Precision@{k}", len(hits) / k)
            means.add(f"NDCG@{k}", gains / sum(gain(i) for i in range(min(n, k))))
            means.add(f"NDCG-whole@{k}", gains / sum(gain(i) for i in range(n)))
            means.add(f"PHR@{k}", bool(hits))
    return None


STEPS = {"remaining": step_remaining, "next": step_next, "basket": step_basket}
SMALLEST = {"remaining": 2, "next": 1, "basket": 1}


def finish_basket(sheet, head, basket):
    """Sess-Prec: the share of a basket's steps that hit."""
    for aspect, ranks in basket.ranks.items():
        for k in head["k"]:
            hits = sum(1 for rank in ranks if rank is not None and rank < k)
            sheet[aspect].add(f"Sess-Prec@{k}", hits / len(ranks))


# ---- baskets of a dump ----

class Basket:
    def __init__(self, line):
        self.number, self.user, self.session = line["basket"], line["user"], line["session"]
        self.items, self.before = line["items"], set(line["before"])
        self.others = line.get("others")
        self.unasked = line.get("unasked", 0)
        self.seen = [item in self.before for item in self.items]
        self.begin()

    def begin(self):
        self.placed = []
        self.ranks = collections.defaultdict(list)

    def steps(self, head):
        return 1 if head["protocol"] == "basket" else len(self.items)

    def ranked_against(self, head):
        """The items that are not its own and may be recommended."""
        if self.others is not None:
            return self.others
        out = set(self.items) | (self.before if head["exclude_seen"] else set())
        return [i for i in range(len(head["catalogue"])) if i not in out]


def check_basket(head, basket):
    name = f"basket {basket.number}"
    if len(set(basket.items)) != len(basket.items) or len(basket.items) < SMALLEST[head["protocol"]]:
        complain(f"{name}: items {basket.items}")
    if (basket.others is None) != (head["candidates"] == "all"):
        complain(f"{name}: sampled and whole rankings are mixed")
    others = basket.others or []
    if len(set(others)) != len(others) or len(others) > head["negatives"] or set(others) & set(basket.items):
        complain(f"{name}: others are not different items outside the basket, at most {head['negatives']}")
    if head["exclude_seen"] and set(others) & basket.before:
        complain(f"{name}: the user had some of the others before")
    free = len(head["catalogue"]) - len(set(basket.items) | (basket.before if head["exclude_seen"] else set()))
    if head["candidates"] == "uniform" and len(others) != min(free, head["negatives"]):
        complain(f"{name}: {len(others)} others where {free} items could be drawn")


def scores_of(head, basket, line):
    if head["candidates"] == "all":
        every = [float(s) for s in line["all"]]
        if len(every) != len(head["catalogue"]):
            complain(f"basket {basket.number}: {len(every)} scores of a catalogue of {len(head['catalogue'])}")
        return [every[i] for i in basket.items], [every[i] for i in basket.ranked_against(head)]
    own, others = [float(s) for s in line["own"]], [float(s) for s in line["others"]]
    if len(own) != len(basket.items) or len(others) != len(basket.others):
        complain(f"basket {basket.number}: scores and items do not match")
    return own, others


def take_step(sheet, head, basket, line):
    name = f"basket {basket.number}, step {line['step']}"
    if line["step"] != len(basket.placed):
        complain(f"{name}: expected step {len(basket.placed)}")
    own, others = scores_of(head, basket, line)
    expected = STEPS[head["protocol"]](sheet, head, basket, Candidates(basket, head, own, others))
    if line.get("placed") != expected:
        complain(f"{name}: place {line.get('placed')} was filled, it should be {expected}")
    basket.placed.append(line.get("placed"))


def read_dump(stream):
    """Head, measures and all baskets, each kept without its scores."""
    head = json.loads(stream.readline())
    if (head["format"], head["version"]) != ("parsrec.scores", 1):
        sys.exit("this is no dump of scores that is known here")
    sheet, open_baskets, done = Sheet(), {}, {}
    for text in stream:
        line = json.loads(text)
        if "step" not in line:
            basket = open_baskets[line["basket"]] = Basket(line)
            check_basket(head, basket)
            continue
        basket = open_baskets[line["basket"]]
        take_step(sheet, head, basket, line)
        if len(basket.placed) == basket.steps(head):
            finish_basket(sheet, head, basket)
            done[basket.number] = open_baskets.pop(basket.number)
    if open_baskets or sorted(done) != list(range(head["baskets"])):
        complain(f"{len(done)} baskets are complete, the head tells of {head['baskets']}")
    if len({(b.user, b.session) for b in done.values()}) != len(done):
        complain("a session occurs twice")
    return head, sheet, list(done.values())


# ---- comparisons ----

def compare(where, ours, theirs, aspect, tolerance):
    """Numbers of the report beside those computed here; returns how many, and the largest difference."""
    names = {n for n in ours if aspect == "all" or n.split("@")[0] not in NOT_SPLIT}
    told = {n for n, v in theirs.items() if v is not None}
    if names != told:
        complain(f"{where}: the report has {sorted(told)}, here are {sorted(names)}")
    largest = 0
    for name in names & told:
        difference = abs(ours[name] - theirs[name])
        largest = max(largest, difference)
        if not difference <= tolerance(name):
            complain(f"{where} {name}: the report says {theirs[name]}, here it is {ours[name]}")
    return len(names & told), largest


def compare_report(head, sheet, baskets, report):
    for key in ("protocol", "split", "fingerprint", "exclude_seen", "negatives"):
        if report[key] != head[key]:
            complain(f"{key}: the report says {report[key]}, the dump {head[key]}")
    counts = {"baskets": len(baskets), "steps": sum(b.steps(head) - b.unasked for b in baskets),
              "users": len({b.user for b in baskets})}
    for key, value in counts.items():
        if report[key] != value:
            complain(f"{key}: the report says {report[key]}, here are {value}")
    total, largest = 0, 0
    for aspect in ("all", "repeat", "new"):
        part = report if aspect == "all" else report[aspect]
        if aspect != "all" and part["steps"] != sheet[aspect].weight:
            complain(f"{aspect}: the report has {part['steps']} steps, here are {sheet[aspect].weight}")
        number, worst = compare(aspect, sheet[aspect].values(), part["metrics"], aspect, lambda _: TOLERANCE)
        total, largest = total + number, max(largest, worst)
    return total, largest


def random_walks(head, baskets, draws):
    """What rankers get that give every candidate of a basket one number for good."""
    values = {aspect: collections.defaultdict(list) for aspect in ("all", "repeat", "new")}
    for draw in range(draws):
        numbers, sheet = random.Random(draw), Sheet()
        for basket in baskets:
            basket.begin()
            own = [numbers.random() for _ in basket.items]
            at = Candidates(basket, head, own, [numbers.random() for _ in basket.ranked_against(head)])
            for _ in range(basket.steps(head)):
                basket.placed.append(STEPS[head["protocol"]](sheet, head, basket, at))
            finish_basket(sheet, head, basket)
        for aspect, lists in values.items():
            for name, value in sheet[aspect].values().items():
                lists[name].append(value)
    return values


def compare_random(head, baskets, report, draws):
    """Both are means of some draws: they may differ by six standard errors of the difference, or, where
    hardly anything ever hits, by one hit in all draws."""
    REPORT_DRAWS = 10
    for aspect, lists in random_walks(head, baskets, draws).items():
        theirs = (report if aspect == "all" else report[aspect])["random"]
        means = {name: statistics.mean(v) for name, v in lists.items()}
        spread = {name: statistics.stdev(v) for name, v in lists.items()}
        rare = 3 / (min(draws, REPORT_DRAWS) * max(1, len(baskets)))

        def allowed(name):
            return 6 * spread[name] * math.sqrt(1 / draws + 1 / REPORT_DRAWS) + rare
        compare(f"random {aspect}", means, theirs, aspect, allowed)


def sessions_of(path):
    """Keys of the items of every session, sessions of a user in the order of the file."""
    users = collections.defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            items = users[row["user"]].setdefault(row["session"], [])
            if row["item"] not in items:
                items.append(row["item"])
    return {user: list(sessions.values()) for user, sessions in users.items()}


def check_actions(head, baskets, path):
    """Each user with three sessions has the last one evaluated, or the one before it."""
    key = head["catalogue"].__getitem__
    found = {b.user: b for b in baskets}
    for user, sessions in sessions_of(path).items():
        at = len(sessions) - (1 if head["split"] == "test" else 2)
        expected = len(sessions) >= 3 and len(sessions[at]) >= SMALLEST[head["protocol"]]
        if expected != (user in found):
            complain(f"user {user}: {'not ' if expected else ''}evaluated")
        if not expected or user not in found:
            continue
        basket = found[user]
        past = {item for session in sessions[:at] for item in session}
        if basket.session != at or list(map(key, basket.items)) != sessions[at]:
            complain(f"user {user}: session {basket.session} is not session {at} of the actions")
        if set(map(key, basket.before)) != past:
            complain(f"user {user}: had other items before")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("report")
    parser.add_argument("--actions")
    parser.add_argument("--random", type=int, default=0)
    given = parser.parse_args()
    with sys.stdin if given.dump == "-" else open(given.dump, encoding="utf-8") as stream:
        head, sheet, baskets = read_dump(stream)
    report = json.load(open(given.report, encoding="utf-8"))
    total, largest = compare_report(head, sheet, baskets, report)
    if given.actions:
        check_actions(head, baskets, given.actions)
    if given.random:
        compare_random(head, baskets, report, given.random)
    for text in wrong[:20]:
        print(text)
    print(f"{head['model']}, {head['protocol']}, {head['candidates']}: {len(baskets)} baskets, {total} numbers, "
          f"largest difference {largest:.1e}, {len(wrong)} complaints")
    sys.exit(1 if wrong else 0)


main()
