#!/usr/bin/env python3
"""GRU4Rec and BPR matrix factorisation in PyTorch, as fast as PyTorch allows on a CPU.

  field_peer.py gru4rec ACTIONS.csv[.gz] --seconds 30 --threads 1      prints "train_items_per_s N threads T"
  field_peer.py bpr ACTIONS.csv[.gz] --seconds 30 --threads 1 [--sparse]

Networks, losses, optimiser and batches are those of `parsrec train --model gru4rec` (cross entropy over the catalogue)
and `--model bpr`. Of each user all actions but the last two train. An item a second is a predicted item; padding counts
for nothing. gru4rec: PyTorch's own GRU, batches of users of like length (--mixed: of all lengths), dropout and the loss
over the catalogue of sasrec_peer.py. bpr: the pairs of an epoch are arrays, so that Python does a handful of calls per
batch; gradients of the tables are dense with Adam, or lists of rows with SparseAdam (--sparse).
Needs Debian's python3-torch and python3-numpy.
"""
import argparse
import time

from sasrec_peer import Drop, TableLoss, batches, load, sequences, tensors  # noqa: I100  sets what malloc keeps

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class GRU4Rec(nn.Module):
    def __init__(self, items, args):
        super().__init__()
        self.piece, self.threshold = args.piece, round(256 * args.dropout)
        self.item = nn.Parameter(torch.empty(items + 1, args.dim).uniform_(-1, 1) / (items + 1) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(items))
        self.cell = nn.GRU(args.dim, args.dim, batch_first=True)

    def loss(self, inputs, targets, places):
        x = Drop.apply(F.embedding(inputs, self.item), self.threshold)
        h, _ = self.cell(x)
        y = h.reshape(-1, h.shape[-1]).index_select(0, places)
        y = Drop.apply(y, self.threshold)
        # the bias as one more column of the table, so that the loss in pieces serves both
        y = torch.cat((y, torch.ones(len(y), 1)), 1)
        table = torch.cat((self.item[:-1], self.bias[:, None]), 1)
        return TableLoss.apply(y, table, targets, self.piece)


def gru4rec_steps(args):
    """Trains for ever; yields the loss and the predicted items of each batch."""
    users, items = load(args.actions)
    lives = [s for s in sequences(users, args.length) if len(s) > 0]
    net, rng = GRU4Rec(items, args), np.random.RandomState(1)
    adam = torch.optim.Adam(net.parameters(), lr=5e-3, foreach=True)
    while True:
        for rows in batches(lives, args.batch or 128, rng, args.mixed):
            loss = net.loss(*tensors(lives, rows, args.length, items))
            adam.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5)
            adam.step()
            yield float(loss.detach()), sum(min(len(lives[i]), args.length) for i in rows)


class BPR(nn.Module):
    def __init__(self, users, items, args):
        super().__init__()
        self.user = nn.Embedding(users, args.dim, sparse=args.sparse)
        self.item = nn.Embedding(items, args.dim, sparse=args.sparse)
        self.bias = nn.Embedding(items, 1, sparse=args.sparse)
        nn.init.uniform_(self.user.weight, -users ** -0.5, users ** -0.5)
        nn.init.uniform_(self.item.weight, -items ** -0.5, items ** -0.5)
        nn.init.zeros_(self.bias.weight)

    def loss(self, users, candidates):  # candidates[B,1 + N]: the target first
        score = torch.bmm(self.item(candidates), self.user(users)[:, :, None])[:, :, 0]
        score = score + self.bias(candidates)[:, :, 0]
        return F.softplus(score[:, 1:] - score[:, :1]).mean()


def bpr_steps(args):
    lives, items = load(args.actions)
    kept = [u[:-2] if len(u) > 2 else u for u in lives]
    users = torch.from_numpy(np.repeat(np.arange(len(kept)), [len(k) for k in kept]))
    bought = torch.from_numpy(np.concatenate(kept))
    net, batch = BPR(len(kept), items, args), args.batch or 1024
    adam = (torch.optim.SparseAdam if args.sparse else torch.optim.Adam)(list(net.parameters()), lr=3e-3)
    while True:
        order = torch.randperm(len(bought))
        for at in range(0, len(order), batch):
            rows = order[at:at + batch]
            candidates = torch.randint(items, (len(rows), 1 + args.negatives))  # may be right: cheaper than asking
            candidates[:, 0] = bought[rows]
            loss = net.loss(users[rows], candidates)
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
            yield float(loss.detach()), len(rows)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", choices=("gru4rec", "bpr"))
    p.add_argument("actions")
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--processor", action="store_true", help="seconds of processor time, for a machine with other work")
    p.add_argument("--mixed", action="store_true", help="gru4rec: users of all lengths in a batch")
    p.add_argument("--sparse", action="store_true", help="bpr: sparse gradients")
    p.add_argument("--piece", type=int, default=512, help="gru4rec: positions whose catalogue scores are held at a time")
    p.add_argument("--dim", type=int, default=0, help="128 for gru4rec, 64 for bpr")
    for name, value in dict(length=200, batch=0, negatives=4).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--dropout", type=float, default=0.4)
    args = p.parse_args()
    args.dim = args.dim or (128 if args.model == "gru4rec" else 64)
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    train = gru4rec_steps(args) if args.model == "gru4rec" else bpr_steps(args)
    for _ in range(3):  # warms up
        next(train)
    clock = time.process_time if args.processor else time.perf_counter
    items, begin, loss = 0, clock(), 0.0
    while clock() - begin < args.seconds:
        loss, n = next(train)
        items += n
    print(f"train_items_per_s {items / (clock() - begin):.1f} threads {args.threads} loss {loss:.4f}")


if __name__ == "__main__":
    main()
