"""What an import of rows in random order is compared with: the same task by DuckDB or pandas.
usage: import_beside.py duckdb LIBRARY ROWS.csv OUT    or    import_beside.py pandas ROWS.csv OUT
Reads user, session, time and item, keeps an item once per session, sorts by user, time and session, and writes
the result: DuckDB to a Parquet file, pandas numbered columns to a NumPy file. Prints JSON: seconds until the text
was read, seconds until the result was written, and the counts. Loading the library is not counted."""
import ctypes
import json
import sys
import time


def by_duckdb(library, rows, out):
    duck = ctypes.CDLL(library)
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    result = (ctypes.c_uint64 * 6)()
    duck.duckdb_result_error.restype = ctypes.c_char_p
    duck.duckdb_value_int64.restype = ctypes.c_int64
    duck.duckdb_value_int64.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]

    def ask(text, columns=0):
        if duck.duckdb_query(connection, text.encode(), ctypes.byref(result)):
            sys.exit(duck.duckdb_result_error(ctypes.byref(result)).decode())
        found = [duck.duckdb_value_int64(ctypes.byref(result), i, 0) for i in range(columns)]
        duck.duckdb_destroy_result(ctypes.byref(result))
        return found

    assert duck.duckdb_open(None, ctypes.byref(database)) == 0
    assert duck.duckdb_connect(database, ctypes.byref(connection)) == 0
    began = time.perf_counter()
    ask(f"create table rows as select * from read_csv('{rows}')")
    read = time.perf_counter() - began
    ask(f'copy (select distinct "user", session, time, item from rows order by "user", time, session) '
        f"to '{out}' (format parquet)")
    written = time.perf_counter() - began
    return read, written, ask(f'select count(distinct "user"), count(distinct session), count(distinct item), count(*) '
                              f"from '{out}'", 4)


def by_pandas(rows, out):
    import numpy
    import pandas

    began = time.perf_counter()
    table = pandas.read_csv(rows)
    read = time.perf_counter() - began
    names = {}
    for column in ("user", "session", "item"):
        table[column], names[column] = pandas.factorize(table[column])
    table = table.drop_duplicates(["session", "item"]).sort_values(["user", "time", "session"])
    numpy.save(out, table.to_numpy())
    written = time.perf_counter() - began
    return read, written, [len(names["user"]), len(names["session"]), len(names["item"]), len(table)]


seconds_read, seconds, counts = (by_duckdb if sys.argv[1] == "duckdb" else by_pandas)(*sys.argv[2:])
print(json.dumps({"read": seconds_read, "seconds": seconds,
                  **dict(zip(("users", "sessions", "items", "actions"), counts))}))
