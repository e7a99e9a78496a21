"""parsrec: next-item recommendation for open baskets, with reasons.

::

    import parsrec
    data = parsrec.Dataset.from_frame(frame)          # user, session, time, item
    model = parsrec.train(data, progress=True)
    model.recommend("K02", basket=["1203"], k=5)      # one user
    model.recommend(parsrec.ALL).to_frame()           # everybody

docs/python.md has the rest.
"""
from ._frames import set_frames
from ._library import DataWarning, Epoch, Error, Progress, library as _c
from ._version import __version__
from .dataset import Dataset
from .model import ALL, Explanation, Model, Recommendation, Recommendations, WhatIf
from .recommender import Recommender
from .studies import Comparison, Evaluation, compare, evaluate, train

__all__ = ["ALL", "Comparison", "DataWarning", "Dataset", "Epoch", "Error", "Evaluation", "Explanation",
           "Model", "Progress", "Recommendation", "Recommendations", "Recommender", "WhatIf",
           "__version__", "compare", "evaluate", "library_version", "set_frames", "train"]


def library_version() -> str:
    """The version of the shared library in use."""
    return _c.parsrec_version().decode()
