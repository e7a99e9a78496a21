#!/usr/bin/env python3
"""Copies what parsrec needs out of an unpacked Debian: the program, the shared libraries that it and its
optional libraries load, certificates, time zones, licences.

usage: pick.py FULL ROOTFS
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

full, root = map(pathlib.Path, sys.argv[1:])
PROGRAM = "usr/bin/parsrec"
# Loaded by name at run time. libcairo2 is not in the image: a server draws no picture files.
OPTIONAL = ["libpq.so.5", "libopenblas.so.0", "libnss_dns.so.2", "libnss_files.so.2"]


def libraries():
    """Every shared library by its name; a library in a folder of alternatives too."""
    found = {}
    for path in sorted(full.glob("**/*.so*")):
        if "/usr/share/" not in str(path):
            found.setdefault(path.name, path)
    return found


def needed(path):
    text = subprocess.run(["readelf", "-d", str(path)], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def copy(path, target=None):
    """A file with the folders above it, links resolved within the tree."""
    target = root / (target or path.relative_to(full))
    target.parent.mkdir(parents=True, exist_ok=True)
    real = path
    while real.is_symlink():
        link = os.readlink(real)
        real = full / link.lstrip("/") if link.startswith("/") else real.parent / link
    shutil.copyfile(real, target)
    target.chmod(0o755 if os.access(real, os.X_OK) else 0o644)


known = libraries()
waiting, done = [full / PROGRAM] + [known[n] for n in OPTIONAL if n in known], set()
while waiting:
    path = waiting.pop()
    if path in done:
        continue
    done.add(path)
    # One folder for all libraries, which the loader searches.
    copy(path, PROGRAM if path == full / PROGRAM else "usr/lib/" + path.name)
    for name in needed(path):
        if name not in known:
            raise SystemExit("%s needs %s, which no package has" % (path, name))
        waiting.append(known[name])

loader = next(n for n in known if re.match(r"ld-linux.*\.so", n))
copy(known[loader], "usr/lib/" + loader)
for link, target in (("lib", "usr/lib"), ("lib64", "usr/lib"), ("bin", "usr/bin")):
    (root / link).symlink_to(target)
for zone in ("UTC",):
    copy(full / "usr/share/zoneinfo" / zone)
certificates = sorted((full / "usr/share/ca-certificates/mozilla").glob("*.crt"))
bundle = root / "etc/ssl/certs/ca-certificates.crt"
bundle.parent.mkdir(parents=True)
bundle.write_text("".join(c.read_text() for c in certificates))
for licence in sorted(full.glob("usr/share/doc/*/copyright")):
    copy(licence)
(root / "etc/passwd").write_text("root:x:0:0::/:/none\nparsrec:x:10001:10001::/data:/none\n")
(root / "etc/group").write_text("root:x:0:\nparsrec:x:10001:\n")
(root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
for folder in ("data", "tmp", "proc", "dev", "sys", "run"):
    (root / folder).mkdir(exist_ok=True)
(root / "tmp").chmod(0o1777)
