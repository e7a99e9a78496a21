#!/bin/sh
# Import of 5.8 M rows from CSV and from Parquet, in turns: seconds, processor seconds, checksums.
# usage: bench/parquet.sh [path of parsrec [ROUNDS]]     Goal: Parquet no slower than CSV, same checksum.
# Needs DuckDB's library (scripts/get_duckdb.sh). Files are kept in memory (/dev/shm), so that disks do not count;
# with FOLDER=... they are there, and what the system still has of them in memory is given up before each import.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
parsrec=$(readlink -f "${1:-$here/build/release/src/parsrec}")
rounds=${2:-5}
: "${PARSREC_DUCKDB:=$here/build/duckdb/libduckdb.so}"
export PARSREC_DUCKDB PARSREC_PROGRESS=off
work=$(mktemp -d "${FOLDER:-/dev/shm}/parsrec-parquet.XXXXXX")
trap 'case $work in */parsrec-parquet.??????) rm -rf "$work" ;; esac' EXIT
mkdir "$work/csv" "$work/parquet"
"$parsrec" synth --users 8192 --sessions 170 -o "$work/data" >/dev/null
"$parsrec" export "$work/data" -o "$work/csv/orders"
"$parsrec" export "$work/data" -o "$work/orders.parquet"
mv "$work/orders.parquet" "$work/parquet/orders"
/usr/bin/python3 - "$parsrec" "$work" "$rounds" "${FOLDER-}" <<'PYTHON'
import json, os, subprocess, sys, time

parsrec, work, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
inputs = {"CSV": work + "/csv/orders", "Parquet": "parquet:" + work + "/parquet/orders"}
best, checksums = {}, {}


def forget(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


for _ in range(rounds):
    for name, path in inputs.items():
        if sys.argv[4]:
            forget(path.removeprefix("parquet:"))
        began = time.perf_counter()
        child = subprocess.Popen([parsrec, "import", "--json", "-o", work + "/out", path], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0
        found = (time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best[name] = min(best.get(name, found), found)
        report = json.loads(subprocess.run([parsrec, "info", "--json", work + "/out"], check=True, capture_output=True).stdout)
        text = json.dumps(report)
        checksums[name] = text[text.index('"checksum": "') + 13:][:16]
for name, (wall, cpu, memory) in best.items():
    print(f"{name:8s} {wall:6.2f} s, processor {cpu:5.2f} s, {memory:6.0f} MB, checksum {checksums[name]}")
same = len(set(checksums.values())) == 1
print("goal: Parquet no slower than CSV, same checksum:", "reached" if same and best["Parquet"][0] <= best["CSV"][0] else "missed")
PYTHON
