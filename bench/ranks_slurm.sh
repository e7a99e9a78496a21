#!/bin/sh
# Slurm on one machine: a controller, three slurmd, and a training run by srun --mpi=pmix with a rank on
# each. The model must have the bytes of a run in one process.
#   bench/ranks_slurm.sh PARSREC        needs root and the packages slurm-wlm and munge
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-slurm.XXXXXX")
clean_up() {
    for file in "$work"/*.pid; do [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null || :; done
    sleep 1 # the daemons write once more as they end
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM
chmod 755 "$work"
cd "$work"
host=$(hostname -s)
mkdir run ctl pmix
dd if=/dev/urandom of=munge.key bs=64 count=1 2>/dev/null
chmod 600 munge.key
munged --force --socket="$work/run/munge.sock" --key-file="$work/munge.key" --log-file="$work/munge.log" \
    --pid-file="$work/munge.pid" --seed-file="$work/seed"
cat >slurm.conf <<CONF
ClusterName=bench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17817
AuthType=auth/munge
AuthInfo=socket=$work/run/munge.sock
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$work/ctl
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/ctl.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/ctl.log
SlurmdLogFile=$work/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17821 CPUs=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17822 CPUs=1
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=17823 CPUs=1
PartitionName=all Nodes=n1,n2,n3 Default=YES State=UP
CONF
# PMIx makes a folder of the same name on every node: here each needs its own view of where.
echo "PMIxCliTmpDirBase=$work/pmix" >mpi.conf
export SLURM_CONF="$work/slurm.conf" PARSREC_PROGRESS=off
slurmctld
for n in n1 n2 n3; do
    mkdir "spool-$n" "pmix-$n"
    unshare --mount sh -c "mount --bind $work/pmix-$n $work/pmix && exec slurmd -N $n"
done
tries=0
until [ "$(sinfo -h -t idle -o %D)" = 3 ]; do
    tries=$((tries + 1))
    [ $tries -lt 120 ] || { cat ./*.log; exit 1; }
    sleep 0.5
done

"$program" synth -o shop.data --users 200 --sessions 8 --seed 5 >log 2>&1
settings='--preset paper --set dim.user=16 --set dim.item=16 --epochs 2 --threads 1'
# shellcheck disable=SC2086 # words
"$program" train -o one.model shop.data $settings >log 2>&1
# shellcheck disable=SC2086
srun -N 3 -n 3 --mpi=pmix "$program" train -o three.model shop.data $settings >log 2>&1 || { cat log; exit 1; }
grep -h 'ranks:' log
cmp one.model three.model && echo "srun --mpi=pmix on three nodes: the same bytes as one process"
