"""A face that users of scikit-learn know."""
from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, Optional, Sequence

import numpy as np

from ._library import ProgressLike
from .dataset import Dataset
from .model import ALL, Model, Recommendations
from .studies import evaluate, train


class Recommender:
    """fit a frame, predict items::

        items = parsrec.Recommender(epochs=5).fit(frame).predict(["K01", "K02"])

    Parameters are those of :func:`parsrec.train` and of :meth:`parsrec.Dataset.from_frame`; after
    ``fit`` there are ``model_`` and ``dataset_``. ``get_params`` and ``set_params`` work as in
    scikit-learn, which is not needed.
    """

    def __init__(self, model: str = "parsrec", *, epochs: int = 0,
                 settings: Optional[Mapping[str, Any]] = None, patience: int = 0, seed: int = 1,
                 threads: int = 0, user: Optional[str] = None, session: Optional[str] = None,
                 time: Optional[str] = None, item: Optional[str] = None, items: Any = None,
                 frame_options: Optional[Mapping[str, Any]] = None, progress: ProgressLike = None):
        self.model = model
        self.epochs = epochs
        self.settings = settings
        self.patience = patience
        self.seed = seed
        self.threads = threads
        self.user = user
        self.session = session
        self.time = time
        self.item = item
        self.items = items
        self.frame_options = frame_options
        self.progress = progress

    _names = ("model", "epochs", "settings", "patience", "seed", "threads", "user", "session", "time",
              "item", "items", "frame_options", "progress")

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}

    def set_params(self, **params: Any) -> "Recommender":
        for name, value in params.items():
            if name not in self._names:
                raise ValueError("there is no parameter %r, only %s" % (name, ", ".join(self._names)))
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> "Recommender":
        """Trains on a frame of actions or a :class:`parsrec.Dataset`; y is not used."""
        if isinstance(X, Dataset):
            self.dataset_ = X
        else:
            self.dataset_ = Dataset.from_frame(
                X, user=self.user, session=self.session, time=self.time, item=self.item,
                items=self.items, progress=self.progress, **dict(self.frame_options or {}))
        self.model_: Model = train(
            self.dataset_, self.model, epochs=self.epochs, settings=self.settings,
            patience=self.patience, seed=self.seed, threads=self.threads, baselines=False,
            progress=self.progress)
        return self

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise ValueError("this Recommender is not fitted; call fit first")
        return self.model_

    def recommend(self, users: Any = ALL, k: int = 10, **request: Any) -> Recommendations:
        """As :meth:`parsrec.Model.recommend`."""
        return self._fitted().recommend(users, k=k, threads=self.threads, **request)

    def predict(self, X: Iterable[Any], k: int = 10,
                baskets: Optional[Sequence[Iterable[Any]]] = None) -> np.ndarray:
        """[users, k] keys of the best next items."""
        return self.recommend(list(X), k=k, baskets=baskets).items

    def score(self, X: Any = None, y: Any = None) -> float:
        """NDCG@10 by the protocol `remaining`, on the last session of each user; X may be a data set."""
        return evaluate(self._fitted(), X if isinstance(X, Dataset) else None, protocol="remaining",
                        threads=self.threads)["NDCG@10"]

    def __repr__(self) -> str:
        return "Recommender(%s)" % ", ".join(
            "%s=%r" % (n, v) for n, v in self.get_params().items() if n == "model" or v)
