# Finds what building and testing need and installs what is missing. Sourced by ./check and ./demo.
#
# A line of a list is "probe package". Probes look for the thing itself, so that a newer tool from
# elsewhere is taken as it is: cmd:NAME (a command), pc:NAME (a pkg-config module), h:FILE (a
# header), py:MODULE (a module of Debian's /usr/bin/python3), path:GLOB (a file).

build_needs='
cmd:cc gcc
cmd:cmake cmake
cmd:ninja ninja-build
cmd:pkg-config pkg-config
pc:jansson libjansson-dev
pc:sqlite3 libsqlite3-dev
pc:libpq libpq-dev
pc:libzstd libzstd-dev
pc:zlib zlib1g-dev
pc:cairo libcairo2-dev
cmd:node nodejs
cmd:npm npm
pc:libmicrohttpd libmicrohttpd-dev
pc:openblas libopenblas-dev
h:xxhash.h libxxhash-dev
'
test_needs='
cmd:c++ g++
pc:ompi-c libopenmpi-dev
cmd:mpirun openmpi-bin
pc:cmocka libcmocka-dev
cmd:sqlite3 sqlite3
cmd:zstd zstd
cmd:mandoc mandoc
cmd:clang clang
cmd:clang-format clang-format
cmd:mypy mypy
cmd:curl curl
cmd:openssl openssl
cmd:wrk wrk
path:/usr/lib/postgresql/*/bin/initdb postgresql
path:/usr/sbin/haproxy haproxy
cmd:chromium chromium
cmd:wasm-ld lld
path:/usr/include/wasm32-wasi/wasi/api.h wasi-libc
path:/usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a libclang-rt-14-dev-wasm32
py:numpy python3-numpy
py:pandas python3-pandas
py:pytest python3-pytest
py:yaml python3-yaml
py:pip python3-pip
py:nbclient python3-nbclient
py:ipykernel python3-ipykernel
'

demo_needs='
cmd:curl curl
'

present() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
    h:*) printf '#include <%s>\n' "${1#h:}" | cc -E - >/dev/null 2>&1 ;;
    py:*) /usr/bin/python3 -c "import ${1#py:}" >/dev/null 2>&1 ;;
    path:*) for match in ${1#path:}; do [ -e "$match" ] && return 0; done; return 1 ;;
    esac
}

# The packages of a list whose probes fail, on one line.
missing_packages() {
    echo "$1" | while read -r probe package; do
        [ -n "$probe" ] || continue
        present "$probe" || printf '%s ' "$package"
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# need LIST: everything in LIST is there afterwards, or the script ends with a sentence.
need() {
    packages=$(missing_packages "$1")
    [ -n "$packages" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "These Debian packages, or what they are called on this system, are missing: $packages" >&2
        echo "Install them and run $0 again." >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
        echo "Missing packages: $packages" >&2
        echo "Become root and run: apt-get install $packages" >&2
        exit 1
    fi
    echo "Installing: $packages"
    mkdir -p build
    # shellcheck disable=SC2086 # a list of words
    if ! { as_root apt-get update -qq &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            $packages; } >build/setup.log 2>&1; then
        tail -n 20 build/setup.log >&2
        echo "apt-get could not install: $packages (its log is build/setup.log)" >&2
        exit 1
    fi
    packages=$(missing_packages "$1")
    [ -z "$packages" ] && return 0
    echo "Installed, but still not found: $packages" >&2
    exit 1
}

# build PRESET: configures and builds; shows the log only when it fails.
build() {
    mkdir -p build
    echo "Building ($1) ..."
    if ! { cmake --preset "$1" && cmake --build --preset "$1"; } >"build/$1.log" 2>&1; then
        tail -n 60 "build/$1.log" >&2
        echo "The $1 build failed; its whole log is build/$1.log" >&2
        exit 1
    fi
}
