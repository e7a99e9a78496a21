#!/usr/bin/env python3
"""GRU4Rec and BPR matrix factorisation in PyTorch, as fast as PyTorch allows on a CPU.

  field_peer.py gru4rec ACTIONS.csv[.gz] --seconds 30 --threads 1      prints "train_items_per_s N threads T"
  field_peer.py gru4rec ACTIONS.csv[.gz] --loss bpr-max                or sampled, against 2,048 drawn items
  field_peer.py bpr ACTIONS.csv[.gz] --seconds 30 --threads 1 [--sparse]

Networks, losses, optimiser and batches are those of `parsrec train --model gru4rec` (cross entropy over the catalogue,
sampled cross entropy or BPR-max) and `--model bpr`. Of each user all actions but the last two train. An item a second is a predicted item; padding counts
for nothing. gru4rec: PyTorch's own GRU, batches of users of like length (--mixed: of all lengths), dropout of
sasrec_peer.py, losses with their gradients written out, in place; all positions of a piece share its drawn items. bpr: the pairs of an epoch are arrays, so that Python does a handful of calls per
batch; gradients of the tables are dense with Adam, or lists of rows with SparseAdam (--sparse).
--plain is gru4rec as one writes it without looking for speed: PyTorch's own dropout and cross entropy, gradients by
autograd, all positions of a batch at once with one draw of items.
Needs Debian's python3-torch and python3-numpy.
"""
import argparse
import math
import time

from sasrec_peer import Drop, batches, load, sequences, tensors  # noqa: I100  sets what malloc keeps

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class CatalogueLoss(torch.autograd.Function):
    """Mean loss of o[T,D] over table[V,D] and bias[V], gradients included, in pieces that stay near the processor.

    ce goes over the whole catalogue, the others over items that a piece draws. With y the scores of these, t that of the
    target, w = softmax(y) and s the logistic function:
    sampled  log(exp(t) + sum of exp(y + log(V / N))) - t
    bpr-max  -log(sum of w s(t - y)) + decay * sum of w y^2
    """

    @staticmethod
    def forward(ctx, o, table, bias, target, args):
        N = len(table) if args.loss == "ce" else args.negatives
        grads = torch.empty_like(o), torch.zeros_like(table), torch.zeros_like(bias)
        rooms = [o.new_empty(min(args.piece, len(o)), N) for _ in range(4 if args.loss == "bpr-max" else 1)]
        loss = 0.0
        for at in range(0, len(o), args.piece):
            part, t = o[at:at + args.piece], target[at:at + args.piece]
            room = [r[:len(part)] for r in rooms]
            do = grads[0][at:at + args.piece]
            if args.loss == "ce":
                loss += whole(do, grads, part, t, table, bias, room[0], len(o))
            else:
                loss += drawn(do, grads, part, t, table, bias, room, len(o), args)
        ctx.save_for_backward(*grads)
        return o.new_tensor(loss / len(o))

    @staticmethod
    def backward(ctx, dloss):
        return (*ctx.saved_tensors, None, None)  # the loss is the root: dloss is 1


def whole(do, grads, part, target, table, bias, y, T):
    torch.addmm(bias, part, table.T, out=y)
    y -= y.amax(1, keepdim=True)
    right = y.gather(1, target[:, None])
    y.exp_()
    total = y.sum(1, keepdim=True)
    y /= total * T
    y.scatter_add_(1, target[:, None], torch.full_like(right, -1 / T))
    torch.mm(y, table, out=do)
    grads[1].addmm_(y.T, part)
    grads[2].add_(y.sum(0))
    return float((total.log() - right).sum())


def drawn(do, grads, part, target, table, bias, room, T, args):
    ids = torch.randint(len(table), (args.negatives,)).sort()[0]
    rows, own = table.index_select(0, ids), table.index_select(0, target)
    y = torch.addmm(bias[ids], part, rows.T, out=room[0])
    t = (part * own).sum(1, keepdim=True) + bias[target][:, None]
    # where a target was drawn: ids are sorted, so that no comparison of all pairs is needed
    first, end = torch.searchsorted(ids, target), torch.searchsorted(ids, target, right=True)
    many = end - first
    at_row = torch.repeat_interleave(torch.arange(len(part)), many)
    at = (at_row, torch.repeat_interleave(first - many.cumsum(0) + many, many) + torch.arange(len(at_row)))
    y[at] = -1e30
    if args.loss == "sampled":
        more = math.log(len(table) / args.negatives)
        top = torch.maximum(y.amax(1, keepdim=True), t - more)
        y.sub_(top).exp_()
        mine = (t - more - top).exp_()
        total = y.sum(1, keepdim=True).add_(mine)
        loss = float((total.log() - (t - more - top)).sum())
        y /= total * T
        dt = (mine / total - 1) / T
    else:
        w, s, wy = torch.softmax(y, 1, out=room[1]), torch.sub(t, y, out=room[2]).sigmoid_(), room[3]
        y[at] = 0
        torch.mul(w, y, out=wy)
        squares = torch.mul(wy, y).sum(1, keepdim=True)
        ws = torch.mul(w, s)
        right = ws.sum(1, keepdim=True)
        loss = float((args.decay * squares - right.log()).sum())
        slope = s.neg_().add_(1).mul_(ws)  # w s (1 - s), by right still
        dt = slope.sum(1, keepdim=True).div_(right * -T)
        # (slope - w s) / right + w + decay w (2 y + y^2 - squares)
        y.add_(2).mul_(wy)
        y.mul_(args.decay / T).addcmul_(slope.sub_(ws), 1 / (right * T)).addcmul_(w, (1 - args.decay * squares) / T)
    torch.mm(y, rows, out=do)
    do += dt * own
    grads[1].index_add_(0, ids, torch.mm(y.T, part))
    grads[1].index_add_(0, target, dt * part)
    grads[2].index_add_(0, ids, y.sum(0))
    grads[2].index_add_(0, target, dt[:, 0])
    return loss


def plain_loss(y, table, bias, target, args):
    """The same losses as CatalogueLoss, left to autograd."""
    if args.loss == "ce":
        return F.cross_entropy(F.linear(y, table, bias), target)
    ids = torch.randint(len(table), (args.negatives,))
    right = (y * table[target]).sum(1, keepdim=True) + bias[target][:, None]
    drawn = F.linear(y, table[ids], bias[ids])
    hit = ids == target[:, None]
    if args.loss == "sampled":
        drawn = drawn.masked_fill(hit, -1e30) + math.log(len(table) / args.negatives)
        return F.cross_entropy(torch.cat((right, drawn), 1), torch.zeros_like(target))
    w = torch.softmax(drawn.masked_fill(hit, -1e30), 1)
    gain = (w * torch.sigmoid(right - drawn)).sum(1)
    return (args.decay * (w * drawn ** 2).sum(1) - gain.log()).mean()


class GRU4Rec(nn.Module):
    def __init__(self, items, args):
        super().__init__()
        self.args, self.threshold = args, round(256 * args.dropout)
        self.item = nn.Parameter(torch.empty(items + 1, args.dim).uniform_(-1, 1) / (items + 1) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(items))
        self.cell = nn.GRU(args.dim, args.dim, batch_first=True)

    def loss(self, inputs, targets, places):
        h, _ = self.cell(self.drop(F.embedding(inputs, self.item)))
        y = self.drop(h.reshape(-1, h.shape[-1]).index_select(0, places))
        loss = plain_loss if self.args.plain else CatalogueLoss.apply
        return loss(y, self.item[:-1], self.bias, targets, self.args)

    def drop(self, x):
        return F.dropout(x, self.args.dropout) if self.args.plain else Drop.apply(x, self.threshold)


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
    p.add_argument("--plain", action="store_true", help="gru4rec: nothing done for speed")
    p.add_argument("--sparse", action="store_true", help="bpr: sparse gradients")
    p.add_argument("--loss", choices=("ce", "sampled", "bpr-max"), default="ce", help="gru4rec")
    p.add_argument("--decay", type=float, default=0.01, help="BPR-max: cost of large scores")
    p.add_argument("--piece", type=int, default=0, help="gru4rec: positions whose scores are held at a time; 512 with"
                   " ce, else 256, which share their drawn items")
    p.add_argument("--negatives", type=int, default=0, help="drawn items: 2048 for gru4rec, 4 for bpr")
    p.add_argument("--dim", type=int, default=0, help="128 for gru4rec, 64 for bpr")
    for name, value in dict(length=200, batch=0).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--dropout", type=float, default=0.4)
    args = p.parse_args()
    gru = args.model == "gru4rec"
    args.dim = args.dim or (128 if gru else 64)
    args.negatives = args.negatives or (2048 if gru else 4)
    args.piece = args.piece or (512 if args.loss == "ce" else 256)
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    train = gru4rec_steps(args) if gru else bpr_steps(args)
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
