#!/usr/bin/env python3
"""Figures of the source: how big files and functions are, how much is commented and asserted.

usage: scripts/house_figures.py [-v] [FOLDER...]      (default: src include)

Counts every .c and .h file below the folders. A function begins at its first line in column one and
ends at the closing brace in column one. A static function has one call site when its name occurs once in its
file beside its definition and declarations; tables of functions count as call sites. A comment line
holds nothing but a comment. -v lists the static functions with one call site, longest last.
"""
import os
import re
import statistics
import sys

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
HEAD = re.compile(r'^(?![#\s}{])[^;={}]*?\b(\w+)\s*\([^;{}]*\)\s*\{', re.M)


def blank(match):
    """A comment or literal as spaces, its line breaks kept."""
    return re.sub(r'[^\n]', ' ', match.group(0))


def functions(code):
    """(name, is static, first line, lines) of each function defined in code without comments."""
    for head in HEAD.finditer(code):
        end = re.compile(r'^\}', re.M).search(code, head.end())
        if end:
            first = code.count('\n', 0, head.start())
            last = code.count('\n', 0, end.start())
            yield head.group(1), 'static' in head.group(0).split('(')[0].split(), first, last - first + 1


def sources(folders):
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(('.c', '.h')):
                    yield os.path.join(place, name)


def measure(folders):
    files, lengths, single, statics, comments, asserts = [], [], [], 0, 0, 0
    for path in sources(folders):
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
        code = TOKEN.sub(blank, text)
        files.append(text.count('\n'))
        for before, after in zip(text.split('\n'), code.split('\n')):
            comments += bool(before.strip()) and not after.strip()
        asserts += len(re.findall(r'\bassert\s*\(', code))
        for name, static, first, length in functions(code):
            lengths.append(length)
            if not static:
                continue
            statics += 1
            declared = len(re.findall(r'^(?:static|PR_\w+ static)\b[^;={}]*\b%s\s*\(' % name, code, re.M))
            if len(re.findall(r'\b%s\b' % name, code)) - declared == 1:
                single.append((length, '%s:%d: %s' % (path, first + 1, name)))
    return files, lengths, single, statics, comments, asserts


def main():
    folders = [a for a in sys.argv[1:] if a != '-v'] or ['src', 'include']
    files, lengths, single, statics, comments, asserts = measure(folders)
    if '-v' in sys.argv[1:]:
        for length, name in sorted(single):
            print('%4d %s' % (length, name))
    total = sum(files)
    ninth = statistics.quantiles(lengths, n=10)[8]
    for label, value in (
            ('files', '%d' % len(files)),
            ('lines', '%d' % total),
            ('median lines per file', '%.0f' % statistics.median(files)),
            ('functions per file', '%.1f' % (len(lengths) / len(files))),
            ('median lines per function', '%.0f' % statistics.median(lengths)),
            ('90th percentile of lines per function', '%.0f' % ninth),
            ('static functions with one call site', '%d of %d (%.0f %%)'
             % (len(single), statics, 100 * len(single) / max(1, statics))),
            ('comment lines', '%d (%.1f %%)' % (comments, 100 * comments / total)),
            ('asserts', '%d' % asserts)):
        print('%-40s %s' % (label, value))


if __name__ == '__main__':
    main()
