#!/usr/bin/env python3
"""Writes a software bill of materials (SPDX 2.3, JSON): parsrec, the packages inside its page, and the
libraries that it links or loads.

usage: scripts/sbom.py TREE VERSION SECONDS SHA256 >parsrec.spdx.json
       TREE: the sources; SECONDS: the time of the release since 1970; SHA256: of the source archive
"""
import json
import pathlib
import re
import sys
import time

tree, version, stamp, digest = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]

LINKED = {  # name: licence, of the Debian packages that debian/control names
    "jansson": "MIT", "libmicrohttpd": "LGPL-2.1-or-later", "sqlite3": "blessing", "zstd": "BSD-3-Clause",
    "zlib": "Zlib", "xxhash": "BSD-2-Clause"}
LOADED = {"openblas": "BSD-3-Clause", "libpq": "PostgreSQL", "cairo": "LGPL-2.1-only OR MPL-1.1", "duckdb": "MIT"}


def package(name, number, licence, purl):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": number,
            "downloadLocation": "NOASSERTION", "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": purl}]}


def page_packages():
    """What is bundled into the page: everything in the lock file that is not for development."""
    lock = json.loads((tree / "web" / "package-lock.json").read_text())
    for path, entry in sorted(lock["packages"].items()):
        if path and not entry.get("dev") and not entry.get("optional"):
            name = path.split("node_modules/")[-1]
            yield package("npm-" + name, entry["version"], entry.get("license", "NOASSERTION"),
                          "pkg:npm/%s@%s" % (name.replace("@", "%40"), entry["version"]))


main = package("parsrec", version, "MIT", "pkg:generic/parsrec@" + version)
main["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
inside = list(page_packages())
linked = [package(n, "NOASSERTION", l, "pkg:deb/debian/" + n) for n, l in sorted(LINKED.items())]
loaded = [package(n, "NOASSERTION", l, "pkg:deb/debian/" + n) for n, l in sorted(LOADED.items())]


def relation(kind, packages):
    return [{"spdxElementId": main["SPDXID"], "relationshipType": kind, "relatedSpdxElement": p["SPDXID"]}
            for p in packages]


json.dump({
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
    "name": "parsrec-" + version, "documentNamespace": "urn:sha256:" + digest,
    "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp)),
                     "creators": ["Tool: scripts/sbom.py"]},
    "packages": [main] + inside + linked + loaded,
    "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                       "relatedSpdxElement": main["SPDXID"]}]
    + relation("CONTAINS", inside) + relation("DYNAMIC_LINK", linked)
    + [{"spdxElementId": p["SPDXID"], "relationshipType": "OPTIONAL_DEPENDENCY_OF",
        "relatedSpdxElement": main["SPDXID"]} for p in loaded]
}, sys.stdout, indent=1, sort_keys=True)
print()
