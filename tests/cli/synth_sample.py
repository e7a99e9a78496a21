"""Compares our synthetic actions with the sample that the paper's authors published.

usage: synth_sample.py OURS.csv SAMPLE.csv.gz

Both have 1,024 users, 100 sessions, 20 categories of 100 products. Rates at which categories, and
pairs of them, are bought must agree in each group within 4.5 standard errors; basket sizes and the
concentration of users on their favourite products must be alike too.
"""
import gzip
import sys

import numpy as np

USERS, SESSIONS, CATEGORIES, PRODUCTS = 1024, 100, 20, 100


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 2, 3), dtype=int)
    user, time, item = rows.T
    return user, user * SESSIONS + time, item - item.min()  # the sample begins at item 2


def pair_rates(data, group):
    _, session, item = data
    bought = np.zeros((USERS * SESSIONS, CATEGORIES))
    bought[session, item // PRODUCTS] = 1
    half = np.split(bought, 2)[group]
    return half.T @ half / len(half), len(half)


def largest_difference(ours, sample):
    worst = 0.0
    for group in (0, 1):
        (p, n), (q, m) = pair_rates(ours, group), pair_rates(sample, group)
        mean = (p + q) / 2
        error = np.sqrt(mean * (1 - mean) * (1 / n + 1 / m)) + 1e-9
        worst = max(worst, np.max(np.abs(p - q) / error))
    return worst


def size_shares(data):
    _, sizes = np.unique(data[1], return_counts=True)
    return np.bincount(sizes, minlength=11) / len(sizes)


def distinct_pairs(data):
    return len(np.unique(data[0] * CATEGORIES * PRODUCTS + data[2]))


ours, sample = load(sys.argv[1]), load(sys.argv[2])
rates = largest_difference(ours, sample)
sizes = np.max(np.abs(size_shares(ours) - size_shares(sample)))
pairs = distinct_pairs(ours) / distinct_pairs(sample)
print(f"rates {rates:.2f} standard errors, sizes {sizes:.4f}, distinct user-item pairs {pairs:.3f}")
sys.exit(0 if rates < 4.5 and sizes < 0.01 and abs(pairs - 1) < 0.03 else 1)
