#!/usr/bin/env python3
"""SASRec in PyTorch, written to be as fast as PyTorch allows on a CPU: what a user would pick instead of parsrec.

  sasrec_peer.py ACTIONS.csv[.gz] --seconds 30 --threads 2      prints "train_items_per_s N threads T"

The network, loss and optimiser are those of `parsrec train --model sasrec` (docs/math.md, Sequence models). Of each user
all actions but the last two train, the newest `length` of them. An item a second is a predicted item; padding counts
for nothing. What makes it fast: one product for query, key and value, no Python loop over rows, batches of users of like
length (--mixed: of all lengths), attention in blocks of queries that leave most of the future out, dropout from whole
bytes of random words, scores of the catalogue in pieces whose memory is used again, and memory that is kept.
Needs Debian's python3-torch and python3-numpy.
"""
import os
import sys

# Memory that malloc gives back must be fetched again page by page, which costs more than a step.
KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26)}
if "MALLOC_MMAP_MAX_" not in os.environ:
    os.environ.update(KEEP)
    os.execv(sys.executable, [sys.executable] + sys.argv)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else OpenBLAS and PyTorch each start threads and fight

import argparse
import csv
import gzip
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


# ---- data ----

def load(path):
    """Items of each user in the order of the file, and how many items there are."""
    users, ids = {}, {}
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        rows = csv.reader(file)
        head = next(rows)
        user, item = head.index("user"), head.index("item")
        for row in rows:
            users.setdefault(row[user], []).append(ids.setdefault(row[item], len(ids)))
    return [np.array(items) for items in users.values()], len(ids)


def sequences(users, length):
    """What is learnt from: all but the last two items, the newest length + 1 of these."""
    return [u[:-2][-(length + 1):] if len(u) > 2 else u[-(length + 1):] for u in users]


def batches(lives, size, rng, mixed):
    order = rng.permutation(len(lives))
    if not mixed:  # of like length, in random order
        lengths = np.array([len(lives[i]) for i in order])
        order = order[np.argsort(lengths, kind="stable")]
    starts = rng.permutation(range(0, len(order), size))
    return [order[s:s + size] for s in starts]


def tensors(lives, rows, length, start):
    """Inputs [B,L], targets [T], and the places [T] of real positions in [B*L]."""
    inputs, targets = [], []
    for i in rows:
        life = lives[i]
        whole = len(life) <= length
        inputs.append(np.concatenate(([start], life[:-1])) if whole else life[:-1])
        targets.append(life if whole else life[1:])
    L = max(len(x) for x in inputs)
    padded = np.full((len(rows), L), start)
    for r, x in enumerate(inputs):
        padded[r, :len(x)] = x
    places = np.concatenate([r * L + np.arange(len(x)) for r, x in enumerate(inputs)])
    return (torch.from_numpy(padded), torch.from_numpy(np.concatenate(targets)), torch.from_numpy(places))


# ---- network ----

class Drop(torch.autograd.Function):
    """Dropout with a byte of a random word for each number: an eighth of the draws of nn.Dropout."""

    @staticmethod
    def forward(ctx, x, threshold):
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-2**63, None)
        keep = (words.view(torch.uint8)[:x.numel()] >= threshold).view(x.shape)
        factor = keep * (256 / (256 - threshold))
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, dy):
        return dy * ctx.saved_tensors[0], None


class TableLoss(torch.autograd.Function):
    """Mean cross entropy of o[T,D] over table[V,D], gradients included, in pieces that stay near the processor."""

    @staticmethod
    def forward(ctx, o, table, target, piece):
        scores = torch.empty(min(piece, len(o)), len(table))
        do, dtable, loss = torch.empty_like(o), torch.zeros_like(table), 0.0
        for at in range(0, len(o), piece):
            part, t = o[at:at + piece], target[at:at + piece, None]
            y = scores[:len(part)]
            torch.mm(part, table.T, out=y)
            y -= y.amax(1, keepdim=True)
            right = y.gather(1, t)
            y.exp_()
            total = y.sum(1, keepdim=True)
            loss += float((total.log() - right).sum())
            y /= total * len(o)
            y.scatter_add_(1, t, torch.full_like(right, -1 / len(o)))
            torch.mm(y, table, out=do[at:at + piece])
            dtable.addmm_(y.T, part)
        ctx.save_for_backward(do, dtable)
        return torch.tensor(loss / len(o))

    @staticmethod
    def backward(ctx, dloss):
        do, dtable = ctx.saved_tensors
        return do, dtable, None, None  # the loss is the root: dloss is 1


class Block(nn.Module):
    def __init__(self, args):
        super().__init__()
        D = args.dim
        self.heads, self.width, self.block = args.heads, D // args.heads, args.block
        self.threshold = round(256 * args.dropout)
        self.ask, self.qkv, self.join = nn.LayerNorm(D, eps=1e-8), nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.ffn, self.inner, self.out = nn.LayerNorm(D, eps=1e-8), nn.Linear(D, D), nn.Linear(D, D)

    def drop(self, x):
        return Drop.apply(x, self.threshold) if self.threshold else x

    def attend(self, x, future):
        B, L, D = x.shape
        qkv = self.qkv(x).view(B, L, 3, self.heads, self.width).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, B * self.heads, L, self.width)
        parts, at = [], 0
        for part in torch.split(q / math.sqrt(self.width), self.block, 1):
            end = at + part.shape[1]
            score = part @ k[:, :end].transpose(1, 2)
            with torch.no_grad():  # a constant: nothing goes back through it
                score[:, :, at:].add_(future[:end - at, :end - at])
            parts.append(self.drop(torch.softmax(score, -1)) @ v[:, :end])
            at = end
        y = torch.cat(parts, 1).view(B, self.heads, L, self.width)
        return y.transpose(1, 2).reshape(B, L, D)

    def forward(self, x, future):
        x = x + self.drop(self.join(self.attend(self.ask(x), future)))
        return x + self.drop(self.out(self.drop(F.relu(self.inner(self.ffn(x))))))


class SASRec(nn.Module):
    def __init__(self, items, args):
        super().__init__()
        self.args = args
        self.item = nn.Parameter(torch.empty(items + 1, args.dim).uniform_(-1, 1) / math.sqrt(items + 1))
        self.position = nn.Parameter(torch.empty(args.length, args.dim).uniform_(-1, 1) / math.sqrt(args.length))
        self.blocks = nn.ModuleList(Block(args) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.dim, eps=1e-8)
        future = torch.full((args.block, args.block), -math.inf).triu(1)
        self.register_buffer("future", future)

    def forward(self, inputs, places):
        B, L = inputs.shape
        x = F.embedding(inputs, self.item) * math.sqrt(self.args.dim) + self.position[:L]
        x = self.blocks[0].drop(x)
        for block in self.blocks:
            x = block(x, self.future)
        return self.norm(x.reshape(B * L, -1).index_select(0, places))

    def loss(self, o, targets):
        table = self.item[:-1]
        if self.args.loss == "ce":
            return TableLoss.apply(o, table, targets, self.args.piece)
        wrong = torch.randint(len(table), targets.shape)  # may be one of the user's own: cheaper than asking
        right = (o * F.embedding(targets, self.item)).sum(1)
        other = (o * F.embedding(wrong, self.item)).sum(1)
        return (F.softplus(-right) + F.softplus(other)).mean()


# ---- measurement ----

def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("actions")
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--loss", choices=("ce", "bce"), default="ce")
    p.add_argument("--mixed", action="store_true", help="users of all lengths in a batch")
    p.add_argument("--block", type=int, default=64, help="queries of attention at a time")
    p.add_argument("--piece", type=int, default=512, help="positions whose catalogue scores are held at a time")
    for name, value in dict(dim=128, layers=2, heads=2, length=200, batch=128).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--dropout", type=float, default=0.2)
    p.add_argument("--profile", action="store_true", help="print where the time goes")
    return p.parse_args()


def steps(args):
    """Trains for ever; yields the loss and the predicted items of each batch."""
    users, items = load(args.actions)
    lives = [s for s in sequences(users, args.length) if len(s) > 0]
    net, rng = SASRec(items, args), np.random.RandomState(1)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, foreach=True)
    while True:
        for rows in batches(lives, args.batch, rng, args.mixed):
            inputs, targets, places = tensors(lives, rows, args.length, items)
            loss = net.loss(net(inputs, places), targets)
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
            yield float(loss.detach()), len(targets)


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    train = steps(args)
    for _ in range(3):  # warms up
        next(train)
    items, begin, loss = 0, time.perf_counter(), 0.0
    with torch.profiler.profile() if args.profile else open(os.devnull) as profile:
        while time.perf_counter() - begin < args.seconds:
            loss, n = next(train)
            items += n
    rate = items / (time.perf_counter() - begin)
    if args.profile:
        print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=20, max_name_column_width=40))
    print(f"train_items_per_s {rate:.1f} threads {args.threads} loss {loss:.4f}")


if __name__ == "__main__":
    main()
