"""Models: recommendations, maps, what-if."""
from __future__ import annotations

import ctypes
import json
import numbers
import pathlib
import threading
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from ._frames import square, table
from ._library import (Call, Error, Handle, ProgressLike, call, choice, key, library, name_text, take_text,
                       text, words)
from .dataset import Dataset, Path, _copy, plain

SOURCES = ("model", "anyone", "popular")
MAPS = ("attention", "drop", "lift", "embedding")
QUESTIONS = ("selection", "rechoice")
ESTIMATORS = ("rollout", "expected", "top10", "counted")

#: Every user of the model, for :meth:`Model.recommend`.
ALL = type("_All", (), {"__repr__": lambda self: "parsrec.ALL"})()

_NOTHING: Tuple[Any, ...] = ()

_HIT = np.dtype([("item", np.int32), ("score", np.float32)])
_ANSWER = np.dtype([("count", np.uint64), ("source", np.int32), ("when", np.int32), ("time", np.int64)],
                   align=True)
assert _HIT.itemsize == ctypes.sizeof(abi.parsrec_hit)
assert _ANSWER.itemsize == ctypes.sizeof(abi.parsrec_answer)


class Recommendation:
    """The best next items for one user and basket, best first."""

    __slots__ = ("items", "scores", "source", "unknown", "why")

    def __init__(self, items: List[str], scores: List[float], source: str, unknown: Sequence[str] = (),
                 why: Any = None):
        #: Keys of the items.
        self.items = items
        #: Larger is better; comparable within one answer.
        self.scores = scores
        #: ``model``: the user's own row; ``anyone``: a guest or unknown user; ``popular``: best sellers.
        self.source = source
        #: Keys that the model does not know and that were left out.
        self.unknown = list(unknown)
        #: A frame with the reasons, if the call asked for them.
        self.why = why

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Tuple[str, float]]:
        return iter(zip(self.items, self.scores))

    def __getitem__(self, i: int) -> Tuple[str, float]:
        return self.items[i], self.scores[i]

    def to_frame(self) -> Any:
        """Columns rank, item, score."""
        return table({"rank": np.arange(1, len(self.items) + 1), "item": self.items, "score": self.scores})

    def __repr__(self) -> str:
        return "<parsrec.Recommendation (%s): %s>" % (
            self.source, ", ".join("%s %.4f" % pair for pair in self))


class Recommendations:
    """The answers for many users: row i belongs to ``users[i]``."""

    def __init__(self, users: Sequence[Any], hits: np.ndarray, answers: np.ndarray, keys: np.ndarray,
                 unknown: Sequence[str]):
        #: As they were given, or the keys of all users.
        self.users = users
        #: [users, k] numbers of items in the model; -1 after the last.
        self.numbers: np.ndarray = hits["item"]
        #: [users, k]; NaN after the last.
        self.scores: np.ndarray = hits["score"]
        #: [users]: items per user.
        self.counts: np.ndarray = answers["count"].astype(np.int64)
        #: Keys of basket items that the model does not know and that were left out.
        self.unknown = list(unknown)
        self._sources = answers["source"]
        self._keys = keys

    @property
    def items(self) -> np.ndarray:
        """[users, k] keys of items; None after the last."""
        return self._keys[self.numbers]

    @property
    def sources(self) -> np.ndarray:
        """[users]: model, anyone or popular."""
        return np.array(SOURCES, dtype=object)[self._sources]

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, i: int) -> Recommendation:
        n = int(self.counts[i])
        return Recommendation(self._keys[self.numbers[i, :n]].tolist(), self.scores[i, :n].tolist(),
                              SOURCES[self._sources[i]])

    def __iter__(self) -> Iterator[Recommendation]:
        return (self[i] for i in range(len(self)))

    def to_frame(self) -> Any:
        """One row per user and item: user, rank, item, score."""
        there = self.numbers >= 0
        users = np.empty(len(self), dtype=object)
        users[:] = list(self.users)
        ranks = np.broadcast_to(np.arange(1, there.shape[1] + 1), there.shape)
        return table({"user": np.repeat(users, there.sum(axis=1)), "rank": ranks[there],
                      "item": self._keys[self.numbers[there]], "score": self.scores[there]})

    def __repr__(self) -> str:
        return "<parsrec.Recommendations: %d users, up to %d items>" % self.numbers.shape


class _Own:
    """What one thread needs to ask: scratch and buffers, made once."""

    def __init__(self, model: Handle, basket: int, k: int):
        pointer = ctypes.c_void_p()
        call(library.parsrec_scratch_new, ctypes.byref(pointer), model.pointer, basket)
        self.handle = Handle(pointer.value, library.parsrec_scratch_free, model)
        self.basket, self.k = basket, k
        self.items: Any = (ctypes.c_int32 * basket)()
        self.hits = np.zeros(k, dtype=_HIT)
        self.item_view, self.score_view = self.hits["item"], self.hits["score"]
        self.answer, self.error = abi.parsrec_answer(), abi.parsrec_error()
        self.request = library.parsrec_request_default()
        self.request.basket.list = ctypes.cast(self.items, ctypes.POINTER(ctypes.c_int32))
        self.number = ctypes.c_int32()
        # Addresses as numbers: nothing is converted when a call is made.
        self.find_args = (ctypes.addressof(self.number), ctypes.addressof(self.error))
        self.args = (model.pointer, pointer.value, ctypes.addressof(self.request),
                     self.hits.ctypes.data, k, ctypes.addressof(self.answer),
                     ctypes.addressof(self.error))


# The two calls of a single request, with addresses for arguments.
_prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                              ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
_recommend = _prototype(("parsrec_recommend", library))
_find = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p,
                         ctypes.c_void_p)(("parsrec_model_find", library))


def _fail(error: Any) -> None:
    raise Error(error.status, error.message.decode("utf-8", "replace"))


class Model:
    """A trained model with its catalogue, its users and their histories.

    Made by :func:`parsrec.train`, or opened with :meth:`load`. It is read-only and may be shared by
    threads; calls release the interpreter lock.
    """

    def __init__(self, path: Path):
        """Opens a model file."""
        pointer = ctypes.c_void_p()
        call(library.parsrec_model_load, ctypes.byref(pointer), text(path))
        self._set(Handle(pointer.value, library.parsrec_model_free))
        #: The file; None for a counting model that has none.
        self.path: Optional[pathlib.Path] = pathlib.Path(path)

    def _set(self, handle: Handle) -> None:
        self._handle = handle
        self._local = threading.local()
        self._numbers: Optional[Dict[str, int]] = None
        self._user_keys: Optional[np.ndarray] = None
        self._lock = threading.Lock()
        #: What training reported; empty for a model that was loaded.
        self.report: Dict[str, Any] = {}
        self.path = None

    @classmethod
    def load(cls, path: Path) -> "Model":
        """Opens a model file."""
        return cls(path)

    @classmethod
    def count(cls, dataset: Dataset, kind: str, settings: Optional[Mapping[str, Any]] = None) -> "Model":
        """A counting model (docs/models.md) of a data set, without a file."""
        options = library.parsrec_train_default()
        options.model = text(kind)
        options.set, options.set_count = words(setting_words(settings))
        pointer = ctypes.c_void_p()
        Call().run(library.parsrec_model_count, ctypes.byref(pointer), dataset._handle.pointer,
                   ctypes.byref(options))
        out = cls.__new__(cls)
        out._set(Handle(pointer.value, library.parsrec_model_free, dataset._handle))
        return out

    def save(self, path: Path) -> "Model":
        """Copies the model file."""
        if self.path is None:
            raise ValueError("this counting model has no file; use train(dataset, kind, path=...)")
        _copy(self.path, path)
        return Model(path)

    # ---- names ----

    def info(self) -> Dict[str, Any]:
        """Kind, sizes and settings."""
        facts = abi.parsrec_model_facts()
        library.parsrec_model_describe(self._handle.pointer, ctypes.byref(facts))
        out = plain(facts)
        setting, i, settings = abi.parsrec_setting(), 0, {}
        while library.parsrec_model_setting(self._handle.pointer, i, ctypes.byref(setting)):
            settings[setting.key.decode()] = setting.value.decode()
            i += 1
        out["settings"] = settings
        return out

    def _keys_of(self, thing: int) -> np.ndarray:
        """Keys by number, and None behind the last, where -1 points."""
        pointer, size = self._handle.pointer, library.parsrec_model_size(self._handle.pointer, thing)
        out = np.empty(size + 1, dtype=object)
        for i in range(size):
            out[i] = name_text(library.parsrec_model_key(pointer, thing, i))
        return out

    def _catalogue(self) -> Dict[str, int]:
        with self._lock:
            if self._numbers is None:
                self._keys = self._keys_of(abi.ITEM)
                self._key_list: List[str] = self._keys.tolist()
                self._numbers = {k: i for i, k in enumerate(self._key_list[:-1])}
        return self._numbers

    @property
    def items(self) -> np.ndarray:
        """Keys of the items, by number."""
        self._catalogue()
        return self._keys[:-1].copy()

    @property
    def users(self) -> np.ndarray:
        """Keys of the users, by number."""
        if self._user_keys is None:
            self._user_keys = self._keys_of(abi.USER)
        return self._user_keys[:-1].copy()

    def item_names(self, items: Optional[Iterable[Any]] = None) -> List[str]:
        """The names of items for people; "" for one without a name. None: all items."""
        numbers = range(len(self.items)) if items is None else [self._find(abi.ITEM, i) for i in items]
        return [name_text(library.parsrec_model_item_name(self._handle.pointer, n)) for n in numbers]

    def _find(self, thing: int, word: Any) -> int:
        number = ctypes.c_int32()
        call(library.parsrec_model_find, self._handle.pointer, thing, key(word), ctypes.byref(number))
        return number.value

    def _item(self, word: Any, unknown: List[str], strict: bool) -> Optional[int]:
        """The number of an item by key or name; one that is unknown is listed, or refused if strict."""
        number = self._catalogue().get(word) if type(word) is str else None
        if number is not None:
            return number
        try:
            return self._find(abi.ITEM, word)
        except Error as problem:
            if strict or problem.status != abi.E_NOT_FOUND:
                raise
            unknown.append(key(word).decode("utf-8"))
            return None

    def _items(self, listed: Any, unknown: List[str], strict: bool) -> List[int]:
        if isinstance(listed, (str, bytes)):
            listed = [listed]
        found = (self._item(w, unknown, strict) for w in listed)
        return [n for n in found if n is not None]

    # ---- recommendations ----

    def recommend(self, user: Any = None, basket: Iterable[Any] = _NOTHING, k: int = 10, *,
                  history: Optional[Iterable[Any]] = None, exclude: Iterable[Any] = _NOTHING,
                  only: Iterable[Any] = _NOTHING, exclude_categories: Iterable[str] = _NOTHING,
                  categories: Iterable[str] = _NOTHING, max_per_category: int = 0,
                  features: Optional[Mapping[str, Any]] = None, time: Any = None, strict: bool = False,
                  why: bool = False, baskets: Optional[Sequence[Iterable[Any]]] = None, threads: int = 0,
                  progress: ProgressLike = None) -> Any:
        """The best next items for one user, for many users or for all.

        :param user: a key, None for a guest; a list, array or series of keys; or :data:`parsrec.ALL`.
        :param basket: keys or names of the items placed so far, in order.
        :param baskets: with many users, one basket for each.
        :param k: items wanted.
        :param history: items bought before, oldest first, in place of what the model knows.
        :param exclude, only: items that may not, or alone may, be recommended.
        :param exclude_categories, categories: the same for categories and all below them.
        :param max_per_category: items per category in the answer; 0: no limit.
        :param features: known features of the session or the user.
        :param time: when the basket is open: an ISO 8601 text, a datetime or seconds since 1970; None: the
            last date in the data.
        :param strict: refuse unknown users and items; else a user is a guest and items are left out.
        :param why: also give reasons (for one user).
        :param threads: for many users; 0: all cores.
        :return: a :class:`Recommendation`, or :class:`Recommendations` for many users.
        """
        # An answer of one without filters is all that a shop asks a thousand times a second.
        if type(user) is str and exclude is _NOTHING and only is _NOTHING and categories is _NOTHING \
                and exclude_categories is _NOTHING and history is None and not max_per_category \
                and not why and features is None and time is None and baskets is None:
            return self._recommend_one(user, basket, k, strict)
        filters = _Filters(self, history, exclude, only, exclude_categories, categories,
                           max_per_category, features, time, strict)
        if user is ALL or baskets is not None or _is_list(user):
            if why:
                raise ValueError("reasons are given for one user at a time")
            return self._recommend_many(user, basket, baskets, k, filters, strict, threads, progress)
        return self._recommend_filtered(user, basket, k, filters, strict, why)

    def _own(self, basket: int, k: int) -> _Own:
        own = getattr(self._local, "own", None)
        if own is None or basket > own.basket or k > own.k:
            own = _Own(self._handle, max(256, basket, own.basket if own else 0),
                       max(100, k, own.k if own else 0))
            self._local.own = own
        return own

    def _recommend_one(self, user: str, basket: Any, k: int, strict: bool) -> Recommendation:
        numbers = self._numbers
        if numbers is None:
            numbers = self._catalogue()
        unknown: Sequence[str] = ()
        placed: List[int] = []
        if type(basket) not in (list, tuple, str):
            basket = list(basket)
        if basket:
            try:
                placed = [numbers[b] for b in basket] if type(basket) is not str else [numbers[basket]]
            except (KeyError, TypeError):
                unknown = []
                placed = self._items(basket, unknown, strict)
        own = getattr(self._local, "own", None)
        if own is None or len(placed) > own.basket or not 0 < k <= own.k:
            own = self._own(len(placed), k)
        request = own.request
        number, error = own.find_args
        if _find(self._handle.pointer, abi.USER, user.encode(), number, error) == 0:
            request.user = own.number.value
        elif strict or own.error.status != abi.E_NOT_FOUND:
            _fail(own.error)
        else:
            request.user = -1
        n = len(placed)
        if n:
            own.items[:n] = placed
        request.basket.count = n
        request.k = k
        if _recommend(*own.args):
            _fail(own.error)
        n = own.answer.count
        keys = self._key_list
        return Recommendation([keys[i] for i in own.item_view[:n].tolist()],
                              own.score_view[:n].tolist(), SOURCES[own.answer.source], unknown)

    def _number_of_user(self, user: Any, strict: bool) -> int:
        if user is None:
            return -1
        try:
            return self._find(abi.USER, user)
        except Error as problem:
            if strict or problem.status != abi.E_NOT_FOUND:
                raise
            return -1

    def _recommend_filtered(self, user: Any, basket: Any, k: int, filters: "_Filters", strict: bool,
                            why: bool) -> Recommendation:
        unknown = filters.unknown
        placed = self._items(basket, unknown, strict)
        own = self._own(len(placed), k)
        request = filters.request
        request.user, request.k = self._number_of_user(user, strict), k
        own.items[: len(placed)] = placed
        request.basket = abi.parsrec_numbers(own.request.basket.list, len(placed))
        hits = own.hits.ctypes.data_as(ctypes.POINTER(abi.parsrec_hit))
        call(library.parsrec_recommend, self._handle.pointer, own.handle.pointer, ctypes.byref(request),
             hits, own.k, ctypes.byref(own.answer))
        n = own.answer.count
        self._catalogue()
        numbers = own.item_view[:n].tolist()
        reasons = self._reasons(own, request, hits, n) if why else None
        return Recommendation([self._key_list[i] for i in numbers], own.score_view[:n].tolist(),
                              SOURCES[own.answer.source], unknown, reasons)

    def _reasons(self, own: _Own, request: Any, hits: Any, n: int) -> Any:
        """One row per recommended item and reason: because, effect, share; and a sentence."""
        whys = (abi.parsrec_why * max(1, n))()
        call(library.parsrec_recommend_why, self._handle.pointer, own.handle.pointer,
             ctypes.byref(request), hits, n, whys)
        buffer = ctypes.create_string_buffer(512)
        rows: Dict[str, List[Any]] = {c: [] for c in (
            "item", "because", "basket_item", "effect", "share", "attention", "sentence")}

        def add(why: Any, because: str, item: str, effect: Any, attention: float) -> None:
            for column, value in zip(rows, (self._key_list[why.item], because, item, effect.effect,
                                            effect.share, attention, buffer.value.decode("utf-8", "replace"))):
                rows[column].append(value)

        for why in whys[:n]:
            library.parsrec_why_sentence(self._handle.pointer, ctypes.byref(why), buffer, len(buffer))
            for reason in why.reasons[: why.reason_count]:
                add(why, "basket", self._key_list[reason.item], reason.drop, reason.attention)
            add(why, "history", "", why.history, float("nan"))
            add(why, "user", "", why.user, float("nan"))
        return table(rows)

    def _recommend_many(self, users: Any, basket: Any, baskets: Any, k: int, filters: "_Filters",
                        strict: bool, threads: int, progress: ProgressLike) -> Recommendations:
        unknown = filters.unknown
        if users is ALL:
            given: Any = self.users
            numbers = np.arange(len(given), dtype=np.int32)
        else:
            given = [users] * len(baskets) if not _is_list(users) else list(users)
            numbers = self._numbers_of_users(given, strict)
        request = filters.request
        request.k = k
        placed = np.array(self._items(basket, unknown, strict), dtype=np.int32)
        request.basket = abi.parsrec_numbers(_pointer(placed, ctypes.c_int32), len(placed))
        many = abi.parsrec_many(request=ctypes.pointer(request), users=_pointer(numbers, ctypes.c_int32),
                                count=len(given), threads=threads)
        if baskets is not None:
            if len(baskets) != len(given):
                raise ValueError("%d baskets for %d users" % (len(baskets), len(given)))
            listed = [self._items(b, unknown, strict) for b in baskets]
            offsets = np.zeros(len(listed) + 1, dtype=np.int64)
            offsets[1:] = np.cumsum([len(b) for b in listed], dtype=np.int64)
            items = np.array([n for b in listed for n in b], dtype=np.int32)
            many.basket_offsets = _pointer(offsets, ctypes.c_int64)
            many.basket_items = _pointer(items, ctypes.c_int32)
        if not 0 < k < 1 << 24:
            raise ValueError("k must be at least 1, not %d" % k)
        hits = np.empty((len(given), k), dtype=_HIT)
        answers = np.zeros(len(given), dtype=_ANSWER)
        Call(progress).run(library.parsrec_recommend_many, self._handle.pointer, ctypes.byref(many),
                           _pointer(hits, abi.parsrec_hit), _pointer(answers, abi.parsrec_answer))
        self._catalogue()
        return Recommendations(given, hits, answers, self._keys, unknown)

    def _numbers_of_users(self, users: Sequence[Any], strict: bool) -> np.ndarray:
        out = np.full(len(users), -1, dtype=np.int32)
        number, error = ctypes.c_int32(), abi.parsrec_error()
        pointer, at, problem = self._handle.pointer, ctypes.addressof(number), ctypes.addressof(error)
        for i, user in enumerate(users):
            if user is None:
                continue
            if _find(pointer, abi.USER, user.encode() if type(user) is str else key(user), at, problem) == 0:
                out[i] = number.value
            elif strict or error.status != abi.E_NOT_FOUND:
                _fail(error)
        return out

    # ---- maps ----

    def explain(self, dataset: Optional[Dataset] = None, *, items: bool = False, level: int = 0,
                top: Optional[int] = None, show: Iterable[str] = (), maps: Iterable[str] = (),
                groups: Iterable[str] = (), difference: Optional[str] = None,
                baskets: Optional[int] = None, recovery: bool = True, threads: int = 0,
                progress: ProgressLike = None) -> "Explanation":
        """Maps of item relationships with the evidence for them (docs/explanations.md).

        :param dataset: None: the data in the model file.
        :param items: rows are items, else categories of ``level`` (1 at the top; 0: the items' own).
        :param top: number of rows, best-selling first; None: the default of ``parsrec explain``.
        :param show: only these rows.
        :param maps: of attention, drop, lift, embedding; none: all that the model has.
        :param groups: of users, as in ``parsrec explain --group``.
        :param difference: "A,B": also the maps of A minus B.
        :param baskets: per group that the model scores; 0: all; None: the default.
        """
        options = library.parsrec_explain_default()
        options.items, options.level, options.threads = items, level, threads
        if top is not None:
            options.top = top
        if baskets is not None:
            options.baskets_most = baskets
        options.show, options.show_count = words(show)
        options.groups, options.group_count = words(groups)
        options.difference, options.no_recovery = text(difference), not recovery
        for name in [maps] if isinstance(maps, str) else maps:
            options.maps[choice("maps", name, MAPS)] = True
        pointer = ctypes.c_void_p()
        Call(progress).run(library.parsrec_explain, ctypes.byref(pointer), self._handle.pointer,
                           self._data(dataset), ctypes.byref(options))
        return Explanation(Handle(pointer.value, library.parsrec_explanation_free))

    def _data(self, dataset: Optional[Dataset]) -> Any:
        if dataset is not None:
            return dataset._handle.pointer
        return library.parsrec_model_data(self._handle.pointer)

    # ---- what if ----

    def whatif(self, *, drop: Iterable[str] = (), only: Iterable[str] = (), add: Iterable[str] = (),
               watch: Iterable[str] = (), groups: Iterable[str] = (), each: bool = False,
               questions: Iterable[str] = ("rechoice",), estimator: str = "rollout",
               leave: bool = False, raw: bool = False, level: int = 0, draws: int = 0,
               resamples: Optional[int] = None, interval: float = 0.9, seed: int = 1,
               dataset: Optional[Dataset] = None, others: Sequence["Model"] = (), threads: int = 0,
               progress: ProgressLike = None) -> "WhatIf":
        """Sales when the shelf changes (docs/whatif.md).

        :param drop, only, add, watch: things: ``category=NAME``, ``item=KEY`` or a name; new items
            are ``item=NAME:like=KEY``.
        :param each: every dropped thing is a scenario of its own.
        :param questions: of selection and rechoice.
        :param leave: a shopper whose category is gone takes nothing, instead of another item.
        :param others: further models of the same data, for example of other seeds.
        """
        options = library.parsrec_whatif_default()
        for name, given in (("drop", drop), ("only", only), ("add", add), ("watch", watch),
                            ("groups", groups)):
            array, count = words(given)
            setattr(options, name, array)
            setattr(options, name[:-1] + "_count" if name == "groups" else name + "_count", count)
        asked = [questions] if isinstance(questions, str) else list(questions)
        for question in asked:
            choice("questions", question, QUESTIONS)
        options.selection, options.rechoice = "selection" in asked, "rechoice" in asked
        options.estimator = choice("estimator", estimator, ESTIMATORS)
        options.each, options.raw, options.level, options.draws = each, raw, level, draws
        options.missing = abi.MISSING_LEAVE if leave else abi.MISSING_REFILL
        if resamples is not None:
            options.resamples = resamples
        options.interval, options.seed, options.threads = interval, seed, threads
        models = [self._handle.pointer] + [m._handle.pointer for m in others]
        listed = (ctypes.c_void_p * len(models))(*models)
        pointer = ctypes.c_void_p()
        Call(progress).run(library.parsrec_whatif, ctypes.byref(pointer), listed, len(models),
                           self._data(dataset), ctypes.byref(options))
        return WhatIf(Handle(pointer.value, library.parsrec_whatif_free), estimator)

    def __reduce__(self) -> Any:
        """Pickled by the path of its file."""
        if self.path is None:
            raise TypeError("a counting model without a file cannot be pickled; use train(..., path=...)")
        return Model, (str(self.path.resolve()),)

    def __repr__(self) -> str:
        return "<parsrec.Model: {kind}, {users:,} users, {items:,} items, {parameters:,} parameters>".format(
            **self.info())


def _is_list(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__")


def _pointer(array: np.ndarray, kind: Any) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(kind))


def setting_words(settings: Optional[Mapping[str, Any]]) -> List[str]:
    """Settings as the library reads them: {"dim.user": 32} is ["dim.user=32"]."""
    def value(v: Any) -> str:
        return ("on" if v else "off") if isinstance(v, bool) else str(v)

    return ["%s=%s" % (k, value(v)) for k, v in (settings or {}).items()]


def _seconds(time: Any) -> int:
    """Seconds since 1970 of an ISO 8601 text, a datetime or a number; without a zone it is UTC."""
    if isinstance(time, numbers.Real):
        return int(time)
    seconds = ctypes.c_int64()
    call(library.parsrec_time_read, text(time if isinstance(time, str) else time.isoformat()),
         ctypes.byref(seconds))
    return seconds.value


class _Filters:
    """A request with everything but user, basket and k; keeps its arrays."""

    def __init__(self, model: Model, history: Any, exclude: Any, only: Any, exclude_categories: Any,
                 categories: Any, max_per_category: int, features: Optional[Mapping[str, Any]],
                 time: Any, strict: bool):
        self.request = library.parsrec_request_default()
        self.unknown: List[str] = []
        self._keep: List[Any] = []
        r = self.request
        r.exclude = self._list(model._items(exclude, self.unknown, strict))
        # An `only` of which nothing is known must not mean "no restriction".
        listed_only = [only] if isinstance(only, str) else list(only)
        allowed = model._items(listed_only, self.unknown, strict)
        if listed_only and not allowed:
            raise Error(abi.E_NOT_FOUND, "only: the model knows none of these items")
        r.only = self._list(allowed)
        for name, listed in (("exclude_categories", exclude_categories), ("categories", categories)):
            one = [listed] if isinstance(listed, str) else listed
            setattr(r, name, self._list([model._find(abi.CATEGORY, w) for w in one]))
        r.max_per_category = max_per_category
        if history is not None:
            self._history = self._list(model._items(history, self.unknown, strict))
            r.history = ctypes.pointer(self._history)
        if time is not None:
            self._time = ctypes.c_int64(_seconds(time))
            r.time = ctypes.pointer(self._time)
        if features:
            values = (abi.parsrec_feature * len(features))()
            for slot, (name, value) in zip(values, features.items()):
                slot.name = text(name)
                if isinstance(value, str):
                    slot.word = text(value)
                else:
                    slot.number = float("nan") if value is None else float(value)
            r.features, r.feature_count = values, len(features)

    def _list(self, numbers: List[int]) -> Any:
        array = (ctypes.c_int32 * max(1, len(numbers)))(*numbers)
        self._keep.append(array)
        return abi.parsrec_numbers(ctypes.cast(array, ctypes.POINTER(ctypes.c_int32)), len(numbers))


class _Report:
    """The texts of an explanation, a what-if answer or a comparison."""

    _handle: Handle
    _text: Any
    _save: Any

    def _as(self, kind: int) -> str:
        pointer = ctypes.c_void_p()
        call(self._text, ctypes.byref(pointer), self._handle.pointer, kind)
        return take_text(pointer)

    def to_text(self) -> str:
        """The report for a terminal."""
        return self._as(abi.TEXT_PLAIN)

    def to_html(self) -> str:
        """The report as a page."""
        return self._as(abi.TEXT_HTML)

    def to_dict(self) -> Dict[str, Any]:
        """Everything, as the JSON of the command has it."""
        return json.loads(self._as(abi.TEXT_JSON))

    def __str__(self) -> str:
        return self.to_text()


class Explanation(_Report):
    """Maps of item relationships. Row i is bought next, column j is in the basket."""

    _text = library.parsrec_explanation_text

    def __init__(self, handle: Handle):
        self._handle = handle
        pointer = handle.pointer
        #: Names of rows and columns.
        self.names: List[str] = [
            library.parsrec_explanation_name(pointer, i).decode("utf-8", "replace")
            for i in range(library.parsrec_explanation_size(pointer))]
        #: Names of the groups of users.
        self.groups: List[str] = []
        while True:
            name = library.parsrec_explanation_group(pointer, len(self.groups))
            if name is None:
                break
            self.groups.append(name.decode("utf-8", "replace"))

    def _group(self, group: Union[int, str]) -> int:
        return choice("group", group, self.groups) if isinstance(group, str) else group

    @property
    def maps(self) -> List[str]:
        """The maps that were made."""
        return [m for i, m in enumerate(MAPS)
                if library.parsrec_explanation_map(self._handle.pointer, 0, i)]

    def map(self, name: str = "lift", group: Union[int, str] = 0) -> Any:
        """A map as a frame with names on both sides; NaN for unknown cells."""
        values = library.parsrec_explanation_map(self._handle.pointer, self._group(group),
                                                 choice("map", name, MAPS))
        if not values:
            raise KeyError("the map %r was not made" % name)
        n = len(self.names)
        return square(np.ctypeslib.as_array(values, (n, n)).copy(), self.names)

    def relations(self, name: str = "lift", group: Union[int, str] = 0, confirmed: bool = True,
                  limit: int = 1000) -> Any:
        """The relations of a map that the baskets confirm, or those that they do not, as a frame."""
        kind, pointer = choice("map", name, MAPS), self._handle.pointer
        found = (abi.parsrec_relation * limit)()
        count = library.parsrec_explanation_relations(pointer, self._group(group), kind, confirmed, found,
                                                      limit)
        buffer = ctypes.create_string_buffer(1024)

        def say(function: Any, *arguments: Any) -> str:
            function(pointer, *arguments, buffer, len(buffer))
            return buffer.value.decode("utf-8", "replace")

        listed = found[:count]
        columns: Dict[str, List[Any]] = {
            "next": [self.names[r.row] for r in listed], "given": [self.names[r.column] for r in listed]}
        for field in ("value", "lift", "low", "high", "both", "expected"):
            columns[field] = [getattr(r, field) for r in listed]
        columns["verdict"] = [library.parsrec_relation_verdict_name(r.verdict).decode() for r in listed]
        columns["sentence"] = [say(library.parsrec_relation_sentence, kind, ctypes.byref(r)) for r in listed]
        columns["evidence"] = [say(library.parsrec_relation_evidence, ctypes.byref(r)) for r in listed]
        return table(columns)

    def save(self, folder: Path) -> None:
        """Writes report.html, report.json and each map as CSV, PNG, SVG and PDF."""
        Call().run(library.parsrec_explanation_save, self._handle.pointer, text(folder))

    def __repr__(self) -> str:
        return "<parsrec.Explanation: %d rows, maps %s, groups %s>" % (
            len(self.names), ", ".join(self.maps), ", ".join(self.groups))


class WhatIf(_Report):
    """Sales per basket before and after a change of the shelf."""

    _text = library.parsrec_whatif_text

    def __init__(self, handle: Handle, estimator: str):
        self._handle = handle
        row, rows, i = abi.parsrec_whatif_row(), [], 0
        while library.parsrec_whatif_row_at(handle.pointer, i, ctypes.byref(row)):
            one = plain(row)
            one["question"] = library.parsrec_question_name(row.question).decode()
            one["estimator"] = library.parsrec_estimator_name(row.estimator).decode()
            one["kind"] = library.parsrec_whatif_kind_name(row.kind).decode()
            if one["before"] == one["before"]:  # an estimator does not answer every question
                rows.append(one)
            i += 1
        shown = [r for r in rows if r["estimator"] == estimator]
        names = list(rows[0]) if rows else ["scenario"]
        #: One row per scenario, group, question and category or item, by the chosen estimator.
        self.frame: Any = table({c: [r[c] for r in shown] for c in names})
        #: The same by every estimator.
        self.estimators: Any = table({c: [r[c] for r in rows] for c in names})

    def save(self, folder: Path) -> None:
        """Writes report.csv, .json, .html and charts."""
        call(library.parsrec_whatif_save, self._handle.pointer, text(folder))

    def __repr__(self) -> str:
        return "<parsrec.WhatIf: %d rows>" % len(self.frame["scenario"])
