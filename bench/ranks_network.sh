#!/bin/sh
# Three machines on one: network namespaces on a bridge, and a training run with a rank in each.
#   bench/ranks_network.sh PARSREC [shapes|cut]        needs root, Open MPI, ip, tc, pgrep and bc
# Runs it plainly, at 10 and 1 Gb/s, with 1 ms delay and 1 % loss (where the kernel has netem), and with a
# link taken down in the middle: all ranks must be gone within --peer-time, and the run resumes in one process. Prints seconds,
# bytes per batch and whether the model has the bytes of a run in one process.
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-network.XXXXXX")
stage=${2:-all}
name=pr$$
peer_time=15
clean_up() {
    for i in 1 2 3; do # whatever was started in the namespaces and is still there
        for pid in $(ip netns pids "$name-$i" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || :; done
    done
    for i in 1 2 3; do ip netns del "$name-$i" 2>/dev/null || :; done
    ip link del "$name" 2>/dev/null || :
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PARSREC_PROGRESS=off

# A bridge, and three namespaces with an address each.
ip link add "$name" type bridge
ip link set "$name" up
for i in 1 2 3; do
    ip netns add "$name-$i"
    ip link add "$name-v$i" type veth peer name eth0 netns "$name-$i"
    ip link set "$name-v$i" master "$name" up
    ip -n "$name-$i" addr add "10.77.0.$i/24" dev eth0
    ip -n "$name-$i" link set eth0 up
    ip -n "$name-$i" link set lo up
done
# What mpirun calls instead of ssh: `agent ADDRESS COMMAND...` runs it in that namespace, under a host name
# of its own.
cat >agent <<AGENT
#!/bin/sh
host=\$1
shift
exec ip netns exec "$name-\${host##*.}" unshare --uts sh -c "hostname machine-\${host##*.}; cd $work; \$*"
AGENT
chmod +x agent

shape() { # shape SETTINGS...: of all three links; none: as fast as it goes
    for i in 1 2 3; do
        tc -n "$name-$i" qdisc del dev eth0 root 2>/dev/null || :
        # shellcheck disable=SC2086 # words
        [ $# -eq 0 ] || tc -n "$name-$i" qdisc add dev eth0 root $* 2>/dev/null || return 1
    done
}
launch() { # launch ARGUMENTS...: parsrec train in three namespaces
    ip netns exec "$name-1" unshare --uts sh -c 'hostname machine-1; exec "$@"' sh \
        mpirun --quiet --host 10.77.0.1,10.77.0.2,10.77.0.3 -n 3 --mca plm_rsh_agent "$work/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
        --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3 \
        "$program" train "$@"
}
sum() { sha256sum <"$1" | cut -c1-16; }
now() { date +%s.%N; }

"$program" synth -o shop.data --users 300 --sessions 10 --seed 5 >log 2>&1
settings="--preset paper --epochs 2 --threads 1 --set batch=384"
# shellcheck disable=SC2086
"$program" train -o one.model shop.data $settings >log 2>&1
echo "one process: $(sum one.model)"
try() { # try NAME SHAPE...
    what=$1
    shift
    shape "$@" || {
        echo "$what: this kernel has no $1, left out"
        return 0
    }
    began=$(now)
    # shellcheck disable=SC2086
    launch -o three.model shop.data $settings >log 2>&1 || { cat log; exit 1; }
    echo "$what: $(sum three.model), $(echo "$(now) - $began" | bc | cut -c1-6) s;$(grep -h 'ranks:' log | cut -d: -f2)"
    [ "$(sum three.model)" = "$(sum one.model)" ] || exit 1
    rm three.model
}
if [ "$stage" != cut ]; then
    try "three machines, plain"
    try "10 Gb/s" tbf rate 10gbit burst 10m latency 50ms
    try "1 Gb/s" tbf rate 1gbit burst 1m latency 50ms
    try "1 ms, 1 % loss" netem delay 1ms loss 1%
fi
[ "$stage" != shapes ] || exit 0

# A cable pulled. The ranks end by themselves; mpirun and its daemons notice by the keepalive of TCP.
shape
# shellcheck disable=SC2086
launch -o cut.model shop.data $settings --epochs 200 --checkpoint-minutes 0 --peer-time $peer_time >log 2>&1 &
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
"$program" train -o cut.model shop.data --resume cut.model.ckpt --epochs 2 >log 2>&1 || { cat log; exit 1; }
echo "resumed in one process"
