"""Finding and calling the shared library: errors, texts, progress and Ctrl-C."""
from __future__ import annotations

import ctypes
import ctypes.util
import logging
import os
import pathlib
import signal
import sys
import threading
import warnings
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Union

from . import _abi as abi
from ._version import __version__

log = logging.getLogger("parsrec")


class Error(Exception):
    """A call of the library failed.

    ``str(error)`` is the library's sentence, ``error.status`` the number of the status and
    ``error.name`` its name, such as ``"E_INPUT"``.
    """

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def name(self) -> str:
        return library.parsrec_status_name(self.status).decode()

    def __reduce__(self) -> Any:
        return Error, (self.status, self.message)


class DataWarning(UserWarning):
    """The library has something to say about the data or the model."""


class Progress(NamedTuple):
    """How far a long call has come."""

    stage: str
    unit: str
    note: str
    done: int
    total: int  #: 0: unknown


class Epoch(NamedTuple):
    """A finished epoch of training, with measures of the validation sessions."""

    number: int
    loss: float
    hit_rate_10: float
    ndcg_10: float
    session_precision_10: float
    seconds: float
    items_per_s: float
    model: str  #: its name if a call trains several


ProgressLike = Union[None, bool, Callable[[Progress], Any]]


# ---- the library ----

def _candidates() -> Iterable[str]:
    """Where the library may be: PARSREC_LIBRARY, beside the package, the system."""
    given = os.environ.get("PARSREC_LIBRARY")
    if given:
        yield given
        return
    here = pathlib.Path(__file__).resolve().parent
    for path in sorted(here.glob("libparsrec.so*")) + sorted(here.glob("libparsrec*.dylib")):
        yield str(path)
    major = __version__.split(".")[0]
    yield "libparsrec.so." + major
    found = ctypes.util.find_library("parsrec")
    if found:
        yield found


def _load() -> ctypes.CDLL:
    problems = []
    for name in _candidates():
        try:
            found = ctypes.CDLL(name)
        except OSError as problem:
            problems.append(str(problem))
            continue
        _declare(found, name)
        return found
    raise ImportError(
        "the shared library libparsrec was not found; install it, or set PARSREC_LIBRARY to its path ("
        + "; ".join(problems) + ")")


def _declare(found: ctypes.CDLL, name: str) -> None:
    """Sets the signatures. A library of another version has other structs and is refused."""
    try:
        found.parsrec_version.restype = ctypes.c_char_p
        version = found.parsrec_version().decode()
    except AttributeError:
        raise ImportError(name + " is not the library of parsrec") from None
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise ImportError("%s has version %s, but this package needs %s; install the same version of both"
                          % (name, version, __version__))
    for function, (result, arguments) in abi.FUNCTIONS.items():
        try:
            call = getattr(found, function)
        except AttributeError:
            raise ImportError("%s lacks %s: it is older than this package; build both from the same source"
                              % (name, function)) from None
        call.restype = result
        call.argtypes = arguments


library = _load()


# ---- values ----

def text(value: Union[str, bytes, os.PathLike, None]) -> Optional[bytes]:
    """A string argument of C; None is NULL."""
    if value is None or isinstance(value, bytes):
        return value
    return os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode("utf-8")


def words(values: Union[None, str, Iterable[str]]) -> Any:
    """An array of C strings and its length; a string alone is a list of one."""
    if values is None:
        values = ()
    listed = [text(v) for v in ([values] if isinstance(values, str) else values)]
    return (ctypes.c_char_p * max(1, len(listed)))(*listed), len(listed)


def key(value: Any) -> bytes:
    """The key of a user or item: text as it is, a whole number in digits."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytes):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).encode("utf-8")


def name_text(name: Any) -> str:
    """A parsrec_name as a string."""
    return ctypes.string_at(name.bytes, name.size).decode("utf-8", "replace") if name.size else ""


def take_text(pointer: ctypes.c_void_p) -> str:
    """A text that the library allocated, which is freed."""
    try:
        return ctypes.string_at(pointer.value or 0).decode("utf-8", "replace")
    finally:
        library.parsrec_text_free(pointer)


def choice(kind: str, value: str, options: Iterable[str]) -> int:
    """The place of a word in a list."""
    listed = list(options)
    if value not in listed:
        raise ValueError("%s must be one of %s, not %r" % (kind, ", ".join(listed), value))
    return listed.index(value)


class Handle:
    """Owns an object of the library. ``needs`` must be freed later than it."""

    __slots__ = ("pointer", "_free", "_needs", "__weakref__")

    def __init__(self, pointer: Optional[int], free: Callable[[Any], None], needs: Any = None):
        self.pointer = pointer
        self._free = free
        self._needs = needs

    def close(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer:
            self._free(pointer)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is shutting down
            pass


# ---- calls ----

def _raise(status: int, err: Any) -> None:
    raise Error(status, err.message.decode("utf-8", "replace"))


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is the error; raises it."""
    err = abi.parsrec_error()
    status = function(*arguments, ctypes.byref(err))
    if status != abi.OK:
        _raise(status, err)


def _callers() -> int:
    """The stacklevel of the first frame outside of this package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    return level


class Call:
    """A long call: its hooks, its messages, Ctrl-C.

    While it runs, SIGINT sets a flag that the next progress callback sees; an exception raised inside
    a callback could not leave it. The library then stops, cleans up and the call raises
    KeyboardInterrupt.
    """

    def __init__(self, progress: ProgressLike = None,
                 on_epoch: Optional[Callable[[Epoch], Any]] = None):
        self.show = _Line() if progress is True else None
        self.progress = progress if callable(progress) else self.show
        self.on_epoch = on_epoch
        self.stopped = False
        self.problem: Optional[BaseException] = None
        self.messages: List[Any] = []
        kinds: Dict[str, Any] = {f[0]: f[1] for f in abi.parsrec_hooks._fields_}
        self.hooks = abi.parsrec_hooks(
            on_log=kinds["on_log"](self._log),
            on_progress=kinds["on_progress"](self._progress),
            on_epoch=kinds["on_epoch"](self._epoch))

    def _guard(self, function: Callable[..., Any], argument: Any) -> Any:
        try:
            return function(argument)
        except BaseException as problem:
            self.problem = self.problem or problem
            return True

    def _log(self, _context: Any, level: int, message: bytes) -> None:
        self.messages.append((level, message.decode("utf-8", "replace")))

    def _progress(self, _context: Any, pointer: Any) -> int:
        if self.progress is not None and not self.stopped:
            p = pointer.contents
            state = Progress(p.stage.decode(), p.unit.decode(), (p.note or b"").decode(), p.done, p.total)
            if self._guard(self.progress, state) and self.show is None:
                self.stopped = True
        return 1 if self.stopped or self.problem is not None else 0

    def _epoch(self, _context: Any, pointer: Any) -> None:
        e = pointer.contents
        epoch = Epoch(e.number, e.loss, e.hit_rate_10, e.ndcg_10, e.session_precision_10, e.seconds,
                      e.items_per_s, (e.name or b"").decode())
        if self.show is not None:
            self.show.epoch(epoch)
        if self.on_epoch is not None:
            self._guard(self.on_epoch, epoch)

    def _interrupt(self, _number: int, _frame: Any) -> None:
        self.stopped = True
        self.interrupted = True

    def run(self, function: Any, *arguments: Any) -> None:
        """Calls a function whose last two arguments are the hooks and the error."""
        err = abi.parsrec_error()
        self.interrupted = False
        catch = (threading.current_thread() is threading.main_thread()
                 and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        if catch:
            signal.signal(signal.SIGINT, self._interrupt)
        try:
            status = function(*arguments, ctypes.byref(self.hooks), ctypes.byref(err))
        finally:
            if catch:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            if self.show is not None:
                self.show.close()
        if self.problem is not None:
            raise self.problem
        if self.interrupted and status == abi.E_STOPPED:
            raise KeyboardInterrupt(err.message.decode("utf-8", "replace"))
        if status != abi.OK:
            _raise(status, err)
        for level, message in self.messages:
            if level == abi.LOG_WARNING:
                warnings.warn(message, DataWarning, stacklevel=_callers())
            else:
                log.info(message)
        if self.interrupted:
            raise KeyboardInterrupt


class _Line:
    """progress=True: a live line on a terminal, otherwise a line per epoch."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.width = 0

    def __call__(self, p: Progress) -> None:
        if not self.live:
            return
        share = " %3.0f %%" % (100.0 * p.done / p.total) if p.total else " %d %s" % (p.done, p.unit)
        self._write(("%s%s  %s" % (p.stage, share, p.note)).rstrip())

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def epoch(self, e: Epoch) -> None:
        self.close()
        sys.stderr.write("%sepoch %d  loss %.4f  NDCG@10 %.4f  %.1f s\n"
                         % (e.model + ": " if e.model else "", e.number, e.loss, e.ndcg_10, e.seconds))

    def close(self) -> None:
        if self.width > 0:
            sys.stderr.write("\r" + " " * self.width + "\r")
            self.width = 0
