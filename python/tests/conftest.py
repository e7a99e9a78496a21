"""A small shop that all tests share, without pandas unless a test asks for it."""
import csv
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import parsrec  # noqa: E402

EXAMPLES = ROOT / "examples"
SMALL = {"dim.user": 8, "dim.item": 8}


def read(name):
    """A CSV file as a dict of arrays of Python strings."""
    with open(EXAMPLES / name, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return {name: np.array([r[i] for r in rows[1:]], dtype=object) for i, name in enumerate(rows[0])}


@pytest.fixture(scope="session")
def frame():
    return read("corner_shop.csv")


@pytest.fixture(scope="session")
def items():
    return read("corner_shop_items.csv")


@pytest.fixture(scope="session")
def data(frame, items):
    return parsrec.Dataset.from_frame(frame, items=items, name="corner_shop.csv")


@pytest.fixture(scope="session")
def from_csv():
    return parsrec.Dataset.from_files(EXAMPLES / "corner_shop.csv", items=EXAMPLES / "corner_shop_items.csv")


@pytest.fixture(scope="session")
def model(data):
    return parsrec.train(data, epochs=2, settings=SMALL, threads=1, baselines=False)


@pytest.fixture(scope="session")
def quick(data):
    """A counting model: made in no time."""
    return parsrec.train(data, "markov", baselines=False)


@pytest.fixture
def no_pandas(monkeypatch):
    """As if pandas were not installed."""
    monkeypatch.setitem(sys.modules, "pandas", None)
