#!/bin/sh
# Builds a container image of parsrec without Docker, from the Debian package and the Debian packages it needs:
# an unprivileged user, nothing to write to but /data and /tmp, no shell.
# usage: contrib/oci/build.sh [FOLDER]     FOLDER: where the image goes (default: build/oci)
# It makes FOLDER/parsrec.tar, an OCI archive that podman load, skopeo and docker read, and FOLDER/rootfs, the
# same files as a folder. Needs mmdebstrap and python3; packages are taken from build/deb (scripts/build_deb.sh)
# or from DEBS. WITH_BLAS=1 adds OpenBLAS, for training in the container.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$here/build/oci}
debs=${DEBS:-$here/build/deb}
set -- "$debs"/parsrec_*.deb
[ -e "$1" ] || { echo "no parsrec_*.deb in $debs; run scripts/build_deb.sh first" >&2; exit 1; }
deb=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out/parsrec.tar"
case $out in */*) rm -rf "$out/rootfs" ;; esac
packages=libjansson4,libmicrohttpd12,libsqlite3-0,libzstd1,zlib1g,libpq5,ca-certificates,tzdata
[ -z "${WITH_BLAS-}" ] || packages=$packages,libopenblas0-pthread
# The libraries alone: what apt, dpkg and their friends would add is not installed but left out. Packages are
# unpacked; their scripts do not run.
mmdebstrap --quiet --variant=extract --include="$packages" --aptopt='Acquire::Languages "none"' \
    "${SUITE:-bookworm}" "$out/full" ${MIRROR:+"$MIRROR"}
dpkg-deb -x "$deb" "$out/full"
"$here/contrib/oci/pick.py" "$out/full" "$out/rootfs"
rm -rf --one-file-system "$out/full"
version=$(dpkg-deb -f "$deb" Version)
date=$(sed -n 's/^ -- .*  //p' "$here/debian/changelog" | head -n 1)
"$here/contrib/oci/layout.py" "$out/rootfs" "$out/parsrec.tar" "$version" "$(date -u -d "$date" +%s)"
echo "$out/parsrec.tar: $(du -k "$out/parsrec.tar" | cut -f 1) KB, $(du -sk "$out/rootfs" | cut -f 1) KB unpacked"
