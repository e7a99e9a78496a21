#!/usr/bin/env python3
"""Writes ten_losses.json: ten training losses of PARSRec in PyTorch, in double, for test_losses.c.

Run with Debian's python3-torch:  /usr/bin/python3 ten_losses.py > ten_losses.json
First weights are a formula that both sides compute; targets are the baskets in stored order; no
dropout. Baskets end at different steps: ended rows have no loss. Maps are trained by Adam,
embedding rows by sparse Adam, all clipped together.
"""
import json, math
import torch
import torch.nn.functional as F

U, V, D, HEADS, RATE, CLIP = 5, 23, 8, 2, 0.02, 1.5
Q = 2 * D
SHAPES = {'item_emb': (V + 1, D), 'cell_w': (2 * D, Q + D), 'cell_b': (1, 2 * D),
          'attn.0.query_w': (Q, Q), 'attn.0.query_b': (1, Q), 'attn.0.kv_w': (2 * Q, D),
          'attn.0.kv_b': (1, 2 * Q), 'attn.0.join_w': (Q, Q), 'attn.0.join_b': (1, Q),
          'attn.0.norm_gain': (1, Q), 'attn.0.norm_shift': (1, Q), 'attn.0.map_w': (D, Q),
          'attn.0.map_b': (1, D), 'user_emb': (U + 1, D)}
BATCHES = [
    {'users': [0, 3, 1, 4], 'history': [[2, 2, 9], [], [17], [5, 6, 7, 7, 22]],
     'baskets': [[4, 1, 8, 11, 20], [3, 9, 0], [12, 2], [19]]},
    {'users': [2, 2, 0], 'history': [[1], [1, 3, 3], [4, 8, 2, 2, 9]],
     'baskets': [[21, 5, 10, 0], [14, 13, 6, 22], [7, 4, 15]]},
]


def first(k, name, shape):
    n = shape[0] * shape[1]
    x = torch.tensor([0.3 * math.sin(0.37 * (i + 1) + 1.3 * (k + 1)) for i in range(n)],
                     dtype=torch.float64).view(shape)
    return x + 1 if name.endswith('gain') else x


W = {n: first(k, n, s).requires_grad_() for k, (n, s) in enumerate(SHAPES.items())}


def heads(x):
    return x.view(HEADS, -1)


def row_losses(user, history, basket):
    """Cross entropies of one basket, written for one row at a time."""
    u = W['user_emb'][user]
    h = W['item_emb'][history].mean(0) if history else torch.zeros(D, dtype=torch.float64)
    keys, out = [V], []
    for target in basket:
        q = torch.cat((u, h))
        kv = F.linear(W['item_emb'][keys], W['attn.0.kv_w'], W['attn.0.kv_b'][0])
        p = heads(F.linear(q, W['attn.0.query_w'], W['attn.0.query_b'][0]))
        mixed = []
        for i in range(HEADS):
            part = slice(i * Q // HEADS, (i + 1) * Q // HEADS)
            a = torch.softmax(kv[:, :Q][:, part] @ p[i] / math.sqrt(Q // HEADS), 0)
            mixed.append(a @ kv[:, Q:][:, part])
        x = F.linear(torch.cat(mixed), W['attn.0.join_w'], W['attn.0.join_b'][0])
        x = F.layer_norm(q + x, (Q,), W['attn.0.norm_gain'][0], W['attn.0.norm_shift'][0], 1e-8)
        x = F.linear(x, W['attn.0.map_w'], W['attn.0.map_b'][0])
        c = F.linear(torch.cat((q, x)), W['cell_w'], W['cell_b'][0])
        h, o = F.relu(c[:D]), c[D:]
        y = W['item_emb'][:V] @ o
        out.append(torch.logsumexp(y, 0) - y[target])
        keys = [target] if keys == [V] else keys + [target]
    return out


def main():
    tables = ['item_emb', 'user_emb']
    dense = torch.optim.Adam([w for n, w in W.items() if n not in tables], lr=RATE)
    sparse = torch.optim.SparseAdam([W[n] for n in tables], lr=RATE)
    losses, norms = [], []
    for i in range(10):
        b = BATCHES[i % 2]
        for w in W.values():
            w.grad = None
        loss = sum(sum(row_losses(*row)) for row in zip(b['users'], b['history'], b['baskets']))
        loss = loss / len(b['users'])
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(list(W.values()), CLIP)))
        for n in tables:        # the rows that took part
            rows = list(range(V + 1)) if n == 'item_emb' else sorted(set(b['users']))
            W[n].grad = torch.sparse_coo_tensor([rows], W[n].grad[rows], W[n].shape).coalesce()
        dense.step()
        sparse.step()
        losses.append(float(loss))
    print(json.dumps({'users': U, 'items': V, 'dim': D, 'heads': HEADS, 'rate': RATE, 'clip': CLIP,
                      'params': list(SHAPES), 'batches': BATCHES, 'losses': losses,
                      'norms': norms}, indent=1))


main()
