#!/bin/sh
# How long synthesis at the paper's scale takes, against numpy merely drawing as many normals as the
# plain method needs (100 products for each of 5.8 M actions), on one thread, in the same run.
# usage: bench/synth.sh [path of parsrec]     The goal is a ratio of at most 2.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
parsrec=${1:-$here/../build/release/src/parsrec}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 - "$parsrec" "$folder/data.st" <<'PYTHON'
import json, resource, subprocess, sys, time
import numpy as np

parsrec, path = sys.argv[1:]
began = time.perf_counter()
out = subprocess.run([parsrec, "synth", "--users", "8192", "--sessions", "170", "--json", "-o", path],
                     check=True, stdout=subprocess.PIPE)
ours = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
actions = json.loads(out.stdout)["actions"]

normals, block = 100 * actions, np.empty(1 << 16)
generator = np.random.Generator(np.random.PCG64(1))
began = time.perf_counter()
for _ in range(normals // len(block)):
    generator.standard_normal(out=block)
numpy = time.perf_counter() - began

print(f"actions           {actions:,}")
print(f"parsrec synth     {ours:.2f} s, peak memory {peak:.0f} MB, file written and synced")
print(f"numpy             {numpy:.2f} s for {normals:,} normals")
print(f"ratio             {ours / numpy:.2f} (goal: at most 2)")
sys.exit(ours > 2 * numpy)
PYTHON
