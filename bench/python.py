#!/usr/bin/python3
"""The Python package against the loop in C (bench/python_loop.c) and against CSV; leaks.

usage: bench/python.py [speed] [single] [frames] [leaks]     without words: all

speed   recommend for 100,000 users: the loop in C on one thread / one call of Python with one thread,
        keys of users and items included, in seconds of the processor (goal: at least .8)
single  a call for one user with a basket of three: microseconds above C (goal: at most 15)
frames  5.8 million rows as CSV, as Arrow text, as pandas strings and as numbers: seconds, growth of
        memory during the import, and whether the data sets have the same checksum
leaks   growth of memory over a million calls (goal: less than 1 MiB)

Needs build/release, cc, numpy and pandas. Takes the median of three turns; both sides take turns.
"""
import ctypes
import gc
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release" / "src"
os.environ.setdefault("PARSREC_LIBRARY", str(BUILD / "libparsrec.so"))
sys.path.insert(0, str(ROOT / "python"))

import numpy as np  # noqa: E402
import parsrec  # noqa: E402
from parsrec import _arrow  # noqa: E402

USERS, TURNS = 100_000, 3
missed = []


def goal(name, value, reached):
    print("%-58s %10s  %s" % (name, value, "reached" if reached else "MISSED"))
    if not reached:
        missed.append(name)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def compile_loop(folder):
    program = folder / "python_loop"
    subprocess.run(["cc", "-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-I", str(ROOT / "include"),
                    str(ROOT / "bench" / "python_loop.c"), "-o", str(program), "-L", str(BUILD), "-lparsrec",
                    "-Wl,-rpath," + str(BUILD)], check=True)
    return program


def loop_in_c(program, model, users, calls, items=()):
    done = subprocess.run([str(program), str(model.path), str(users), str(calls), *items], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    return tuple(float(v) for v in done.stdout.split()[:2])


def big_model(folder):
    """100,000 users with three baskets of three out of 1,000 items; one epoch, since only the speed of
    answers matters."""
    draw = np.random.default_rng(1)
    rows = USERS * 9
    frame = {"user": np.repeat(np.arange(USERS), 9), "session": np.tile(np.repeat(np.arange(3), 3), USERS),
             "time": np.tile(np.repeat(np.arange(3), 3), USERS),
             "item": (1000 * draw.random(rows) ** 2).astype(np.int64)}
    data = parsrec.Dataset.from_frame(frame, path=folder / "big.st")
    return parsrec.train(data, epochs=1, baselines=False, path=folder / "big.model",
                         settings={"mix": False})


def speed(folder):
    model, program, ratios = big_model(folder), compile_loop(folder), []
    users = list(model.users)
    for _ in range(TURNS):
        c, _ = loop_in_c(program, model, USERS, 1)
        model._user_keys = None  # the keys of all users are read anew
        began = time.process_time()
        model.recommend(parsrec.ALL, k=10, threads=1).items
        every = time.process_time() - began
        began = time.process_time()
        model.recommend(users, k=10, threads=1).items
        listed = time.process_time() - began
        ratios.append((c / every, c / listed, c, every, listed))
        print("  loop in C %.2f s, all users %.2f s, a list of keys %.2f s" % ratios[-1][2:])
    for name, i in (("all users: speed of the loop in C reached", 0), ("a list of 100,000 keys", 1)):
        ratio = statistics.median(r[i] for r in ratios)
        goal(name, "%.2f" % ratio, ratio >= .8)


def single(folder):
    data = parsrec.Dataset.synthetic(users=2000, sessions=10, path=folder / "small.st")
    model = parsrec.train(data, epochs=1, baselines=False, path=folder / "small.model")
    program, calls = compile_loop(folder), 20000
    users, basket, above = list(model.users), list(model.items[:3]), []
    for _ in range(TURNS):
        _, c = loop_in_c(program, model, 2000, calls, basket)
        each = []
        for i in range(calls):
            user = users[i % 2000]
            began = time.perf_counter()
            model.recommend(user, basket, 10)
            each.append(time.perf_counter() - began)
        python = 1e6 * statistics.median(each)
        above.append(python - c)
        print("  C %.1f us, Python %.1f us" % (c, python))
    goal("a call of one: microseconds above C", "%.1f" % statistics.median(above),
         statistics.median(above) <= 15)


class Texts:
    """Columns of UTF-8 with 32-bit offsets, as Arrow libraries hold them."""

    def __init__(self, columns):
        self.columns = []
        for name, values in columns.items():
            encoded = [str(v).encode() for v in values]
            offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
            offsets[1:] = np.cumsum([len(v) for v in encoded])
            data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            self.columns.append(_arrow._Column(name, "u", len(encoded), [None, offsets, data]))

    def __arrow_c_array__(self, requested_schema=None):
        self.source = _arrow._struct(self.columns)
        _, schema, array, _ = self.source._keep
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return (new(ctypes.addressof(schema), b"arrow_schema", None),
                new(ctypes.addressof(array), b"arrow_array", None))


class Peak:
    """The largest resident memory above that at the beginning, looked at every 5 ms."""

    def __enter__(self):
        gc.collect()
        self.base, self.most, self.stop = resident(), 0, False
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        self.began = time.perf_counter()
        return self

    def look(self):
        while not self.stop:
            self.most = max(self.most, resident() - self.base)
            time.sleep(.005)

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.began
        self.stop = True
        self.thread.join()


def frames(folder):
    import pandas as pd
    path = folder / "synthetic.csv"
    parsrec.Dataset.synthetic(users=8192, sessions=170, csv=path)
    strings = pd.read_csv(path, dtype=str)
    numbers = pd.read_csv(path)
    text_bytes = sum(strings[c].str.len().sum() for c in strings)
    kinds = {
        "CSV file": None,
        "Arrow text": Texts({c: strings[c] for c in strings}),
        "pandas strings": strings,
        "pandas categories": strings.astype("category"),
        "pandas numbers": numbers,
    }
    print("  %s rows, %.0f MB of text" % (format(len(strings), ","), text_bytes / 1e6))
    sums, grown, taken = {}, {}, {}
    for kind, frame in kinds.items():
        seconds = []
        for _ in range(TURNS):
            with Peak() as peak:
                if frame is None:
                    made = parsrec.Dataset.from_files(path, path=folder / "made.st")
                else:
                    made = parsrec.Dataset.from_frame(frame, name=path.name, path=folder / "made.st")
            seconds.append(peak.seconds)
            grown[kind] = max(grown.get(kind, 0), peak.most)  # a look may miss the peak
            sums[kind] = made.checksum
            del made
        taken[kind] = statistics.median(seconds)
        print("  %-18s %6.2f s, memory grows by %5.0f MB, checksum %s"
              % (kind, taken[kind], grown[kind] / 1e6, sums[kind]))
    goal("checksums of all five are the same", len(set(sums.values())), len(set(sums.values())) == 1)
    more = grown["Arrow text"] - grown["CSV file"]
    goal("Arrow text: memory beyond that of the CSV import, MB", "%.0f" % (more / 1e6),
         more < .2 * text_bytes)
    print("  Arrow text: %.2f of the speed of the CSV import" % (taken["CSV file"] / taken["Arrow text"]))


def leaks(folder):
    data = parsrec.Dataset.synthetic(users=100, sessions=5, path=folder / "leak.st")
    model = parsrec.train(data, "pop", baselines=False, path=folder / "leak.model")
    user, basket, marks = model.users[0], list(model.items[:2]), []
    for _ in range(4):
        for _ in range(250_000):
            model.recommend(user, basket, 10)
        gc.collect()
        marks.append(resident())
    goal("a million calls: growth after the first quarter, KiB", "%d" % ((marks[-1] - marks[0]) // 1024),
         marks[-1] - marks[0] < 1 << 20)


def main():
    words = sys.argv[1:] or ["speed", "single", "frames", "leaks"]
    known = {"speed": speed, "single": single, "frames": frames, "leaks": leaks}
    if not set(words) <= set(known):
        sys.exit(__doc__)
    for word in words:
        print(word)
        with tempfile.TemporaryDirectory(prefix="parsrec-bench-") as folder:
            known[word](pathlib.Path(folder))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
