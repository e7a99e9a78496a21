"""Puts the shared library into the package if it has been built, so that one wheel is enough.

It is taken from PARSREC_LIBRARY or from build/release beside this folder. Without either the package
is plain Python and uses the library of the system.
"""
import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # setuptools 70 and later has its own
    try:
        from setuptools.command.bdist_wheel import bdist_wheel
    except ImportError:
        bdist_wheel = None

HERE = pathlib.Path(__file__).resolve().parent


def library():
    """The library to include, or None. PARSREC_LIBRARY="" leaves it out."""
    given = os.environ.get("PARSREC_LIBRARY")
    if given is not None:
        return pathlib.Path(given).resolve() if given else None
    found = HERE.parent / "build" / "release" / "src" / "libparsrec.so"
    return found.resolve() if found.exists() else None


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        found = library()
        if found is not None:
            folder = pathlib.Path(self.build_lib) / "parsrec"
            folder.mkdir(parents=True, exist_ok=True)
            major = found.name.split(".so.")[-1].split(".")[0] if ".so." in found.name else "0"
            shutil.copyfile(found, folder / ("libparsrec.so." + major))


class Package(Distribution):
    """With the library inside it is a package for one kind of machine."""

    def has_ext_modules(self):
        return library() is not None


commands = {"build_py": BuildWithLibrary}
if bdist_wheel is not None:

    class AnyPython(bdist_wheel):
        """The wheel is for this kind of machine, but for any Python 3."""

        def get_tag(self):
            return ("py3", "none", super().get_tag()[2])

    commands["bdist_wheel"] = AnyPython

setup(cmdclass=commands, distclass=Package)
