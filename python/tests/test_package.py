"""Finding the library, the wheel, leaks."""
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import parsrec
import pytest
from conftest import ROOT

LIBRARY = os.environ.get("PARSREC_LIBRARY", "")
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


def python(code, folder, **environment):
    """Runs a program that sees the package in `folder` only."""
    env = {k: v for k, v in os.environ.items() if k != "PARSREC_LIBRARY"}
    env.update(environment, PYTHONPATH=str(folder))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env,
                          cwd="/")


def test_versions_agree():
    assert parsrec.library_version() == parsrec.__version__
    project = (ROOT / "CMakeLists.txt").read_text()
    assert "VERSION %s " % parsrec.__version__ in project


def test_the_library_is_found(tmp_path):
    show = "import parsrec._library as l; print(l.library._name)"
    done = python(show, ROOT / "python", PARSREC_LIBRARY="/nowhere/libparsrec.so")
    assert done.returncode != 0 and "set PARSREC_LIBRARY to its path" in done.stderr
    other = python(show, ROOT / "python", PARSREC_LIBRARY=str(shutil.which("true")))
    assert other.returncode != 0
    if not LIBRARY:
        pytest.skip("PARSREC_LIBRARY is not set")
    shutil.copytree(ROOT / "python" / "parsrec", tmp_path / "parsrec")
    shutil.copyfile(os.path.realpath(LIBRARY), tmp_path / "parsrec" / "libparsrec.so.0")
    beside = python(show, tmp_path)
    assert beside.stdout.strip() == str(tmp_path / "parsrec" / "libparsrec.so.0"), beside.stderr


def test_a_wheel_works(tmp_path):
    if not LIBRARY:
        pytest.skip("PARSREC_LIBRARY is not set")
    env = dict(os.environ, PYTHON=sys.executable, LD_PRELOAD="")
    done = subprocess.run(["sh", str(ROOT / "scripts" / "build_wheel.sh"), str(tmp_path / "out")],
                          capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    wheels = list(pathlib.Path(tmp_path / "out").glob("parsrec-*-py3-none-linux_*.whl"))
    assert len(wheels) == 1
    with zipfile.ZipFile(wheels[0]) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {"parsrec/libparsrec.so.0", "parsrec/py.typed", "parsrec/__init__.py"} <= set(names)
    code = ("import parsrec; d = parsrec.Dataset.from_files(%r); m = parsrec.Model.count(d, 'pop');"
            "print(parsrec._library.library._name, m.recommend('K01', k=1).items)"
            % str(ROOT / "examples" / "corner_shop.csv"))
    used = python(code, tmp_path / "site")
    assert used.stdout.split() == [str(tmp_path / "site" / "parsrec" / "libparsrec.so.0"), "['1210']"], used.stderr


def test_wheels_are_repeatable(tmp_path):
    env = dict(os.environ, PARSREC_LIBRARY="", SOURCE_DATE_EPOCH="1700000000", LD_PRELOAD="")
    made = []
    for folder in ("a", "b"):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "python" / "build_backend.py"), str(tmp_path / folder)],
                              capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        made.append(pathlib.Path(done.stdout.strip()))
    assert made[0].name == "parsrec-%s-py3-none-any.whl" % parsrec.__version__
    assert made[0].read_bytes() == made[1].read_bytes()


def test_pip_installs_without_a_network(tmp_path):
    if not LIBRARY:
        pytest.skip("PARSREC_LIBRARY is not set")
    if python("import pip, venv", "/").returncode != 0:
        pytest.skip("pip or venv is not installed")
    env = dict(os.environ, LD_PRELOAD="", PARSREC_LIBRARY=os.path.realpath(LIBRARY))
    here = str(tmp_path / "env")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", here], check=True, env=env)
    inside = here + "/bin/python"
    for arguments in (["install", str(ROOT / "python")], ["check"],
                      ["install", "--force-reinstall", "--no-deps", "--editable", str(ROOT / "python")]):
        index = ["--no-index"] if arguments[0] == "install" else []
        done = subprocess.run([sys.executable, "-B", "-m", "pip", "--python", inside, *arguments, *index],
                              capture_output=True, text=True, env=env)
        if arguments == ["check"]:
            assert "parsrec" not in done.stdout, done.stdout
            continue
        assert done.returncode == 0, done.stderr
        if SANITIZED:
            continue
        env.pop("PARSREC_LIBRARY", None) if "--editable" not in arguments else env.update(PARSREC_LIBRARY=LIBRARY)
        used = subprocess.run([inside, "-B", "-c", "import parsrec; print(parsrec.__file__, parsrec.library_version())"],
                              capture_output=True, text=True, env=env, cwd="/")
        env["PARSREC_LIBRARY"] = os.path.realpath(LIBRARY)
        expected = str(ROOT / "python") if "--editable" in arguments else here
        assert used.stdout.startswith(expected) and used.stdout.split()[1] == parsrec.__version__, used.stderr


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer keeps freed memory")
@pytest.mark.parametrize("calls,work", [
    (20000, "one"), (1000, "filtered"), (500, "many"), (100, "import"), (100, "load"), (30, "explain")])
def test_nothing_leaks(quick, frame, calls, work):
    """Twice as many calls take no more memory; bench/python.py makes a million."""
    users = list(quick.users)
    do = {
        "one": lambda: quick.recommend("K02", ["1210"]),
        "filtered": lambda: quick.recommend("K02", ["1210"], exclude=["1280"], why=True),
        "many": lambda: quick.recommend(users, k=5),
        "import": lambda: parsrec.Dataset.from_frame(frame),
        "load": lambda: parsrec.Model.load(quick.path).recommend("K02"),
        "explain": lambda: quick.explain(maps="lift").relations(),
    }[work]

    def grow():
        for _ in range(calls):
            do()
        gc.collect()
        return resident()

    first, second = grow(), grow()
    third = grow()
    assert min(second - first, third - second) < 1 << 20
