"""The code of the notebooks runs, cell by cell, without jupyter."""
import json
import os

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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_jupyter_runs_them(path, monkeypatch, tmp_path):
    """As in a browser: every cell in a kernel of its own process."""
    for module in ("pandas", "nbformat", "nbclient", "ipykernel"):
        pytest.importorskip(module)
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("a kernel with AddressSanitizer takes minutes to start")
    import nbclient
    import nbformat
    monkeypatch.setenv("PARSREC_EXAMPLES", str(ROOT / "examples"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    book = nbformat.read(str(path), as_version=4)
    patience = {"timeout": 1800, "startup_timeout": 1800, "iopub_timeout": 600}
    nbclient.NotebookClient(book, **patience, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [o for c in book.cells if c.cell_type == "code" for o in c.outputs]
    assert any("text/html" in o.get("data", {}) for o in outputs)
    assert not any(o.output_type == "error" for o in outputs)


def test_there_are_notebooks():
    assert [p.stem for p in NOTEBOOKS] == ["first_steps", "maps_and_whatif"]
