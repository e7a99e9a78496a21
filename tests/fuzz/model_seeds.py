"""Writes the seeds of tests/fuzz/corpus/model: model_seeds.py FOLDER MODEL [PREFIX]

MODEL is by write_model; PREFIX begins the names of the seeds. The model as it is, without its checksum, so that a mutation is not refused for that alone, and one
file for each thing a reader of models can trip over.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

import numpy as np
from safetensors_peer import read, write

folder = pathlib.Path(sys.argv[1])
prefix = sys.argv[3] if len(sys.argv) > 3 else ""
metadata, arrays, _ = read(sys.argv[2])
(folder / (prefix + "whole")).write_bytes(pathlib.Path(sys.argv[2]).read_bytes())
del metadata["checksum"]
arrays = {name: a for name, a in arrays.items() if not name.startswith(("pad.", "user_feature"))}
config = json.loads(metadata["config"])


def seed(name, words={}, settings={}, tensors={}):
    words = {**metadata, "config": json.dumps({**config, **settings}), **words}
    write(folder / (prefix + name), words, {**arrays, **tensors})


seed("unsummed")
seed("large_settings", settings={"dim.user": 4096, "dim.item": 4096})
seed("heads", settings={"heads": 3})
seed("long", settings={"length": 4096})
seed("no_such_setting", settings={"colour": "red"})
seed("config_is_text", words={"config": "[]"})
seed("no_such_model", words={"model": "prophet"})
seed("newer", words={"version": "9"})
first = next(n for n in arrays if n.startswith("param."))
seed("not_a_number", tensors={first: np.full_like(arrays[first], np.nan)})
seed("huge_numbers", tensors={n: np.full_like(a, 3e38) for n, a in arrays.items() if n.startswith("param.")})
seed("other_shape", tensors={first: arrays[first].reshape(1, -1)})
