"""Writes the seeds of tests/fuzz/corpus/histories: histories_seeds.py FOLDER

Files of live histories (docs/format.md) over the shop of fuzz_histories.c, which has the users u00000 and u00001 and three
items. Without a checksum, so that a mutation is not refused for that alone."""
import json
import pathlib
import struct
import sys

FORMS = {"U8": "B", "I32": "i", "I64": "q", "U64": "Q"}


def container(columns, **metadata):
    header, data = {"__metadata__": {"format": "parsrec.histories", "version": "1", "store": "s", "base": "b",
                                     "catalogue": "c", "through": "7", "entries": "5", "seed": "3", **metadata}}, b""
    for name, (dtype, values) in sorted(columns.items(), key=lambda c: -struct.calcsize(FORMS[c[1][0]])):
        raw = bytes(values) if isinstance(values, bytes) else struct.pack(f"<{len(values)}{FORMS[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": [len(values)], "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def histories(**changes):
    columns = {
        "user_keys.bytes": ("U8", b"u00001new"), "user_keys.offsets": ("I64", [0, 6, 9]),
        "user_offsets": ("I64", [0, 1, 3]), "user_forgotten": ("U8", [1, 0]),
        "session_offsets": ("I64", [0, 2, 3, 5]), "session_names": ("U64", [1, 2, 0, 0, 5, 6]),
        "session_times": ("I64", [1700000000, 0, 1800000000]), "items": ("I32", [0, 2, 1, 1, 0]),
        "cart_offsets": ("I64", [0, 0, 1]), "cart_names": ("U64", [9, 9]), "cart_item_offsets": ("I64", [0, 2]),
        "cart_items": ("I32", [1, 2]),
    }
    for name, values in changes.items():
        columns[name] = (columns[name][0], values)
    return columns


folder = pathlib.Path(sys.argv[1])
for name, raw in {
    "good": container(histories()),
    "newer": container(histories(), version="2"),
    "other-store": container(histories(), store="t"),
    "no-number": container(histories(), through="-1"),
    "no-seed": container(histories(), seed="0"),
    "beyond": container(histories(items=[0, 2, 1, 1, 3])),
    "negative": container(histories(cart_items=[1, -1])),
    "falling": container(histories(session_offsets=[0, 3, 2, 5])),
    "no-times": container(histories(session_times=[])),
    "short": container(histories(user_offsets=[0, 1, 2])),
    "odd-names": container(histories(session_names=[1, 2, 0, 0, 5])),
    "many-carts": container(histories(cart_offsets=[0, 0, 5], cart_names=[9] * 10, cart_item_offsets=[0, 0, 0, 1, 1, 2])),
    "twice": container(histories(**{"user_keys.bytes": b"newnew", "user_keys.offsets": [0, 3, 6]})),
    "empty-key": container(histories(**{"user_keys.offsets": [0, 9, 9]})),
    "empty": container({n: (d, [0] if n.endswith("offsets") else []) for n, (d, _) in histories().items()}),
}.items():
    (folder / name).write_bytes(raw)
