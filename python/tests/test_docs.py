"""The Python blocks of docs/python.md run, one after the other."""
import os
import re

import pytest
from conftest import ROOT


def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    os.symlink(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.S | re.M)
    assert len(blocks) == 4
    space = {"__name__": "__main__"}
    for i, block in enumerate(blocks):
        exec(compile(block, "docs/python.md, block %d" % (i + 1), "exec"), space)
