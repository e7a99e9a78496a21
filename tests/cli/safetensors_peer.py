"""Reads and writes safetensors files by their specification alone: json, struct and numpy."""
import json
import struct

import numpy as np

TYPES = {"U32": "<u4", "U8": "u1", "I32": "<i4", "I64": "<i8", "F32": "<f4", "F64": "<f8"}


def read(path):
    raw = open(path, "rb").read()
    size, = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    metadata, data = header.pop("__metadata__", {}), raw[8 + size :]
    places = {name: t["data_offsets"] for name, t in header.items()}
    arrays = {name: np.frombuffer(data[slice(*places[name])], TYPES[t["dtype"]]).reshape(t["shape"])
              for name, t in header.items()}
    return metadata, arrays, {name: 8 + size + begin for name, (begin, _) in places.items()}


def write(path, metadata, arrays):
    header, data = {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        dtype = next(d for d, t in TYPES.items() if np.dtype(t) == array.dtype)
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
