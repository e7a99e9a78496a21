#!/bin/sh
# Makes a release: source archive with the page inside, Debian packages, a wheel, a bill of materials (SPDX) and
# checksums. The same commit gives the same bytes.
# usage: scripts/release.sh [--twice] [FOLDER]     FOLDER: where it goes (default: build/release_files)
#   --twice   makes it a second time in another folder, without the compiler's cache, and compares
# The tree must be committed. If the commit has a tag vVERSION, its signature is checked (git verify-tag). Needs
# what scripts/build_deb.sh needs.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
twice=
[ "${1-}" != --twice ] || { twice=yes; shift; }
out=${1:-$here/build/release_files}
cd "$here"
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "commit your changes first" >&2; exit 1; }
version=$(sed -n 's/^project(parsrec VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
    [ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ] || { echo "v$version is another commit" >&2; exit 1; }
    git verify-tag "v$version"
else
    echo "There is no tag v$version: this is a rehearsal." >&2
fi
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
# Without debugging information, which a release leaves out: the build id is a sum over it, and it has paths,
# which a compiler's cache may write in another way.
DEB_CFLAGS_APPEND=-g0 DEB_BUILD_OPTIONS=noautodbgsym
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8 DEB_CFLAGS_APPEND DEB_BUILD_OPTIONS
umask 022

# make FOLDER: everything, into FOLDER.
make() {
    made=$1
    case $made in */*) rm -rf "$made" ;; esac
    mkdir -p "$made/parts"
    tree=$made/parts/parsrec-$version
    mkdir "$tree"
    git archive "$commit" | tar -x -C "$tree"
    "$tree/scripts/build_page.sh" "$tree"
    archive=$made/parsrec-$version.tar.gz
    tar -c -C "$made/parts" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" "parsrec-$version" | gzip -9n >"$archive"
    digest=$(sha256sum "$archive" | cut -d ' ' -f 1)
    python3 "$tree/scripts/sbom.py" "$tree" "$version" "$SOURCE_DATE_EPOCH" "$digest" >"$made/parsrec-$version.spdx.json"
    # Packages are built from the archive, not from the tree it was made of.
    rm -rf "$tree"
    tar -xzf "$archive" -C "$made/parts"
    "$tree/scripts/build_deb.sh" "$made/parts/deb" >/dev/null
    cp "$made"/parts/deb/*.deb "$made"
    rm -f "$made"/*-dbgsym_*.deb
    # The library of the wheel is that of the Debian package.
    dpkg-deb -x "$made"/libparsrec0_*.deb "$made/parts/library"
    PARSREC_LIBRARY=$(find "$made/parts/library" -name 'libparsrec.so.*' -type f) \
        "$tree/scripts/build_wheel.sh" "$made" >/dev/null
    case $made in */*) rm -rf "$made/parts" ;; esac
    (cd "$made" && sha256sum -- * >../SHA256SUMS.tmp && mv ../SHA256SUMS.tmp SHA256SUMS)
}

make "$out"
cat "$out/SHA256SUMS"
[ -n "$twice" ] || exit 0
CCACHE_DISABLE=1
export CCACHE_DISABLE
make "$out.again"
cmp "$out/SHA256SUMS" "$out.again/SHA256SUMS"
echo "Both times the same."
