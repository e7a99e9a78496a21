"""Data sets: who bought what and when."""
from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, Dict, Iterable, List, Optional, Union

from . import _abi as abi
from . import _arrow
from ._frames import table
from ._library import Call, Handle, ProgressLike, call, choice, library, name_text, text

Path = Union[str, "os.PathLike[str]"]

SESSION_RULES = ["column", "gap", "day", "week", "month"]
_TIME_KINDS = ["none", "ordinal", "unix"]
_THINGS = ["user", "item", "category"]


def scratch_folder(owner: Any) -> pathlib.Path:
    """A folder that is removed when the owner is gone."""
    folder = tempfile.mkdtemp(prefix="parsrec-")
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


def plain(struct: Any) -> Dict[str, Any]:
    """A C struct as a dict: strings decoded, arrays and nested structs left out."""
    out: Dict[str, Any] = {}
    for name, kind in struct._fields_:
        value = getattr(struct, name)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, (str, int, float, bool)):
            out[name] = value
    return out


class Dataset:
    """Users, their sessions in order of time, and the items of each session.

    Make one with :meth:`from_frame`, :meth:`from_files` or :meth:`synthetic`, or open a file with
    :meth:`open`. A data set lives in a file; one that was made without ``path`` uses a temporary file
    that is removed with the object. Objects may be shared by threads.
    """

    def __init__(self, path: Path):
        """Opens the file of a data set."""
        pointer = ctypes.c_void_p()
        call(library.parsrec_data_load, ctypes.byref(pointer), text(path))
        self._handle = Handle(pointer.value, library.parsrec_data_free)
        #: The file.
        self.path: pathlib.Path = pathlib.Path(path)
        #: What import did with the rows; empty for a data set that was opened.
        self.report: Dict[str, Any] = {}

    @classmethod
    def open(cls, path: Path) -> "Dataset":
        """Opens the file of a data set."""
        return cls(path)

    @classmethod
    def _made(cls, path: Optional[Path], make: Any) -> "Dataset":
        """A data set that make(path) writes."""
        keep = _Folder() if path is None else None
        target = keep.path / "data.st" if keep is not None else pathlib.Path(path)  # type: ignore[arg-type]
        report = make(target)
        out = cls(target)
        out._folder = keep
        out.report = report
        return out

    @classmethod
    def from_frame(cls, frame: Any, *, user: Optional[str] = None, session: Optional[str] = None,
                   time: Optional[str] = None, item: Optional[str] = None, items: Any = None,
                   users: Any = None, sessions: Any = None, path: Optional[Path] = None,
                   name: str = "frame", session_by: str = "column", session_gap: int = 0,
                   sort: bool = False, ordered: bool = False, min_actions: int = 0, max_bad: int = 0,
                   time_format: Optional[str] = None, numbers: Iterable[str] = (),
                   categories: Iterable[str] = (), quantity: Optional[str] = None,
                   progress: ProgressLike = None) -> "Dataset":
        """Makes a data set of a frame with one row per item bought.

        :param frame: a frame of pandas or polars, an Arrow table or anything with
            ``__arrow_c_stream__`` or ``__arrow_c_array__``, or a dict of numpy arrays. Text of Arrow
            columns is read where it is.
        :param user, session, time, item: names of columns; None: recognised by their names, as
            ``parsrec import`` does; ``""``: there is no such column.
        :param items, users, sessions: frames, or paths of files, that describe items (name, category,
            features), users and sessions.
        :param path: the file to write; None: a temporary one.
        :param name: of the frame, in messages and in the file. The checksum of a data set covers it.
        :param session_by: ``column``, or ``gap`` (a pause of more than ``session_gap`` seconds),
            ``day``, ``week``, ``month``.
        :param sort: sort sessions by time instead of refusing times out of order.
        :param ordered: the items of a session are in the order in which they were taken.
        :param min_actions: drop users and items with fewer rows.
        :param max_bad: skip up to this many bad rows.
        :param time_format: a strptime format, or excel, s, ms, us, ns. Not for datetime columns.
        :param numbers, categories: feature columns that are numbers, or categories.
        :param quantity: column of the quantity; rows with 0 or less are returns and left out. None and
            ``""`` as for the other columns.
        """
        options = _import_options(user, session, time, item, session_by, session_gap, sort, ordered,
                                  min_actions, max_bad, time_format, numbers, categories, quantity)
        named = [user, session, time, item]
        only = None if any(n is None for n in named) else [n for n in named if n]
        tables = {"items": items, "users": users, "sessions": sessions}

        def make(target: pathlib.Path) -> Dict[str, Any]:
            streams = abi.parsrec_import_streams(name=text(name))
            opened: List[_arrow.Source] = []
            report = abi.parsrec_import_report()
            try:
                opened.append(_arrow.source(frame, only))
                streams.actions = opened[0].pointer
                for what, given in tables.items():
                    if isinstance(given, (str, os.PathLike)):
                        setattr(options, what + "_path", text(given))
                    elif given is not None:
                        opened.append(_arrow.source(given))
                        setattr(streams, what, opened[-1].pointer)
                Call(progress).run(library.parsrec_import_rows, text(target), ctypes.byref(streams),
                                   ctypes.byref(options), ctypes.byref(report))
            finally:
                for one in opened:
                    one.close()
            return plain(report)

        return cls._made(path, make)

    @classmethod
    def from_files(cls, *inputs: Path, items: Optional[Path] = None, users: Optional[Path] = None,
                   sessions: Optional[Path] = None, user: Optional[str] = None,
                   session: Optional[str] = None, time: Optional[str] = None,
                   item: Optional[str] = None, table: Optional[str] = None,
                   query: Optional[str] = None, latin1: bool = False, path: Optional[Path] = None,
                   session_by: str = "column", session_gap: int = 0, sort: bool = False,
                   ordered: bool = False, min_actions: int = 0, max_bad: int = 0,
                   time_format: Optional[str] = None, numbers: Iterable[str] = (),
                   categories: Iterable[str] = (), quantity: Optional[str] = None,
                   progress: ProgressLike = None) -> "Dataset":
        """Makes a data set of files or databases, as ``parsrec import`` does.

        An input is a CSV or TSV file, also compressed, ``sqlite:FILE`` or ``postgresql://...``. The
        other arguments are those of :meth:`from_frame`.
        """
        options = _import_options(user, session, time, item, session_by, session_gap, sort, ordered,
                                  min_actions, max_bad, time_format, numbers, categories, quantity)
        options.items_path, options.users_path = text(items), text(users)
        options.sessions_path, options.latin1 = text(sessions), latin1
        options.table, options.query = text(table), text(query)

        def make(target: pathlib.Path) -> Dict[str, Any]:
            report = abi.parsrec_import_report()
            names = (ctypes.c_char_p * max(1, len(inputs)))(*[text(i) for i in inputs])
            Call(progress).run(library.parsrec_import, text(target), names, len(inputs),
                               ctypes.byref(options), ctypes.byref(report))
            return plain(report)

        return cls._made(path, make)

    @classmethod
    def synthetic(cls, *, users: int = 1024, sessions: int = 100, categories: Optional[int] = None,
                  products: Optional[int] = None, seed: int = 1, path: Optional[Path] = None,
                  csv: Optional[Path] = None, threads: int = 0,
                  progress: ProgressLike = None) -> "Dataset":
        """Makes the paper's synthetic shop with its ground truth (docs/synthetic.md).

        :param categories, products: None: the paper's; products are per category.
        :param csv: also write the actions as CSV.
        """
        options = library.parsrec_synth_default()
        options.users, options.sessions, options.seed, options.threads = users, sessions, seed, threads
        options.csv_path = text(csv)
        if categories is not None:
            options.categories = categories
        if products is not None:
            options.products = products

        def make(target: pathlib.Path) -> Dict[str, Any]:
            report = abi.parsrec_synth_report()
            Call(progress).run(library.parsrec_synth, text(target), ctypes.byref(options),
                               ctypes.byref(report))
            return plain(report)

        return cls._made(path, make)

    def save(self, path: Path) -> "Dataset":
        """Copies the file and returns the data set opened there."""
        _copy(self.path, path)
        return Dataset(path)

    def export(self, path: Path) -> None:
        """Writes the actions as a table: user, session, time and item, which import reads back.

        :param path: a file that ends in ``.parquet`` (needs DuckDB's library, see docs/import.md) or ``.csv``.
        """
        call(library.parsrec_export, text(self.path), text(path), None)

    def info(self) -> Dict[str, Any]:
        """The statistics table of the data set, its kind of times and its checksum."""
        stats = abi.parsrec_data_stats()
        call(library.parsrec_data_statistics, self._handle.pointer, ctypes.byref(stats))
        out = plain(stats)
        out["time_kind"] = _TIME_KINDS[stats.time_kind]
        return out

    @property
    def checksum(self) -> str:
        """Of the file: equal for equal rows, options and name of the source."""
        return self.info()["checksum"]

    def list(self, what: str = "item", containing: Optional[str] = None) -> Any:
        """Users, items or categories as a frame, by number of sessions.

        :param containing: only those whose key, name or path contains the text.
        """
        thing = choice("what", what, _THINGS)
        rows, count = ctypes.POINTER(abi.parsrec_listed)(), ctypes.c_size_t()
        call(library.parsrec_data_list, ctypes.byref(rows), ctypes.byref(count), self._handle.pointer,
             thing, text(containing))
        try:
            found = [(r.number, r.sessions, r.actions, r.users) for r in rows[:count.value]]
        finally:
            library.parsrec_list_free(rows)
        data, buffer = self._handle.pointer, ctypes.create_string_buffer(1024)

        def path_of(category: int) -> str:
            if category < 0:
                return ""
            library.parsrec_data_category_path(data, category, buffer, len(buffer))
            return buffer.value.decode("utf-8", "replace")

        numbers = [f[0] for f in found]
        columns: Dict[str, Any] = {
            what: [path_of(n) if what == "category" else name_text(library.parsrec_data_key(data, thing, n))
                   for n in numbers]}
        if what == "item":
            columns["name"] = [name_text(library.parsrec_data_item_name(data, n)) for n in numbers]
            columns["category"] = [path_of(library.parsrec_data_item_category(data, n)) for n in numbers]
        for place, column in ((1, "sessions"), (2, "actions"), (3, "users")):
            columns[column] = [f[place] for f in found]
        return table(columns)

    def split_at(self, time: Union[int, str]) -> "Dataset":
        """Splits by time: nobody's sessions from then on are learnt from. Returns a data set.

        :param time: seconds since 1970, or a date such as ``"2010-03-02"``.
        """
        seconds = ctypes.c_int64()
        if isinstance(time, str):
            call(library.parsrec_time_read, text(time), ctypes.byref(seconds))
        else:
            seconds.value = int(time)
        out = Dataset(self.path)
        out._folder = self._folder
        how = abi.parsrec_split_options(at=True, time=seconds.value)
        call(library.parsrec_data_split, out._handle.pointer, ctypes.byref(how), None)
        return out

    def __reduce__(self) -> Any:
        """Pickled by the path of its file."""
        return Dataset, (str(self.path.resolve()),)

    def __repr__(self) -> str:
        i = self.info()
        return "<parsrec.Dataset: {users:,} users, {sessions:,} sessions, {items:,} items, {actions:,} actions>".format(**i)

    _folder: Optional["_Folder"] = None


class _Folder:
    """A temporary folder, shared by the objects whose files are in it."""

    def __init__(self) -> None:
        self.path = scratch_folder(self)


def _copy(source: Path, target: Path) -> None:
    """Copies a file so that the target is never half written."""
    beside = str(target) + ".tmp"
    shutil.copyfile(source, beside)
    os.replace(beside, target)


def _import_options(user: Optional[str], session: Optional[str], time: Optional[str],
                    item: Optional[str], session_by: str, session_gap: int, sort: bool, ordered: bool,
                    min_actions: int, max_bad: int, time_format: Optional[str],
                    numbers: Iterable[str], categories: Iterable[str],
                    quantity: Optional[str]) -> Any:
    options = library.parsrec_import_default()
    options.user_column, options.session_column = text(user), text(session)
    options.time_column, options.item_column = text(time), text(item)
    options.session_rule = choice("session_by", session_by, SESSION_RULES)
    options.session_gap, options.sort, options.ordered = session_gap, sort, ordered
    options.min_actions, options.max_bad = min_actions, max_bad
    options.time_format, options.quantity_column = text(time_format), text(quantity)
    options.number_columns = text(",".join([numbers] if isinstance(numbers, str) else numbers)) or None
    options.category_columns = text(
        ",".join([categories] if isinstance(categories, str) else categories)) or None
    return options
