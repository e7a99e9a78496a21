"""Writes the seeds of tests/fuzz/corpus/container: container_seeds.py FOLDER [FILE OF OURS]...

Small valid data sets without a checksum, so that a mutation is not refused for that alone, and one
file for each thing a reader can trip over.
"""
import json
import pathlib
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

import numpy as np
from safetensors_peer import read, write

folder = pathlib.Path(sys.argv[1])
META = {"format": "parsrec.data", "version": "1"}


def i4(*v):
    return np.array(v, "<i4")


def i8(*v):
    return np.array(v, "<i8")


def names(table, words):
    ends = np.cumsum([0] + [len(w) for w in words]).astype("<i8")
    return {table + ".bytes": np.frombuffer("".join(words).encode(), "u1"), table + ".offsets": ends}


def raw(name, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    (folder / name).write_bytes(struct.pack("<Q", size) + text + data)


base = {**names("user_keys", ["u", "v"]), **names("item_keys", ["a", "b"]),
        "user_offsets": i8(0, 1, 2), "session_offsets": i8(0, 2, 3), "items": i4(0, 1, 1)}
write(folder / "least", META, base)
write(folder / "times", {**META, "time_kind": "unix"}, {**base, "times": i8(1, 2)})
write(folder / "catalogue", META, {
    **base, **names("item_names", ["A", ""]), **names("category_names", ["X", "Y"]),
    "category_parent": i4(-1, 0), "item_category": i4(1, -1)})
write(folder / "features", META, {
    **base, "user_feature.age": np.array([1, np.nan], "<f4"), "session_feature.c": i4(0, -1),
    **names("session_feature.c.values", ["w"]), "item_feature.p": np.array([1, 2], "<f4")})
write(folder / "empty", META, {
    **names("user_keys", []), **names("item_keys", []), "user_offsets": i8(0),
    "session_offsets": i8(0), "items": i4()})
write(folder / "bare", {}, {})
write(folder / "truth", META, {**base, "truth.x": np.zeros((2, 3), "<f8"), "pad.0": i4()})
raw("huge_length", {}, length=2**63)
raw("overlap", {"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}, b"abc")
raw("overflow", {"a": {"dtype": "F64", "shape": [2**32, 2**32], "data_offsets": [0, 0]}})
raw("zero_times_huge", {"a": {"dtype": "F64", "shape": [2**62, 0, 2**62], "data_offsets": [0, 0]}})
raw("escaped_key", b'{"__metadata__":{"check\\u0073um":"0123456789abcdef"}}')
raw("deep", b"[" * 3000)
for i, path in enumerate(sys.argv[2:]):
    (folder / f"ours_{i}").write_bytes(pathlib.Path(path).read_bytes())
    metadata, arrays, _ = read(path)
    del metadata["checksum"]
    write(folder / f"ours_unsummed_{i}", metadata, arrays)
