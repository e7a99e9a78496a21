#!/usr/bin/env python3
"""without_newest.py ACTIONS.csv.gz OUT.csv.gz: the same sessions without the newest one of each user who has
three or more. What is a test session then was a validation session before, so steps can be judged on it without a
look at the real test sessions."""
import csv
import gzip
import sys


def moment(row):
    try:
        return (float(row[2]), "")
    except ValueError:
        return (0.0, row[2])


with gzip.open(sys.argv[1], "rt", newline="") as file:
    head, *rows = csv.reader(file)
assert head[:3] == ["user", "session", "time"], head
sessions = {}
for number, row in enumerate(rows):
    sessions.setdefault(row[0], {}).setdefault(row[1], (moment(row), number))
dropped = {(user, max(own, key=own.get)) for user, own in sessions.items() if len(own) >= 3}
with gzip.open(sys.argv[2], "wt", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(head)
    out.writerows(row for row in rows if (row[0], row[1]) not in dropped)
