#!/bin/sh
# Import of 5.8 M rows from CSV and from Parquet, in turns: seconds, processor seconds, checksums.
# usage: bench/parquet.sh [path of parsrec [ROUNDS]]     Goal: Parquet no slower than CSV by the median, same checksum.
# Needs DuckDB's library (scripts/get_duckdb.sh). Files are kept in memory (/dev/shm), so that disks do not count;
# with FOLDER=... they are there, and what the system still has of them in memory is given up before each import.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
parsrec=$(readlink -f "${1:-$here/build/release/src/parsrec}")
rounds=${2:-9}
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
import json, os, statistics, subprocess, sys, time

parsrec, work, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
inputs = {"CSV": work + "/csv/orders", "Parquet": "parquet:" + work + "/parquet/orders"}
found, checksums = {name: [] for name in inputs}, {}


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
        found[name].append((time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
        report = json.loads(subprocess.run([parsrec, "info", "--json", work + "/out"], check=True, capture_output=True).stdout)
        text = json.dumps(report)
        checksums[name] = text[text.index('"checksum": "') + 13:][:16]
median = {name: statistics.median(run[0] for run in runs) for name, runs in found.items()}
for name, runs in found.items():
    wall, cpu, memory = min(runs)
    print(f"{name:8s} median {median[name]:.2f} s; best {wall:.2f} s, processor {cpu:.2f} s, {memory:.0f} MB, checksum {checksums[name]}")
same = len(set(checksums.values())) == 1
print("goal: Parquet no slower than CSV by the median, same checksum:",
      "reached" if same and median["Parquet"] <= median["CSV"] else "missed")
PYTHON
