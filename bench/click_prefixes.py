#!/usr/bin/env python3
"""Click sessions as sequences in which repeated clicks stay: each click is a session of its own.

usage: click_prefixes.py ACTIONS.csv.gz STORED.csv.gz MODEL OUT.csv TESTS

Training sessions (s...) are written to OUT as they are; of the test sessions one user for each list that
STORED has of MODEL, named SESSION/POSITION: the clicks up to that position and the next one, which is asked
for. The names go to TESTS, for --test-users.
"""
import csv
import gzip
import sys

actions, stored, model, out, tests = sys.argv[1:]
clicks = {}
for row in csv.DictReader(gzip.open(actions, "rt")):
    clicks.setdefault(row["session"], []).append(row["item"])
with open(out, "w") as to, open(tests, "w") as names:
    to.write("user,item\n")
    for session, items in clicks.items():
        if session.startswith("s"):
            to.writelines(f"{session},{item}\n" for item in items)
    for row in csv.DictReader(gzip.open(stored, "rt")):
        end = int(row["position"]) + 2
        if row["model"] == model and end <= len(clicks[row["session"]]):
            name = f"{row['session']}/{row['position']}"
            names.write(name + "\n")
            to.writelines(f"{name},{item}\n" for item in clicks[row["session"]][:end])
