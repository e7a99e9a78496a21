#!/usr/bin/env python3
"""What a pair of categories is worth step by step, when baskets are drawn item by item.

The paper's what-if scenario without products: 20 categories, C0 and C2 correlated by .6, basket sizes as
synth draws them, items placed in random order. First the chance that C2 is placed next over that of any
other category, by the number placed before, without and with C0 among them. Then baskets that are drawn
step by step with one factor w between C0 and C2, whatever has been placed, and the lift that they end up
with: whole baskets show less than their steps, since a basket without C0 is as likely to get C2 as before.
Last, how well a user's 99 sessions tell whether the two are correlated for that user.
See docs/whatif.md, The model alone.

usage: bench/pair_steps.py [BASKETS]     (200000 without it: about a minute)
"""
import math
import random
import sys

CATEGORIES, RHO = 20, 0.6


def size(rng):
    return min(math.ceil(2 + rng.weibullvariate(1.4738, 0.8047)), 10)


def utilities(rng, rho=RHO):
    """As the generator: n best of normal utilities, two of them correlated."""
    e = [rng.gauss(0, 1) for _ in range(CATEGORIES)]
    e[2] = rho * e[0] + math.sqrt(1 - rho * rho) * e[2]
    basket = sorted(range(CATEGORIES), key=lambda c: -e[c])[:size(rng)]
    rng.shuffle(basket)
    return basket


def steps(baskets):
    """{(C0 placed, number placed): [times C2 was next, mean times another category was]}"""
    counts = {}
    for basket in baskets:
        placed = set()
        for c in basket:
            if 2 not in placed:
                row = counts.setdefault((0 in placed, len(placed)), [0, 0.0])
                row[0] += c == 2
                if c not in (0, 2):
                    row[1] += 1 / (CATEGORIES - 2 - len(placed - {0}))
            placed.add(c)
    return {k: a / b for k, (a, b) in counts.items() if b > 0}


def drawn(rng, w):
    left, placed = list(range(CATEGORIES)), []
    for _ in range(size(rng)):
        weights = [w if (c == 2 and 0 in placed) or (c == 0 and 2 in placed) else 1 for c in left]
        placed.append(left.pop(rng.choices(range(len(left)), weights)[0]))
    return placed


def lift(baskets):
    n = len(baskets)
    a, b = sum(0 in s for s in baskets) / n, sum(2 in s for s in baskets) / n
    both = sum(0 in s and 2 in s for s in baskets) / n
    return both / (a * b), (b - both) / (1 - a) / b - 1


def cell(basket):
    return 2 * (0 in basket) + (2 in basket)


def told_apart(rng, users, sessions=99):
    """The mean posterior of the right group, both equally likely, from counts of the four cells."""
    groups = [[[cell(utilities(rng, rho)) for _ in range(sessions)] for _ in range(2 * users)]
              for rho in (RHO, 0)]
    chance = [[sum(user.count(c) for user in group[:users]) / (users * sessions) for c in range(4)]
              for group in groups]  # of other users
    right = 0
    for g, group in enumerate(groups):
        for user in group[users:]:
            ratio = sum(math.log(chance[1 - g][c] / chance[g][c]) for c in user)
            right += 1 / (1 + math.exp(ratio)) / (2 * users)
    return right


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    rng = random.Random(7)
    true = [utilities(rng) for _ in range(count)]
    ratio = steps(true)
    print("placed   without C0   with C0")
    for m in range(7):
        with_c0 = "%10.2f" % ratio[True, m] if (True, m) in ratio else "         -"
        print("%6d %12.2f %s" % (m, ratio[False, m], with_c0))
    print("\nbaskets               lift   C2 without C0")
    print("%-20s %5.2f %14.1f %%" % ("generator", lift(true)[0], 100 * lift(true)[1]))
    for w in (1, 2, 2.5, 3, 4):
        l, change = lift([drawn(rng, w) for _ in range(count // 4)])
        print("%-20s %5.2f %14.1f %%" % ("drawn, w = %g" % w, l, 100 * change))
    print("\nright group of a user: %.2f" % told_apart(rng, max(20, count // 1000)))


main()
