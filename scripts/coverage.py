#!/usr/bin/env python3
"""Lines and branches that the tests execute, by file.

  scripts/coverage.py [CTEST OPTION...]        builds the preset `coverage`, runs ctest with these options, prints a table
  scripts/coverage.py --counters FOLDER        prints the table of counters that are there already

A branch counts as executed if it was taken at least once. Files below 80 % of lines are named again at the end. Counters
add up over runs; --counters never removes them, the first form does.
"""
import collections
import json
import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST = 80


def counters(folder):
    for where, _, names in os.walk(folder):
        yield from (os.path.join(where, name) for name in names if name.endswith(".gcda"))


def build_and_test(options):
    folder = os.path.join(SOURCE, "build/coverage")
    for path in list(counters(folder)):
        os.remove(path)
    for words in (["cmake", "--preset", "coverage"], ["cmake", "--build", "--preset", "coverage"]):
        subprocess.run(words, cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    tests = subprocess.run(["ctest", "--test-dir", folder, *options], cwd=SOURCE)
    if tests.returncode != 0:
        print("coverage.py: some tests failed; the table counts what they executed", file=sys.stderr)
    return folder


def gather(folder):
    """{file: ({line: count}, {(line, branch): count})} of the files under src/. A file may be in several objects."""
    lines = collections.defaultdict(collections.Counter)
    branches = collections.defaultdict(collections.Counter)
    for path in counters(folder):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", path],
                             cwd=os.path.dirname(path), capture_output=True, check=True).stdout
        report = json.loads(out)
        for file in report["files"]:
            name = os.path.join(report["current_working_directory"], file["file"])
            name = os.path.relpath(os.path.realpath(name), SOURCE)
            if not name.startswith("src/"):
                continue
            for line in file["lines"]:
                lines[name][line["line_number"]] += line["count"]
                for i, branch in enumerate(line["branches"]):
                    branches[name][line["line_number"], i] += branch["count"]
    return {name: (lines[name], branches[name]) for name in sorted(lines)}


def share(counts):
    return 100 * sum(c > 0 for c in counts.values()) / len(counts) if counts else 100


def main():
    options = sys.argv[1:]
    folder = os.path.abspath(options[1]) if options[:1] == ["--counters"] else build_and_test(options)
    files = gather(folder)
    if not files:
        sys.exit(f"coverage.py: {folder} has no counters of files under src/")
    print(f"{'file':48} {'lines':>6} {'%':>6} {'branches':>9} {'%':>6}")
    for name, (lines, branches) in files.items():
        print(f"{name:48} {len(lines):6} {share(lines):6.1f} {len(branches):9} {share(branches):6.1f}")
    every_line = {(n, k): c for n, (lines, _) in files.items() for k, c in lines.items()}
    every_branch = {(n, k): c for n, (_, branches) in files.items() for k, c in branches.items()}
    print(f"{'all':48} {len(every_line):6} {share(every_line):6.1f} {len(every_branch):9} {share(every_branch):6.1f}")
    below = [name for name, (lines, _) in files.items() if share(lines) < LEAST]
    print(f"below {LEAST} % of lines: {', '.join(below) if below else 'none'}")


if __name__ == "__main__":
    main()
