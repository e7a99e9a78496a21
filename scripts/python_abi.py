#!/usr/bin/env python3
"""Writes what is derived from include/parsrec.h: python/parsrec/_abi.py, its ctypes mirror (constants,
structs and signatures), and debian/libparsrec0.symbols, the list of functions that the shared library
exports. The header is the only place where they are listed; a test fails when a file is out of date.

usage: scripts/python_abi.py [--check]     (from any folder)

It reads the declarations that the header uses, behind the preprocessor of cc, and stops at anything
that it does not know.
"""
import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include" / "parsrec.h"
MIRROR = ROOT / "python" / "parsrec" / "_abi.py"
SYMBOLS = ROOT / "debian" / "libparsrec0.symbols"

PLAIN = {
    "void": "None", "bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint",
    "float": "c_float", "double": "c_double", "size_t": "c_size_t", "uint8_t": "c_uint8",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
}


def preprocess(text, *options):
    """The text behind the C preprocessor: comments gone, lists of macros expanded."""
    done = subprocess.run(["cc", "-E", "-P", "-x", "c", *options, "-"], input=text, check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    return done.stdout


class Reader:
    def __init__(self, header):
        """`header` has no #include and does not define PARSREC_API, which marks the functions."""
        self.constants = {}
        self.enums, self.structs, self.opaque = [], {}, []
        self.functions = []
        for name, value in re.findall(r"^#define (PARSREC_\w+) \(?(-?\d+)\)?$",
                                      preprocess(header, "-dM"), re.M):
            self.constants[name] = int(value)
        self.constants = dict(sorted(self.constants.items()))
        self.read(preprocess(header).replace('extern "C" {', ""))

    def number(self, expression):
        """A constant expression of numbers and names."""
        for name in sorted(self.constants, key=len, reverse=True):
            expression = re.sub(r"\b%s\b" % name, str(self.constants[name]), expression)
        return eval(compile(ast.parse(expression.strip(), mode="eval"), "header", "eval"), {})

    def type_of(self, base, stars):
        """The ctypes name of a type with that many pointers to it."""
        base = re.sub(r"\b(const|struct|enum)\b", "", base).strip()
        if base in self.enums:
            name = "c_int"
        elif base in PLAIN:
            name = PLAIN[base]
        elif base in self.structs:
            name = base
        elif base in self.opaque:
            if stars == 0:
                raise SystemExit("opaque type by value: " + base)
            name, stars = "c_void_p", stars - 1
        else:
            raise SystemExit("unknown type: " + base)
        if stars > 0 and name == "None":
            name, stars = "c_void_p", stars - 1
        if stars > 0 and name == "c_char":
            name, stars = "c_char_p", stars - 1
        return "POINTER(" * stars + name + ")" * stars

    def callback(self, text):
        """(name, type) of a function pointer."""
        result, name, arguments = re.match(r"(.*?)\(\*(\w*)\)\((.*)\)$", text, re.S).groups()
        kinds = [self.parameter(a) for a in arguments.split(",")]
        return name, "CFUNCTYPE(%s)" % ", ".join([self.parameter(result)] + kinds)

    def parameter(self, text):
        """The type of a parameter, whose name may be missing."""
        text = re.sub(r"\bconst\b", " ", text).strip()
        array = re.search(r"\[[^\]]*\]$", text)
        if array:
            text = text[: array.start()]
        stars = text.count("*") + (1 if array else 0)
        words = text.replace("*", " ").split()
        if words[0] == "struct":
            words = words[1:]
        return self.type_of(words[0], stars)

    def fields(self, body):
        out = []
        for line in body.split(";"):
            line = " ".join(line.split())
            if not line:
                continue
            if "(*" in line:
                out.append(self.callback(line))
                continue
            line = re.sub(r"\bconst\b", " ", line).strip()
            base, rest = re.match(r"(?:struct\s+)?(\w+)\s*(.*)$", line).groups()
            for one in rest.split(","):
                stars = one.count("*")
                name, sizes = re.match(r"(\w+)((?:\[[^\]]*\])*)$", one.replace("*", "").strip()).groups()
                kind = self.type_of(base, stars)
                for size in reversed(re.findall(r"\[([^\]]*)\]", sizes)):
                    kind = "%s * %d" % (kind, self.number(size))
                out.append((name, kind))
        return out

    def enum(self, body):
        value = -1
        for entry in filter(None, (e.strip() for e in body.split(","))):
            name, _, given = entry.partition("=")
            value = self.number(given) if given else value + 1
            self.constants[name.strip()] = value

    def read(self, text):
        pattern = re.compile(
            r"typedef enum (?P<enum>\w+) \{(?P<entries>[^}]*)\} \w+;"
            r"|enum \{(?P<anonymous>[^}]*)\};"
            r"|typedef struct (?P<struct>\w+) \{(?P<body>.*?)\} (?P=struct);"
            r"|struct (?P<plain>Arrow\w+) \{(?P<plainbody>.*?)\n\};"
            r"|typedef struct (?P<opaque>\w+) (?P=opaque);"
            r"|PARSREC_API (?P<function>[^;]*);", re.S)
        for m in pattern.finditer(text):
            if m["enum"]:
                self.enums.append(m["enum"])
                self.enum(m["entries"])
            elif m["anonymous"]:
                self.enum(m["anonymous"])
            elif m["opaque"]:
                self.opaque.append(m["opaque"])
            elif m["struct"] or m["plain"]:
                name = m["struct"] or m["plain"]
                self.structs[name] = None  # a field may point to its own struct
                self.structs[name] = self.fields(m["body"] or m["plainbody"])
                if name == "parsrec_name":  # its bytes are not terminated
                    self.structs[name][0] = ("bytes", "c_void_p")
            else:
                self.function(m["function"])
        rest = " ".join(pattern.sub("", text).replace("}", "").split())
        if rest:
            raise SystemExit("not understood: " + rest[:200])

    def function(self, text):
        text = " ".join(text.split())
        result, name, arguments = re.match(r"(.*?)(parsrec_\w+)\((.*)\)$", text).groups()
        kinds = [] if arguments == "void" else [self.parameter(a) for a in arguments.split(",")]
        # A text that the caller frees must stay a pointer.
        if arguments.startswith("char **out"):
            kinds[0] = "POINTER(c_void_p)"
        if name == "parsrec_text_free":
            kinds = ["c_void_p"]
        self.functions.append((name, self.parameter(result), kinds))


def write(r):
    lines = ['"""The ctypes mirror of parsrec.h, written by scripts/python_abi.py. Do not edit."""',
             "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float,",
             "                    c_int, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint32, c_uint64,",
             "                    c_void_p)", ""]
    for name, value in r.constants.items():
        lines.append("%s = %d" % (name.replace("PARSREC_", "", 1), value))
    for name, fields in r.structs.items():
        lines += ["", "", "class %s(Structure):" % name, "    pass", "", "", "%s._fields_ = [" % name]
        lines += ['    ("%s", %s),' % f for f in fields]
        lines.append("]")
    lines += ["", "", "# name: (result, arguments)", "FUNCTIONS = {"]
    for name, result, kinds in r.functions:
        lines.append('    "%s": (%s, [%s]),' % (name, result, ", ".join(kinds)))
    return "\n".join(lines + ["}", ""])


def list_symbols(r, old):
    """The symbols file of dpkg. A function keeps the version in which it first appeared."""
    version = re.search(r"project\(parsrec VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    first = dict(re.findall(r"^ (\w+)@Base (\S+)$", old, re.M))
    names = sorted(name for name, _, _ in r.functions)
    return "libparsrec.so.0 libparsrec0 #MINVER#\n" + "".join(
        " %s@Base %s\n" % (name, first.get(name, version)) for name in names)


def main():
    header = re.sub(r"^#include.*$|^#define PARSREC_API.*$", "", HEADER.read_text(), flags=re.M)
    reader = Reader(header)
    old = SYMBOLS.read_text() if SYMBOLS.exists() else ""
    for target, text in ((MIRROR, write(reader)), (SYMBOLS, list_symbols(reader, old))):
        if sys.argv[1:] != ["--check"]:
            target.write_text(text)
        elif target.read_text() != text:
            raise SystemExit("%s is out of date: run scripts/python_abi.py" % target.relative_to(ROOT))


if __name__ == "__main__":
    main()
