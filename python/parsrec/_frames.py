"""Tables that are handed out: pandas frames where pandas is installed, else dicts of numpy arrays."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

import numpy as np


def pandas() -> Any:
    """The module, or None."""
    try:
        import pandas as module
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


def table(columns: Dict[str, Sequence[Any]]) -> Any:
    """A pandas DataFrame, or a dict of numpy arrays without pandas."""
    arrays = {name: column(values) for name, values in columns.items()}
    module = pandas()
    return module.DataFrame(arrays) if module is not None else arrays


def square(matrix: np.ndarray, names: List[str]) -> Any:
    """A pandas DataFrame with names on both sides, or the matrix without pandas."""
    module = pandas()
    return module.DataFrame(matrix, index=names, columns=names) if module is not None else matrix


def rows(dicts: Sequence[Dict[str, Any]]) -> Any:
    """Flat dicts as a table; a missing value is None."""
    names: Dict[str, Optional[bool]] = {}
    for one in dicts:
        for name in one:
            names.setdefault(name)
    return table({name: [one.get(name) for one in dicts] for name in names})
