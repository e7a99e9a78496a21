#!/bin/sh
# Three machines on one: network namespaces, and a training run with a rank in each.
#   bench/ranks_network.sh PARSREC [shapes|rates|cut]...   needs root, cc, Open MPI, ip, nft, pgrep, Python, bc
# shapes: plainly, with 1 ms delay and 1 % loss, and with 1 % loss by the kernel (nft). rates: two machines on
# cables of 10 and 1 Gb/s; how long a batch waits, beside what docs/scale.md predicts. cut: a cable is pulled
# in the middle; all ranks must be gone within --peer-time, and one process finishes the run.
# Delay, loss and rate are those of bench/link.c, since not every kernel has netem. Every model must have
# the bytes of a run in one process.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
[ $# -gt 0 ] || set -- shapes rates cut
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-network.XXXXXX")
name=pr$$
peer_time=15
link_pid=
pull_out() { # takes all cables away
    for i in 1 2 3; do
        ip netns exec "$name-$i" nft flush ruleset 2>/dev/null || :
        ip -n "$name-$i" link del eth0 2>/dev/null || :
    done
    ip link del "$name" 2>/dev/null || :
    [ -z "$link_pid" ] || { kill "$link_pid" && wait "$link_pid"; } 2>/dev/null || :
    link_pid=
}
clean_up() {
    for i in 1 2 3; do # whatever was started in the namespaces and is still there
        for pid in $(ip netns pids "$name-$i" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || :; done
    done
    pull_out
    for i in 1 2 3; do ip netns del "$name-$i" 2>/dev/null || :; done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PARSREC_PROGRESS=off
cc -O2 -o link "$here/link.c"
for i in 1 2 3; do
    ip netns add "$name-$i"
    ip -n "$name-$i" link set lo up
done

# ---- cables ----

plug_in() { # plug_in I: its eth0 is there; gives it an address
    ip -n "$name-$1" addr add "10.77.0.$1/24" dev eth0
    ip -n "$name-$1" link set eth0 up
}
bridge() { # as fast as the kernel goes
    pull_out
    ip link add "$name" type bridge
    ip link set "$name" up
    for i in 1 2 3; do
        ip link add "$name-v$i" type veth peer name eth0 netns "$name-$i"
        ip link set "$name-v$i" master "$name" up
        plug_in $i
    done
}
cables() { # cables OPTIONS...: of bench/link.c
    pull_out
    ./link "$@" "$name-t1" "$name-t2" "$name-t3" >link.out 2>&1 &
    link_pid=$!
    until grep -q ready link.out; do
        kill -0 $link_pid 2>/dev/null || { cat link.out; exit 1; }
        sleep 0.05
    done
    for i in 1 2 3; do
        ip link set "$name-t$i" netns "$name-$i" name eth0
        plug_in $i
    done
}
# probe: the round trip and the rate that TCP finds between the first two machines.
cat >probe.py <<'PROBE'
import socket, statistics, sys, time

CHUNK, COUNT = bytes(1 << 20), 64
def take(connection, size):
    while size > 0:
        size -= len(connection.recv(min(size, 1 << 20)))
if sys.argv[1] == "answer":
    listener = socket.create_server(("10.77.0.2", 5001))
    print("ready", flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(200):
        take(connection, 1)
        connection.sendall(b"x")
    take(connection, len(CHUNK) * COUNT)
    connection.sendall(b"x")
else:
    connection = socket.create_connection(("10.77.0.2", 5001))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    trips = []
    for _ in range(200):
        began = time.monotonic()
        connection.sendall(b"x")
        take(connection, 1)
        trips.append(time.monotonic() - began)
    began = time.monotonic()
    for _ in range(COUNT):
        connection.sendall(CHUNK)
    take(connection, 1)
    rate = len(CHUNK) * COUNT * 8 / (time.monotonic() - began)
    print("TCP finds %.2f Gb/s and a round trip of %.2f ms" % (rate / 1e9, 1e3 * statistics.median(trips)))
PROBE
probe() {
    : >probe.out
    ip netns exec "$name-2" /usr/bin/python3 probe.py answer >probe.out 2>&1 &
    until grep -q ready probe.out; do sleep 0.05; done
    ip netns exec "$name-1" /usr/bin/python3 probe.py ask
}

# ---- runs ----

# What mpirun calls instead of ssh: `agent ADDRESS COMMAND...` runs it in that namespace, under a host name
# of its own.
cat >agent <<AGENT
#!/bin/sh
host=\$1
shift
exec ip netns exec "$name-\${host##*.}" unshare --uts sh -c "hostname machine-\${host##*.}; cd $work; \$*"
AGENT
chmod +x agent
launch() { # launch N ARGUMENTS...: parsrec train on the first N machines
    machines=$1
    shift
    hosts=$(echo 10.77.0.1 10.77.0.2 10.77.0.3 | cut -d' ' -f1-"$machines" | tr ' ' ,)
    ip netns exec "$name-1" unshare --uts sh -c 'hostname machine-1; exec "$@"' sh \
        mpirun --quiet --host "$hosts" -n "$machines" --mca plm_rsh_agent "$work/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
        --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3 \
        "$program" train "$@"
}
sum() { sha256sum <"$1" | cut -c1-16; }
now() { date +%s.%N; }

"$program" synth -o shop.data --users 300 --sessions 10 --seed 5 >log 2>&1
settings="--preset paper --epochs 2 --threads 1 --set batch=384"
# shellcheck disable=SC2086 # words
"$program" train -o one.model shop.data $settings >log 2>&1
echo "one process: $(sum one.model)"
try() { # try N NAME: trains on N machines; sets bytes, took and waited, per batch and in ms
    began=$(now)
    # shellcheck disable=SC2086
    launch "$1" -o many.model shop.data $settings >log 2>&1 || { cat log; exit 1; }
    echo "$2: $(sum many.model), $(echo "$(now) - $began" | bc | cut -c1-6) s;$(grep -h 'ranks:' log | cut -d: -f2)"
    [ "$(sum many.model)" = "$(sum one.model)" ] || exit 1
    rm many.model
    words=$(sed -nE 's/.* sent ([0-9]+) bytes, took ([0-9.]+) ms and waited ([0-9.]+) ms.*/\1 \2 \3/p' log)
    bytes=${words%% *} waited=${words##* }
}
shapes() {
    bridge
    try 3 "three machines, plain"
    cables -d 1 -l 1
    probe
    try 3 "1 ms and 1 % loss"
    bridge
    tail -1 link.out
    for i in 1 2 3; do
        ip netns exec "$name-$i" nft -f - <<'NFT'
table inet lossy {
    chain sent {
        type filter hook output priority 0;
        oifname "eth0" numgen random mod 100 < 1 counter drop
    }
}
NFT
    done
    try 3 "1 % loss by nft"
    ip netns exec "$name-1" nft list table inet lossy | grep -o 'counter packets [0-9]*'
}
# A batch is predicted to wait for its bytes and for three rounds of messages, beyond what it waits anyway.
rate() { # rate GIGABITS DELAY
    cables -r "$1" -d "$2"
    probe
    try 2 "$1 Gb/s, $2 ms delay"
    echo "  a batch waited $(echo "$waited - $plain" | bc) ms longer than plainly; predicted:" \
        "$(echo "scale=3; $bytes * 8 / $1 / 1000000 + 3 * $2" | bc) ms"
}
rates() {
    cables
    probe
    try 2 "two machines, plain"
    plain=$waited
    rate 10 0
    rate 1 0
    rate 1 1
}

# A cable pulled. The ranks end by themselves; mpirun and its daemons notice by the keepalive of TCP.
cut_off() {
    bridge
    # shellcheck disable=SC2086
    "$program" train -o whole.model shop.data $settings --epochs 40 >log 2>&1
    # shellcheck disable=SC2086
    launch 3 -o cut.model shop.data $settings --epochs 40 --checkpoint-minutes 0 --peer-time $peer_time \
        >log 2>&1 &
    launcher=$!
    while [ ! -e cut.model.ckpt ]; do
        kill -0 $launcher 2>/dev/null || { cat log; exit 1; }
        sleep 0.1
    done
    ip link set "$name-v3" down
    began=$(now)
    while pgrep -f "^$program train -o cut.model" >/dev/null; do sleep 0.1; done
    echo "link down: all ranks gone after $(echo "$(now) - $began" | bc | cut -c1-5) s (--peer-time $peer_time)"
    wait $launcher && { echo "a run without its third machine succeeded"; exit 1; }
    echo "mpirun ended after $(echo "$(now) - $began" | bc | cut -c1-5) s"
    grep -A1 '^parsrec train' log || { cat log; exit 1; }
    "$program" train -o cut.model shop.data --resume cut.model.ckpt >log 2>&1 || { cat log; exit 1; }
    cmp whole.model cut.model
    echo "resumed in one process: the bytes of a run that nobody disturbed"
}

for stage; do
    case $stage in
    shapes) shapes ;;
    rates) rates ;;
    cut) cut_off ;;
    *) echo "ranks_network.sh: there is no stage $stage" >&2; exit 2 ;;
    esac
done
