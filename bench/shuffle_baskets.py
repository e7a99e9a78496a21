"""Shuffles the items within each basket: shuffle_baskets.py ACTIONS.csv.gz OUT.csv.gz SEED

For files whose order within a basket is a sort key or the order of a hash table. Expects the columns
user, session, time, item, with the rows of a basket together."""
import csv
import gzip
import itertools
import random
import sys

source, target, seed = sys.argv[1:]
rng = random.Random(int(seed))
with gzip.open(source, "rt", newline="") as lines, gzip.open(target, "wt", newline="") as out:
    rows, writer = csv.reader(lines), csv.writer(out)
    writer.writerow(next(rows))
    for _, basket in itertools.groupby(rows, key=lambda row: row[:2]):
        basket = list(basket)
        items = [row[3] for row in basket]
        rng.shuffle(items)
        writer.writerows(row[:3] + [item] for row, item in zip(basket, items))
