"""Writes the seeds of tests/fuzz/corpus/checkpoint: checkpoint_seeds.py FOLDER CKPT MODEL [PREFIX]

Both files are those of write_checkpoint; PREFIX begins the names of the seeds. The checksum is left out, so that a mutation is not refused
for that alone."""
import json
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
prefix = sys.argv[4] if len(sys.argv) > 4 else ""


def seed(name, source, change=lambda header: None):
    raw = pathlib.Path(source).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    del header["__metadata__"]["checksum"]
    change(header)
    text = json.dumps(header, separators=(",", ":")).encode()
    (folder / (prefix + name)).write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])


def config(**settings):
    return lambda header: header["__metadata__"].update(config=json.dumps(settings))


def drop_kind(header):
    header["__metadata__"]["model"] = "nothing"


def newer(header):
    header["__metadata__"]["version"] = "2"


for name, source in (("checkpoint", sys.argv[2]), ("model", sys.argv[3])):
    seed(name, source)
    seed(name + "-wide", source, config(**{"dim.user": 4096, "dim.item": 4096, "layers": 8}))
    seed(name + "-long", source, config(**{"length": 4096, "dim.item": 2, "heads": 2}))
    seed(name + "-kind", source, drop_kind)
    seed(name + "-newer", source, newer)
