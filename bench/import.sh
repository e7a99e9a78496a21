#!/bin/sh
# How long parsrec import takes, reading to synced file, against pandas read_csv + factorize of the
# same columns in the same run; and its peak memory against the file it writes.
# usage: bench/import.sh [path of parsrec]     Goals: at least 3 times as fast, under 3 times the file.
# Besides a synthetic CSV of 5.8 M rows it takes online_retail_ii and tafeng out of $PARSREC_DATA
# (../shared/data beside the source), if they are there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
parsrec=${1:-$here/../build/release/src/parsrec}
data=${PARSREC_DATA:-$here/../../shared/data}
work=$(mktemp -d)
trap "rm -rf -- '$work'" EXIT
"$parsrec" synth --users 8192 --sessions 170 --csv "$work/synthetic.csv" >/dev/null
set -- "$work/synthetic.csv"
for name in online_retail_ii tafeng; do
    if [ -f "$data/$name/actions.csv.gz" ]; then
        set -- "$@" "$data/$name/actions.csv.gz"
    else
        echo "left out: $name is not in $data"
    fi
done
/usr/bin/python3 - "$parsrec" "$here/import_pandas.py" "$work/out.st" "$@" <<'PYTHON'
import json, os, statistics, subprocess, sys, time

parsrec, peer, out, *inputs = sys.argv[1:]


def ours(path):
    began = time.perf_counter()
    child = subprocess.Popen([parsrec, "import", "--json", "-o", out, path], stdout=subprocess.PIPE)
    report = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return time.perf_counter() - began, usage.ru_maxrss * 1024, report["rows_read"]


def pandas(path):
    return float(subprocess.run(["/usr/bin/python3", peer, path], check=True, capture_output=True).stdout)


def idle():
    child = subprocess.Popen([parsrec, "--version"], stdout=subprocess.DEVNULL)
    return os.wait4(child.pid, 0)[2].ru_maxrss * 1024


missed, base = False, idle()
print("input                 rows        MB   parsrec    pandas  faster   peak MB   own MB  file MB  own/file")
for path in inputs:
    runs = [(ours(path), pandas(path)) for _ in range(5)]
    seconds = statistics.median(run[0][0] for run in runs)
    peer_seconds = statistics.median(run[1] for run in runs)
    peak, rows = max(run[0][1] for run in runs), runs[0][0][2]
    size = os.path.getsize(out)
    name = os.path.basename(path) if path.endswith(".csv") else os.path.basename(os.path.dirname(path))
    # The program and its libraries are resident before anything is read, mapped and shared.
    own = peak - base
    missed |= peer_seconds < 3 * seconds or own >= 3 * size
    print(f"{name:18s} {rows:9,d} {os.path.getsize(path) / 1e6:8.1f} {seconds:8.3f} s {peer_seconds:7.3f} s "
          f"{peer_seconds / seconds:6.2f}x {peak / 1e6:9.1f} {own / 1e6:8.1f} {size / 1e6:8.1f} "
          f"{own / size:9.2f}")
print(f"own: peak without the {base / 1e6:.1f} MB of the program at rest")
print("goals: at least 3 times as fast, own memory under 3 times the file:", "missed" if missed else "reached")
sys.exit(missed)
PYTHON
