#!/bin/sh
# Installs the Debian packages of a folder in a bare Debian 12 and runs debian/tests there: import, train,
# recommend, serve, Python without a compiler, a C program, and two processes under Open MPI.
# usage: scripts/test_deb.sh [FOLDER]     FOLDER: of the packages (default: build/deb)
# Needs root and mmdebstrap. SUITE and MIRROR choose another Debian.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
debs=$(cd "${1:-$here/build/deb}" && pwd)
root=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-root.XXXXXX")
clean() {
    umount "$root/proc" "$root/dev/null" "$root/dev/urandom" 2>/dev/null || :
    case $root in */parsrec-root.??????) rm -rf --one-file-system "$root" ;; esac
}
trap clean EXIT
echo "Making a bare Debian ..."
mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io "${SUITE:-bookworm}" "$root" ${MIRROR:+"$MIRROR"}
chmod 755 "$root"
mkdir -p "$root/debs" "$root/tests"
cp "$debs"/parsrec_*.deb "$debs"/python3-parsrec_*.deb "$debs"/libparsrec0_*.deb "$debs"/libparsrec-dev_*.deb "$debs"/parsrec-mpi_*.deb "$root/debs"
cp "$here"/debian/tests/* "$root/tests"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || :
mount -t proc proc "$root/proc" 2>/dev/null || :
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
install() { inside sh -c "apt-get install -qq -y $1 >/tmp/apt.log 2>&1 || { cat /tmp/apt.log >&2; exit 1; }"; }
inside apt-get update -qq
before=$(inside dpkg-query -f . -W | wc -c)
install "--no-install-recommends /debs/parsrec_*.deb"
echo "parsrec brings $(($(inside dpkg-query -f . -W | wc -c) - before)) packages, itself included; X11 among them: $(inside dpkg-query -W 2>/dev/null | grep -c -e ^libx11 -e ^libldap || :)"
install "/debs/parsrec_*.deb /debs/libparsrec0_*.deb /debs/python3-parsrec_*.deb"
install curl
if inside sh -c 'command -v cc'; then echo "a compiler is there" >&2; exit 1; fi
inside /tests/program
inside /tests/python
install "--no-install-recommends python3-pandas"
if inside sh -c 'command -v cc'; then echo "a compiler is there" >&2; exit 1; fi
inside env PARSREC_EXAMPLES=/usr/share/doc/parsrec/examples python3 -W ignore - <<'P'
import glob, json
for book in sorted(glob.glob("/usr/share/doc/python3-parsrec/examples/*.ipynb")):
    space = {"__name__": "__main__"}
    for cell in json.load(open(book))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    print(book + " ran")
P
install "/debs/libparsrec-dev_*.deb gcc libc6-dev pkg-config"
inside /tests/library
install "--no-install-recommends /debs/parsrec-mpi_*.deb openmpi-bin"
inside /tests/mpi
inside apt-get purge -qq -y parsrec >/dev/null 2>&1
echo "All tests of the installed packages passed."
