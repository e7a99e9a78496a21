"""The mirror of the header is current, and its structs have the layout that the compiler gives them."""
import ctypes
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from parsrec import _abi as abi

STRUCTS = [s for s in vars(abi).values() if isinstance(s, type) and issubclass(s, ctypes.Structure)
           and hasattr(s, "_fields_")]


def test_the_mirror_is_current():
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "python_abi.py"), "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_structs_have_the_layout_of_c(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    assert len(STRUCTS) > 50
    lines = []
    for s in STRUCTS:
        name = ("struct " if s.__name__.startswith("Arrow") else "") + s.__name__
        lines.append('printf("%s %%zu\\n", sizeof(%s));' % (s.__name__, name))
        for field, _ in s._fields_:
            lines.append('printf("%s.%s %%zu\\n", offsetof(%s, %s));' % (s.__name__, field, name, field))
    source = tmp_path / "layout.c"
    source.write_text("#include <stdio.h>\n#include \"parsrec.h\"\nint main(void)\n{\n%s\nreturn 0;\n}\n"
                      % "\n".join(lines))
    program = tmp_path / "layout"
    subprocess.run([compiler, "-std=c11", "-I", str(ROOT / "include"), str(source), "-o", str(program)],
                   check=True)
    found = dict(line.split() for line in subprocess.run([str(program)], check=True, capture_output=True,
                                                         text=True).stdout.splitlines())
    for s in STRUCTS:
        assert int(found[s.__name__]) == ctypes.sizeof(s), s.__name__
        for field, _ in s._fields_:
            assert int(found["%s.%s" % (s.__name__, field)]) == getattr(s, field).offset, (s, field)


def test_every_function_is_there():
    from parsrec._library import library
    assert len(abi.FUNCTIONS) > 100
    for name in abi.FUNCTIONS:
        assert getattr(library, name).restype == abi.FUNCTIONS[name][0]


def test_the_source_is_python_3_9():
    import ast
    for path in pathlib.Path(ROOT / "python" / "parsrec").glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 9))


def test_types_hold():
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed (Debian: mypy)")
    done = subprocess.run(["mypy", "--python-version", "3.9", "--ignore-missing-imports",
                           "--check-untyped-defs", "--cache-dir", "/dev/null", "parsrec"],
                          cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
