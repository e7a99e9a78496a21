#!/bin/sh
# Starts the image that contrib/oci/build.sh made, as a read-only root with an unprivileged user and no
# capabilities, trains a small model in it, serves it, and asks it over HTTP and with its health check.
# usage: contrib/oci/try.sh [FOLDER]     FOLDER: of the image (default: build/oci)
# Needs root. Namespaces of the kernel take the place of a container engine, so that it runs anywhere: the root
# is mounted read-only, the user is that of the image, new privileges are ruled out.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
image=$(cd "${1:-$here/build/oci}" && pwd)
port=${PORT:-18084}
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-oci.XXXXXX")
server=
clean() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    case $work in */parsrec-oci.??????) rm -rf --one-file-system "$work" ;; esac
}
trap clean EXIT
chmod 755 "$work"
mkdir "$work/data" "$work/secrets" "$work/unpacked"
# The files of the archive, not those that it was made from.
tar xf "$image/parsrec.tar" -C "$work"
/usr/bin/python3 - "$work" <<'P'
import json, pathlib, subprocess, sys
work = pathlib.Path(sys.argv[1])
blob = lambda digest: work / "blobs" / digest.replace(":", "/")
index = json.loads((work / "index.json").read_text())
manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text())
for layer in manifest["layers"]:
    subprocess.run(["tar", "xzf", str(blob(layer["digest"])), "-C", str(work / "unpacked")], check=True)
(work / "config.json.image").write_text(blob(manifest["config"]["digest"]).read_text())
P
cp "$here/examples/corner_shop.csv" "$work/data"
echo "a-token-for-this-test-only-0123456789" >"$work/secrets/token"
chown -R 10001:10001 "$work/data" "$work/secrets"
chmod 700 "$work/secrets"

# become ARGUMENTS...: this shell becomes parsrec of the image with them. Its mounts end with it.
become() {
    exec unshare --mount --ipc sh -c '
        work=$1; shift
        root=$work/unpacked
        mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
        mount --bind "$work/data" "$root/data"
        mount --bind "$work/run" "$root/run" && mount -o remount,bind,ro "$root/run"
        mount -t tmpfs tmpfs "$root/tmp" && mount -t proc proc "$root/proc"
        exec env -i PATH=/usr/sbin:/usr/bin setpriv --no-new-privs chroot --userspec=10001:10001 "$root" /usr/bin/parsrec "$@"
    ' sh "$work" "$@"
}
run() { (become "$@"); }
user=$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["config"]["User"])' "$work/config.json.image")
[ "$user" = 10001:10001 ] || { echo "the image runs as $user" >&2; exit 1; }
mkdir "$work/run"
mv "$work/secrets" "$work/run/secrets"
run doctor
run import -o /data/shop.data /data/corner_shop.csv >/dev/null
run train -o /data/shop.model /data/shop.data --epochs 2 >/dev/null 2>&1
if run export /data/shop.data -o /usr/lib/x.csv 2>/dev/null; then echo "the root can be written to" >&2; exit 1; fi
(become serve /data/shop.model --listen "127.0.0.1:$port" --store sqlite:/data/events.db --token-file /run/secrets/token) \
    >"$work/out" 2>&1 &
server=$!
tries=0
until run doctor --server "127.0.0.1:$port" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 150 ] || { cat "$work/out" >&2; exit 1; }
    sleep 0.2
done
curl -sf -H "Authorization: Bearer $(cat "$work/run/secrets/token")" -d '{"user":"K01","k":2}' \
    "http://127.0.0.1:$port/v1/recommend" | grep -q '"items"'
curl -sf "http://127.0.0.1:$port/" | grep -qi '<html'
kill "$server"
wait "$server"
server=
echo "The image answers."
