"""Builds the wheel (PEP 517 and 660) with the standard library alone, so that `pip install ./python` works
without a network: the package is plain Python and needs no compiler.

The shared library is put into the package if it has been built, so that one wheel is enough: the file that
PARSREC_LIBRARY names, or that of build/release beside this folder. PARSREC_LIBRARY="" leaves it out; the
package then uses the library of the system. The same files give a wheel with the same bytes.

usage: build_backend.py FOLDER     builds a wheel into FOLDER and prints its name
"""
import base64
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'"(.*)"', (HERE / "parsrec" / "_version.py").read_text())[1]
INFO = "parsrec-%s.dist-info" % VERSION
METADATA = """Metadata-Version: 2.1
Name: parsrec
Version: %s
Summary: Next-item recommendation for open baskets, explained
License: MIT
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: frames
Requires-Dist: pandas ; extra == "frames"
Description-Content-Type: text/markdown

%s""" % (VERSION, (HERE / "README.md").read_text())


def library():
    """The library to include, or None."""
    given = os.environ.get("PARSREC_LIBRARY")
    if given is not None:
        return pathlib.Path(given).resolve() if given else None
    found = HERE.parent / "build" / "release" / "src" / "libparsrec.so"
    return found.resolve() if found.exists() else None


def tag(with_library):
    """For any Python 3; with the library inside, for this kind of machine."""
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform()) if with_library else "any"
    return "py3-none-" + platform


def write_wheel(folder, files, with_library):
    """Writes `files`, a dict of names and bytes, and what a wheel says about itself; returns its name."""
    files = dict(files)
    files[INFO + "/METADATA"] = METADATA.encode()
    files[INFO + "/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: parsrec\nRoot-Is-Purelib: %s\nTag: %s\n" % (
        "false" if with_library else "true", tag(with_library))).encode()
    record = ""
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files[INFO + "/RECORD"] = (record + INFO + "/RECORD,,\n").encode()
    stamp = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]  # zip begins in 1980
    wheel = "parsrec-%s-%s.whl" % (VERSION, tag(with_library))
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            archive.writestr(entry, data)
    return wheel


# ---- what pip calls ----

def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {"parsrec/" + path.name: path.read_bytes() for path in sorted((HERE / "parsrec").iterdir())
             if path.suffix == ".py" or path.name == "py.typed"}
    found = library()
    if found is not None:
        major = found.name.split(".so.")[-1].split(".")[0] if ".so." in found.name else "0"
        files["parsrec/libparsrec.so." + major] = found.read_bytes()
    return write_wheel(wheel_directory, files, found is not None)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"parsrec.pth": (str(HERE) + "\n").encode()}, False)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
