"""Tables that are handed out: frames of pandas or polars, or dicts of numpy arrays."""
from __future__ import annotations

import importlib
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np


def pandas() -> Any:
    """The module, or None."""
    try:
        import pandas as module  # type: ignore[import]
    except ImportError:
        return None
    return module


def column(values: Sequence[Any]) -> np.ndarray:
    """A numpy array; texts become objects, so that they have no common width."""
    if isinstance(values, np.ndarray):
        return values
    if any(isinstance(v, str) or v is None for v in values):
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out
    return np.asarray(values)


_wanted = "auto"


def set_frames(kind: str) -> None:
    """Chooses what tables are from now on: ``pandas``, ``polars`` or ``numpy`` (dicts of arrays).

    ``auto``, the default, is pandas where it is installed, else numpy.
    """
    global _wanted
    if kind not in ("auto", "pandas", "polars", "numpy"):
        raise ValueError("frames must be auto, pandas, polars or numpy, not %r" % (kind,))
    if kind in ("pandas", "polars"):
        importlib.import_module(kind)
    _wanted = kind


def _maker() -> Any:
    """The module that makes tables, or None for numpy."""
    if _wanted == "auto":
        return pandas()
    return importlib.import_module(_wanted) if _wanted != "numpy" else None


def table(columns: Mapping[str, Any]) -> Any:
    """Columns of equal length as a table."""
    arrays = {name: column(values) for name, values in columns.items()}
    module = _maker()
    if module is None:
        return arrays
    if _wanted == "polars":  # which takes texts from lists
        return module.DataFrame({n: a.tolist() if a.dtype == object else a for n, a in arrays.items()})
    return module.DataFrame(arrays)


def square(matrix: np.ndarray, names: List[str]) -> Any:
    """A matrix with names on both sides; polars has those of the rows in a column, numpy has none."""
    module = _maker()
    if module is None:
        return matrix
    if _wanted == "polars":
        columns: Dict[str, Any] = {"": list(names)}
        columns.update((n, matrix[:, i]) for i, n in enumerate(names))
        return module.DataFrame(columns)
    return module.DataFrame(matrix, index=names, columns=names)


def rows(dicts: Sequence[Dict[str, Any]]) -> Any:
    """Flat dicts as a table; a missing value is None."""
    names: Dict[str, Optional[bool]] = {}
    for one in dicts:
        for name in one:
            names.setdefault(name)
    return table({name: [one.get(name) for one in dicts] for name in names})
