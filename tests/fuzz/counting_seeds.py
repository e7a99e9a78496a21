"""Adds seeds of models that count to tests/fuzz/corpus/model: counting_seeds.py FOLDER MARKOV

MARKOV is by write_model, of the kind markov. Whole numbers that point to places, in and out of range.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

import numpy as np
from safetensors_peer import read, write

folder = pathlib.Path(sys.argv[1])
metadata, arrays, _ = read(sys.argv[2])
del metadata["checksum"]
arrays = {name: a for name, a in arrays.items() if not name.startswith(("pad.", "user_feature"))}


def seed(name, kind, tensors={}):
    write(folder / name, {**metadata, "model": kind}, {**arrays, **tensors})


seed("markov", "markov")
seed("markov_far", "markov", {"param.within.item": arrays["param.within.item"] + np.uint32(1000)})
seed("markov_backwards", "markov", {"param.across.start": arrays["param.across.start"][:, ::-1].copy()})
seed("markov_short", "markov", {"param.within.count": arrays["param.within.count"][:-1]})
users = len(arrays["user_offsets"]) - 1
oracle = {
    "param.shape": np.array([[1, 2]], np.uint32),
    "param.user_group": np.zeros((1, users), np.uint32),
    "param.item_category": np.array([[0, 0, 1, 1]], np.uint32),
    "param.size_chance": np.full((1, 11), 0.1, np.float32),
    "param.trip": np.array([[3, 0, 1 << 16, 0, 0, 0, 0, 1]] * 3, np.uint32),
    "param.product": np.zeros((users + 1, 4), np.float32),
}
seed("oracle", "oracle", oracle)
seed("oracle_groups", "oracle", {**oracle, "param.shape": np.array([[2, 2]], np.uint32)})
seed("oracle_no_trips", "oracle", {**oracle, "param.trip": np.zeros((0, 8), np.uint32)})
