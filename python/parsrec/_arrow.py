"""Frames as streams of the Arrow C interface: three structs and no library.

An object that speaks the interface itself (``__arrow_c_stream__``, ``__arrow_c_array__``: polars,
pyarrow, DuckDB, new pandas) hands its buffers over, and no text is copied. Columns of pandas and numpy
are wrapped here: numbers and times are read where they are; a column of Python strings becomes a
dictionary of its distinct values and a number per row.
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _abi as abi
from ._frames import pandas

_fields: Dict[Any, Dict[str, Any]] = {s: {f[0]: f[1] for f in s._fields_} for s in (abi.ArrowSchema, abi.ArrowArray, abi.ArrowArrayStream)}
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _no_release(struct: Any) -> Any:
    kind = _fields[struct]["release"]

    def release(pointer: Any) -> None:
        pointer.contents.release = kind()

    return kind(release)


# The memory belongs to Python objects that outlive the call, so that releasing only marks.
_release_schema = _no_release(abi.ArrowSchema)
_release_array = _no_release(abi.ArrowArray)


class Source:
    """A stream for one call. ``address`` is that of its ArrowArrayStream."""

    def __init__(self, address: int, keep: Any):
        self.address = address
        self._keep = keep

    @property
    def pointer(self) -> Any:
        return ctypes.cast(self.address, ctypes.POINTER(abi.ArrowArrayStream))

    def close(self) -> None:
        """Releases a stream that no call has taken."""
        stream = self.pointer.contents
        if stream.release:
            stream.release(self.pointer)


def _one_batch(schema: abi.ArrowSchema, array: abi.ArrowArray, keep: Any) -> Source:
    """A stream of one batch. The structs are moved out by the first calls."""
    stream = abi.ArrowArrayStream()
    kinds = _fields[abi.ArrowArrayStream]
    batches = [array]

    def get_schema(_stream: Any, out: Any) -> int:
        ctypes.memmove(out, ctypes.byref(schema), ctypes.sizeof(schema))
        schema.release = _fields[abi.ArrowSchema]["release"]()
        return 0

    def get_next(_stream: Any, out: Any) -> int:
        if batches:
            one = batches.pop()
            ctypes.memmove(out, ctypes.byref(one), ctypes.sizeof(one))
            one.release = _fields[abi.ArrowArray]["release"]()
        else:
            ctypes.memset(out, 0, ctypes.sizeof(abi.ArrowArray))
        return 0

    def release(pointer: Any) -> None:
        if batches and batches[0].release:
            batches[0].release(ctypes.byref(batches[0]))
        if schema.release:
            schema.release(ctypes.byref(schema))
        pointer.contents.release = kinds["release"]()

    stream.get_schema = kinds["get_schema"](get_schema)
    stream.get_next = kinds["get_next"](get_next)
    stream.release = kinds["release"](release)
    return Source(ctypes.addressof(stream), (stream, schema, array, keep))


# ---- columns of numpy and pandas ----

_FORMATS = {"i1": "c", "i2": "s", "i4": "i", "i8": "l", "u1": "C", "u2": "S", "u4": "I", "u8": "L",
            "f4": "f", "f8": "g"}
_UNITS = {"s": "tss:", "ms": "tsm:", "us": "tsu:", "ns": "tsn:"}


class _Column:
    """One column: its format, its buffers and perhaps a dictionary."""

    def __init__(self, name: str, format: str, length: int, buffers: List[Optional[np.ndarray]],
                 dictionary: Optional["_Column"] = None):
        self.name, self.format, self.length = name.encode("utf-8"), format.encode(), length
        self.buffers, self.dictionary = buffers, dictionary

    def schema(self) -> abi.ArrowSchema:
        out = abi.ArrowSchema(format=self.format, name=self.name, flags=2, release=_release_schema)
        if self.dictionary is not None:
            self._dictionary_schema = self.dictionary.schema()
            out.dictionary = ctypes.pointer(self._dictionary_schema)
        return out

    def array(self) -> abi.ArrowArray:
        self._addresses = (ctypes.c_void_p * len(self.buffers))(
            *[None if b is None else b.ctypes.data for b in self.buffers])
        out = abi.ArrowArray(length=self.length, null_count=0 if self.buffers[0] is None else -1,
                             n_buffers=len(self.buffers), release=_release_array)
        out.buffers = ctypes.cast(self._addresses, _fields[abi.ArrowArray]["buffers"])
        if self.dictionary is not None:
            self._dictionary_array = self.dictionary.array()
            out.dictionary = ctypes.pointer(self._dictionary_array)
        return out


def _bits(values: np.ndarray) -> np.ndarray:
    return np.packbits(values.astype(bool), bitorder="little")


def _texts(name: str, values: List[bytes]) -> _Column:
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum([len(v) for v in values], dtype=np.int64)
    data = np.frombuffer(b"".join(values) or b"\0", dtype=np.uint8)
    return _Column(name, "U", len(values), [None, offsets, data])


def _coded(name: str, codes: np.ndarray, values: List[Any]) -> _Column:
    """A dictionary column; code -1 is a null."""
    codes = np.ascontiguousarray(codes)
    missing = codes < 0
    valid = _bits(~missing) if missing.any() else None
    distinct = _texts(name, [v if isinstance(v, bytes) else _word(v).encode("utf-8") for v in values])
    return _Column(name, _FORMATS[codes.dtype.str[1:]], len(codes), [valid, codes], distinct)


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _distinct(values: np.ndarray) -> Tuple[np.ndarray, List[Any]]:
    """Codes and distinct values of Python objects, in the order in which they appear."""
    module = pandas()
    if module is not None:
        codes, found = module.factorize(values)
        return codes.astype(np.int32 if len(found) < 1 << 31 else np.int64), list(found)
    numbers: Dict[Any, int] = {}
    codes = np.fromiter((-1 if _is_missing(v) else numbers.setdefault(v, len(numbers)) for v in values),
                        dtype=np.int64, count=len(values))
    return codes, list(numbers)


def _of_numpy(name: str, values: np.ndarray) -> _Column:
    if values.ndim != 1:
        raise ValueError("column %r has %d dimensions, not one" % (name, values.ndim))
    kind = values.dtype.kind
    if kind == "M":
        unit = np.datetime_data(values.dtype)[0]
        if unit not in _UNITS or np.datetime_data(values.dtype)[1] != 1:
            unit = "s"
            values = values.astype("datetime64[s]")
        missing = np.isnat(values)
        valid = _bits(~missing) if missing.any() else None
        whole = np.ascontiguousarray(values).view(np.int64)
        return _Column(name, _UNITS[unit], len(values), [valid, whole])
    if kind == "b":
        return _Column(name, "b", len(values), [None, _bits(values)])
    if kind in "iuf" and values.dtype.str[1:] in _FORMATS:
        plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        return _Column(name, _FORMATS[values.dtype.str[1:]], len(values), [None, plain])
    if kind == "S":
        return _texts(name, values.tolist())
    if kind == "U":
        found, codes = np.unique(values, return_inverse=True)
        return _coded(name, codes.astype(np.int64), found.tolist())
    if kind == "O":
        return _coded(name, *_distinct(values))
    raise TypeError("column %r has the type %s; use text, numbers or datetime64" % (name, values.dtype))


def _of_pandas(name: str, series: Any) -> _Column:
    kind = getattr(series.dtype, "name", str(series.dtype))
    if kind == "category":
        return _coded(name, np.asarray(series.cat.codes), list(series.cat.categories))
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy() if isinstance(series.dtype, np.dtype) else None
    if values is None:
        values = series.to_numpy(dtype=object)
    return _of_numpy(name, values)


def _struct(columns: List[_Column]) -> Source:
    """Columns of equal length as one record batch."""
    lengths = {c.length for c in columns}
    if len(lengths) != 1:
        raise ValueError("the columns have different lengths: "
                         + ", ".join("%s %d" % (c.name.decode(), c.length) for c in columns))
    schemas, arrays = [c.schema() for c in columns], [c.array() for c in columns]
    n = len(columns)
    schema_list = (ctypes.POINTER(abi.ArrowSchema) * n)(*[ctypes.pointer(s) for s in schemas])
    array_list = (ctypes.POINTER(abi.ArrowArray) * n)(*[ctypes.pointer(a) for a in arrays])
    no_buffer = (ctypes.c_void_p * 1)(None)
    schema = abi.ArrowSchema(format=b"+s", name=b"", n_children=n, release=_release_schema)
    schema.children = ctypes.cast(schema_list, _fields[abi.ArrowSchema]["children"])
    array = abi.ArrowArray(length=lengths.pop(), n_buffers=1, n_children=n, release=_release_array)
    array.buffers = ctypes.cast(no_buffer, _fields[abi.ArrowArray]["buffers"])
    array.children = ctypes.cast(array_list, _fields[abi.ArrowArray]["children"])
    return _one_batch(schema, array, (columns, schemas, arrays, schema_list, array_list, no_buffer))


# ---- any frame ----

def _capsule(frame: Any) -> Optional[Source]:
    """The stream of an object that speaks the interface, or None."""
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            capsule = frame.__arrow_c_stream__()
        except ImportError:  # pandas without pyarrow
            return None
        return Source(_capsule_pointer(capsule, b"arrow_array_stream"), (capsule, frame))
    if hasattr(frame, "__arrow_c_array__"):
        pair = frame.__arrow_c_array__()
        schema, array = abi.ArrowSchema(), abi.ArrowArray()
        for struct, capsule, name in ((schema, pair[0], b"arrow_schema"), (array, pair[1], b"arrow_array")):
            address = _capsule_pointer(capsule, name)
            ctypes.memmove(ctypes.byref(struct), address, ctypes.sizeof(struct))
            type(struct).from_address(address).release = _fields[type(struct)]["release"]()
        return _one_batch(schema, array, (pair, frame))
    return None


def source(frame: Any, only: Optional[List[str]] = None) -> Source:
    """A stream of a frame's rows. ``only`` names the columns that are needed; None: all."""
    found = _capsule(frame)
    if found is not None:
        return found
    module = pandas()
    names: List[str] = []
    take: Callable[[int], _Column]
    if module is not None and isinstance(frame, module.DataFrame):
        names = [str(n) for n in frame.columns]
        take = lambda i: _of_pandas(names[i], frame.iloc[:, i])  # noqa: E731
    elif isinstance(frame, np.ndarray) and frame.dtype.names:
        names = list(frame.dtype.names)
        take = lambda i: _of_numpy(names[i], frame[names[i]])  # noqa: E731
    elif isinstance(frame, Mapping):
        names, values = [str(n) for n in frame], list(frame.values())
        take = lambda i: _of_numpy(names[i], np.asarray(values[i]))  # noqa: E731
    if only is not None and not set(only) <= set(names):
        only = None  # a name is wrong: the library's sentence lists all columns
    if names:
        return _struct([take(i) for i, n in enumerate(names) if only is None or n in only])
    raise TypeError("a frame of pandas or polars, an Arrow table or a dict of arrays is needed, not "
                    + type(frame).__name__)
