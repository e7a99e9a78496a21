#!/usr/bin/env python3
"""Writes a folder as an OCI image archive with one layer. The same folder gives the same bytes.

usage: layout.py ROOTFS ARCHIVE VERSION SECONDS     SECONDS: the time stamp of everything, since 1970
"""
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import sys
import tarfile
import time

rootfs, archive, version, stamp = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp))
architecture = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def layer():
    """The files as a tar, sorted, owned by root; /data belongs to the user."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(rootfs.rglob("*")):
            info = tar.gettarinfo(str(path), str(path.relative_to(rootfs)))
            info.uid = info.gid = 10001 if info.name == "data" else 0
            info.uname = info.gname = ""
            info.mtime = stamp
            if info.islnk():
                info.type, info.linkname = tarfile.REGTYPE, ""
                info.size = os.path.getsize(path)
            with open(path, "rb") if info.isreg() else io.BytesIO() as content:
                tar.addfile(info, content)
    return out.getvalue()


blobs = {}


def blob(data, media):
    digest = hashlib.sha256(data).hexdigest()
    blobs["blobs/sha256/" + digest] = data
    return {"mediaType": media, "digest": "sha256:" + digest, "size": len(data)}


def text(value):
    return json.dumps(value, indent=1, sort_keys=True).encode()


tar = layer()
packed = gzip.compress(tar, 9, mtime=0)
config = {
    "architecture": architecture, "os": "linux", "created": created,
    "config": {
        "User": "10001:10001", "WorkingDir": "/data", "ExposedPorts": {"8080/tcp": {}},
        "Entrypoint": ["/usr/bin/parsrec"],
        "Cmd": ["serve", "/data/shop.model", "--listen", "0.0.0.0:8080", "--store", "sqlite:/data/events.db",
                "--token-file", "/run/secrets/token"],
        "Env": ["PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
        "Volumes": {"/data": {}}, "StopSignal": "SIGTERM",
        "Labels": {"org.opencontainers.image.title": "parsrec", "org.opencontainers.image.version": version,
                   "org.opencontainers.image.licenses": "MIT"},
        # Docker and podman read this field; it is not part of the OCI specification.
        "Healthcheck": {"Test": ["CMD", "/usr/bin/parsrec", "doctor", "--server", "127.0.0.1:8080"],
                        "Interval": 10000000000, "Timeout": 6000000000, "Retries": 3}},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
    "history": [{"created": created, "created_by": "contrib/oci/build.sh"}],
}
manifest = {
    "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
    "config": blob(text(config), "application/vnd.oci.image.config.v1+json"),
    "layers": [blob(packed, "application/vnd.oci.image.layer.v1.tar+gzip")],
}
entry = blob(text(manifest), "application/vnd.oci.image.manifest.v1+json")
entry["annotations"] = {"org.opencontainers.image.ref.name": "localhost/parsrec:latest"}
blobs["index.json"] = text({"schemaVersion": 2, "manifests": [entry]})
blobs["oci-layout"] = text({"imageLayoutVersion": "1.0.0"})
with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as out:
    for name in sorted(blobs):
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = len(blobs[name]), stamp, 0o644
        out.addfile(info, io.BytesIO(blobs[name]))
