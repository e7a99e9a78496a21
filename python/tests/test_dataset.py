"""Data sets from frames: the same file as from CSV, whatever holds the rows."""
import ctypes
import gc
import os

import numpy as np
import parsrec
import pytest
from conftest import EXAMPLES, read

from parsrec import _abi as abi


def same(from_csv, frame, items, **options):
    """The data set of a frame has the bytes of that of the CSV file."""
    made = parsrec.Dataset.from_frame(frame, items=items, name="corner_shop.csv", **options)
    assert made.checksum == from_csv.checksum
    assert made.path.read_bytes() == from_csv.path.read_bytes()
    return made


# ---- numpy ----

def test_a_dict_of_strings(from_csv, frame, items):
    made = same(from_csv, frame, items)
    assert made.report["rows_read"] == len(frame["user"]) == 3153
    assert (made.info()["users"], made.info()["items"], made.info()["time_kind"]) == (60, 47, "unix")
    assert len(made.checksum) == 16


def test_without_pandas(from_csv, frame, items, no_pandas):
    same(from_csv, frame, items)


@pytest.mark.parametrize("kind", ["U", "S"])
def test_fixed_width_strings(from_csv, frame, items, kind):
    same(from_csv, {name: values.astype(kind) for name, values in frame.items()}, items)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns", "h"])
@pytest.mark.parametrize("whole", ["int64", "int32", "uint16", "float64"])
def test_numbers_and_times(from_csv, frame, items, unit, whole):
    if whole == "uint16":
        columns = dict(session=frame["session"].astype("uint32"), item=frame["item"].astype("uint16"))
    else:
        columns = dict(session=frame["session"].astype(whole), item=frame["item"].astype(whole))
    same(from_csv, dict(frame, time=frame["time"].astype("datetime64[%s]" % unit), **columns), items)


def test_strided_and_structured_arrays(from_csv, frame, items):
    rows = np.zeros(len(frame["user"]), dtype=[("item", "i8"), ("user", "U8"), ("time", "M8[s]"),
                                               ("session", "i4")])
    for name in rows.dtype.names:
        rows[name] = frame[name].astype(rows.dtype[name])
    same(from_csv, rows, items)


def test_unused_columns_do_not_matter(from_csv, frame, items):
    more = dict(frame, weather=np.full(len(frame["user"]), "rain", dtype=object))
    same(from_csv, more, items, user="user", session="session", time="time", item="item")
    same(from_csv, more, items)


def test_names_and_returns_in_one_frame(frame):
    rows = len(frame["user"])
    quantity = np.ones(rows, dtype="int32")
    quantity[3] = -1
    sheet = dict(frame, quantity=quantity, product_name=np.char.add("No ", frame["item"].astype("U8")))
    made = parsrec.Dataset.from_frame(sheet)
    assert (made.report["returns"], made.info()["actions"]) == (1, rows - 1)
    assert parsrec.Dataset.from_frame(sheet, quantity="").report["returns"] == 0
    with pytest.raises(parsrec.Error, match="no column 'amount'"):
        parsrec.Dataset.from_frame(sheet, quantity="amount")


def test_columns_by_name_and_sessions_by_day(frame):
    renamed = {"who": frame["user"], "when": frame["time"], "what": frame["item"]}
    made = parsrec.Dataset.from_frame(renamed, user="who", time="when", item="what", session="",
                                      session_by="day")
    assert made.info()["actions"] > 3000
    with pytest.raises(parsrec.Error, match="there is no column 'nobody', only who, when, what") as caught:
        parsrec.Dataset.from_frame(renamed, user="nobody", time="when", item="what", session="")
    assert caught.value.name == "E_NOT_FOUND" and caught.value.status == 60


def test_missing_values_are_empty_fields(frame):
    gaps = dict(frame, user=frame["user"].copy())
    gaps["user"][3] = None
    with pytest.raises(parsrec.Error, match=r"orders: row 4, column 1: the user is empty"):
        parsrec.Dataset.from_frame(gaps, name="orders")
    made = parsrec.Dataset.from_frame(gaps, max_bad=1)
    assert made.report["bad_rows"] == 1 and "row 4" in made.report["first_bad"]
    times = dict(frame, time=frame["time"].astype("datetime64[ns]"))
    times["time"][0] = np.datetime64("NaT")
    with pytest.raises(parsrec.Error, match="of another kind than those before"):
        parsrec.Dataset.from_frame(times)


def test_what_is_not_a_frame_is_refused(frame):
    for wrong in (17, None, ["a"], {}):
        with pytest.raises(TypeError, match="a frame of pandas or polars"):
            parsrec.Dataset.from_frame(wrong)
    with pytest.raises(ValueError, match="different lengths"):
        parsrec.Dataset.from_frame(dict(frame, item=frame["item"][:-1]))
    with pytest.raises(TypeError, match="complex128"):
        parsrec.Dataset.from_frame(dict(frame, item=np.zeros(len(frame["user"]), dtype=complex)))
    with pytest.raises(ValueError, match="session_by must be one of"):
        parsrec.Dataset.from_frame(frame, session_by="hour")


# ---- pandas ----

def test_pandas_frames(from_csv, frame, items):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(frame)
    same(from_csv, table, pandas.DataFrame(items))
    table["user"] = table["user"].astype("category")
    table["session"] = table["session"].astype("Int64")
    table["item"] = table["item"].astype("string")
    table["time"] = pandas.to_datetime(table["time"]).dt.tz_localize("UTC")
    same(from_csv, table, pandas.DataFrame(items))
    table["time"] = table["time"].dt.tz_convert("Asia/Tokyo")
    table["item"] = table["item"].astype("category")
    same(from_csv, table.set_index("user", drop=False), pandas.DataFrame(items))


def test_pandas_frames_of_results(data):
    pandas = pytest.importorskip("pandas")
    listed = data.list("item", containing="coffee")
    assert isinstance(listed, pandas.DataFrame)
    assert list(listed["name"]) == ["Coffee beans", "Coffee filters"]


# ---- Arrow: structs built here, as another library would ----

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

released = []


def releaser(struct):
    kind = dict(struct._fields_)["release"]

    def release(pointer):
        released.append(struct.__name__)
        pointer.contents.release = kind()

    return kind(release)


release_schema, release_array = releaser(abi.ArrowSchema), releaser(abi.ArrowArray)


class ArrowTable:
    """Columns of UTF-8 as an Arrow library holds them, with either protocol."""

    def __init__(self, columns, stream):
        self.keep, self.columns = [], columns
        if stream:
            self.__arrow_c_stream__ = self.as_stream
        else:
            self.__arrow_c_array__ = self.as_array

    def hold(self, thing):
        self.keep.append(thing)
        return thing

    def structs(self):
        schemas, arrays = [], []
        for name, values in self.columns.items():
            encoded = [v.encode() for v in values]
            offsets = self.hold(np.cumsum([0] + [len(v) for v in encoded], dtype=np.int32))
            text = self.hold(ctypes.create_string_buffer(b"".join(encoded)))
            buffers = self.hold((ctypes.c_void_p * 3)(None, offsets.ctypes.data, ctypes.addressof(text)))
            array = abi.ArrowArray(length=len(values), n_buffers=3, release=release_array)
            array.buffers = ctypes.cast(buffers, ctypes.POINTER(ctypes.c_void_p))
            schemas.append(self.hold(abi.ArrowSchema(format=b"u", name=name.encode(), release=release_schema)))
            arrays.append(self.hold(array))
        schema = self.hold(abi.ArrowSchema(format=b"+s", n_children=len(schemas), release=release_schema))
        schema.children = self.hold((ctypes.POINTER(abi.ArrowSchema) * len(schemas))(
            *[ctypes.pointer(s) for s in schemas]))
        array = self.hold(abi.ArrowArray(length=len(values), n_buffers=1, n_children=len(arrays),
                                         release=release_array))
        array.children = self.hold((ctypes.POINTER(abi.ArrowArray) * len(arrays))(
            *[ctypes.pointer(a) for a in arrays]))
        return schema, array

    def as_array(self, requested_schema=None):
        schema, array = self.structs()
        return (new_capsule(ctypes.addressof(schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(array), b"arrow_array", None))

    def as_stream(self, requested_schema=None):
        kinds = dict(abi.ArrowArrayStream._fields_)
        schema, array = self.structs()
        left = [array]

        def get_schema(_stream, out):
            ctypes.memmove(out, ctypes.byref(schema), ctypes.sizeof(schema))
            return 0

        def get_next(_stream, out):
            one = left.pop() if left else abi.ArrowArray()
            ctypes.memmove(out, ctypes.byref(one), ctypes.sizeof(one))
            return 0

        def release(pointer):
            released.append("ArrowArrayStream")
            pointer.contents.release = kinds["release"]()

        stream = self.hold(abi.ArrowArrayStream(
            get_schema=kinds["get_schema"](get_schema), get_next=kinds["get_next"](get_next),
            release=kinds["release"](release)))
        return new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


def test_arrow_streams(from_csv, frame, items):
    del released[:]
    same(from_csv, ArrowTable(frame, True), ArrowTable(items, True))
    assert sorted(released) == ["ArrowArray"] * 2 + ["ArrowArrayStream"] * 2 + ["ArrowSchema"] * 2


def test_arrow_arrays(from_csv, frame, items):
    del released[:]
    same(from_csv, ArrowTable(frame, False), ArrowTable(items, False))
    assert sorted(released) == ["ArrowArray"] * 2 + ["ArrowSchema"] * 2


def test_a_stream_that_is_not_read_is_released(frame):
    del released[:]
    with pytest.raises(TypeError):
        parsrec.Dataset.from_frame(ArrowTable(frame, True), items=17)
    assert released == ["ArrowArrayStream"]
    with pytest.raises(parsrec.Error, match="no column is recognised as the user"):
        parsrec.Dataset.from_frame(ArrowTable({"colour": frame["user"]}, False))
    assert released[1:] == ["ArrowSchema", "ArrowArray"]


def test_pyarrow_tables(from_csv, frame, items):
    pyarrow = pytest.importorskip("pyarrow")
    same(from_csv, pyarrow.table(frame), pyarrow.table(items))


def test_polars_frames(from_csv, frame, items):
    polars = pytest.importorskip("polars")
    same(from_csv, polars.DataFrame({k: list(v) for k, v in frame.items()}),
         polars.DataFrame({k: list(v) for k, v in items.items()}))


# ---- files ----

def test_open_and_save(data, tmp_path):
    kept = data.save(tmp_path / "kept.st")
    assert kept.checksum == data.checksum
    again = parsrec.Dataset.open(tmp_path / "kept.st")
    assert again.info() == data.info()
    assert repr(again) == "<parsrec.Dataset: 60 users, 775 sessions, 47 items, 3,153 actions>"
    with pytest.raises(parsrec.Error, match="missing.st") as caught:
        parsrec.Dataset.open(tmp_path / "missing.st")
    assert caught.value.name == "E_IO"


def test_temporary_files_are_removed(frame, tmp_path):
    made = parsrec.Dataset.from_frame(frame)
    path = made.path
    split = made.split_at("2024-03-01")
    del made
    gc.collect()
    assert path.exists() and split.info()["actions"] > 0
    del split
    gc.collect()
    assert not path.exists() and not path.parent.exists()
    named = parsrec.Dataset.from_frame(frame, path=tmp_path / "named.st")
    del named
    gc.collect()
    assert os.listdir(tmp_path) == ["named.st"]


def test_lists(data):
    users = data.list("user")
    assert len(users["user"]) == 60
    categories = data.list("category", containing="bakery")
    assert list(categories["category"]) == ["FOOD > BAKERY"]
    with pytest.raises(ValueError, match="what must be one of user, item, category"):
        data.list("shop")


def test_synthetic_data():
    made = parsrec.Dataset.synthetic(users=20, sessions=5, seed=3)
    assert made.info()["synthetic"] and made.info()["users"] == 20


def test_import_warns(frame):
    with pytest.warns(parsrec.DataWarning, match="no column was recognised as the session") as caught:
        parsrec.Dataset.from_frame({"user": frame["user"], "item": frame["item"]})
    assert caught[0].filename == __file__


def test_files_that_do_not_exist():
    with pytest.raises(parsrec.Error, match="nowhere.csv"):
        parsrec.Dataset.from_files(EXAMPLES / "nowhere.csv")
    assert set(read("corner_shop_items.csv")) == {"item", "name", "category"}


def test_export_is_read_back(data, tmp_path):
    data.export(tmp_path / "actions.csv")
    again = parsrec.Dataset.from_files(tmp_path / "actions.csv")
    assert again.info()["actions"] == data.info()["actions"]
    assert list(again.list("item")["sessions"]) == list(data.list("item")["sessions"])
