"""The code of the notebooks runs, cell by cell, without jupyter."""
import json

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_cells_run(path, monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    book = json.loads(path.read_text())
    assert book["nbformat"] == 4
    monkeypatch.setenv("PARSREC_EXAMPLES", str(ROOT / "examples"))
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "__main__"}
    cells = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    assert len(cells) > 3
    for i, cell in enumerate(cells):
        exec(compile(cell, "%s, cell %d" % (path.name, i + 1), "exec"), space)


def test_there_are_notebooks():
    assert [p.stem for p in NOTEBOOKS] == ["first_steps", "maps_and_whatif"]
