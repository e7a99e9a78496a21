#!/usr/bin/env python3
"""Lists of a model beside lists that another program stored for the same test sessions.

usage: session_lists.py MODEL SCORES STORED.csv.gz ACTIONS.csv.gz

SCORES is what parsrec eval --protocol next --full --dump-scores wrote, of sessions or of the users that
click_prefixes.py makes. Of sessions those questions are compared whose clicks so far are all different,
because a data set keeps the first of repeated items. Items that were clicked already are left out of both
lists; lists are left out where fewer than 20 items have a score above 0, because the rest is filled up
differently. Prints the number of lists, the mean share of the stored items among our first 20, the same where
an item with the score of our 20th counts too (ties are settled differently), and how often the first items
agree, ties counting too.
"""
import csv
import gzip
import json
import sys


def main():
    model, scores, stored, actions = sys.argv[1:]
    clicks = {}
    for row in csv.DictReader(gzip.open(actions, "rt")):
        clicks.setdefault(row["session"], []).append(row["item"])
    lists = {(r["session"], int(r["position"])): r["items"].split()
             for r in csv.DictReader(gzip.open(stored, "rt")) if r["model"] == model}
    wanted = {}
    for (session, position), items in lists.items():
        before = clicks[session][:position + 1]
        left = [i for i in items if i not in before]
        wanted[f"{session}/{position}", 0] = before, left
        if len(set(before)) == len(before):
            wanted[session, position + 1] = before, left
    number, shares, tied, first = {}, [], [], []
    with open(scores) as lines:
        catalogue = json.loads(next(lines))["catalogue"]
        place = {key: i for i, key in enumerate(catalogue)}
        for line in lines:
            row = json.loads(line)
            if "step" not in row:
                number[row["basket"]] = row["user"]
                continue
            before, theirs = wanted.get((number[row["basket"]], row["step"]), (None, None))
            if not theirs:
                continue
            order = sorted((i for i in range(len(catalogue)) if catalogue[i] not in before),
                           key=lambda i: -row["all"][i])
            known = [place[i] for i in theirs if i in place]
            bar = row["all"][order[len(theirs) - 1]]
            if bar <= 0:
                continue
            shares.append(len(set(order[:len(theirs)]) & set(known)) / len(theirs))
            tied.append(sum(row["all"][i] >= bar for i in known) / len(theirs))
            first.append(row["all"][known[0]] >= row["all"][order[0]] if known else False)
    n = len(shares)
    print(f"{model}: {n} lists, {sum(shares) / n:.3f} of the stored items, {sum(tied) / n:.3f} with ties, "
          f"first item {sum(first) / n:.3f}")


main()
