#!/usr/bin/env python3
"""Processor seconds of the tests of a build, the dearest first, one test at a time.

  bench/test_cost.py BUILD [REGEX]      BUILD: release, dev, tsan; REGEX: of the names of tests

Unlike the times that ctest shows, these hardly depend on what else the machine does.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

build = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", sys.argv[1])
wanted = re.compile(sys.argv[2] if len(sys.argv) > 2 else ".")
told = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True)
costs, bad = [], 0
for test in json.loads(told.stdout)["tests"]:
    if not wanted.search(test["name"]):
        continue
    about = {p["name"]: p["value"] for p in test["properties"]}
    environment = dict(os.environ, **dict(e.split("=", 1) for e in about.get("ENVIRONMENT", [])))
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(test["command"], cwd=about["WORKING_DIRECTORY"], env=environment, stdout=said,
                                   stderr=said)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    costs.append((used.ru_utime + used.ru_stime, test["name"]))
    word = "" if code == 0 else " skipped" if code == 77 else f" FAILED, status {code}"
    bad += word.startswith(" FAILED")
    print(f"{costs[-1][0]:8.1f}  {test['name']}{word}", file=sys.stderr, flush=True)
for cost, name in sorted(costs, reverse=True):
    print(f"{cost:8.1f}  {name}")
print(f"{sum(c for c, _ in costs):8.1f}  all {len(costs)}")
sys.exit(bad > 0)
