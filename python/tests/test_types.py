"""The type hints, which py.typed promises, agree with the code."""
import subprocess
import sys

import pytest

from conftest import ROOT


def test_mypy_has_nothing_to_say(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), str(ROOT / "python/parsrec")],
                          capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stdout + done.stderr
