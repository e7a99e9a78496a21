#!/bin/sh
# Kills a training run again and again with -9, resumes it each time, and compares the model with
# that of a run never stopped: bench/kill_train.sh [--model KIND] [KILLS [SEED]]
# Uses build/release/src/parsrec, or what PARSREC names.
set -eu
model=parsrec
if [ "${1:-}" = --model ]; then
    model=${2:?usage: bench/kill_train.sh [--model KIND] [KILLS [SEED]]}
    shift 2
fi
kills=${1:-100}
seed=${2:-1}
program=${PARSREC:-$(cd "$(dirname "$0")/.." && pwd)/build/release/src/parsrec}
folder=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-kill.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
settings="--model $model --set dim.user=32 --set dim.item=32 --set batch=64 --set length=50 --epochs 20"
"$program" synth -o s.st --users 256 --sessions 40 >/dev/null 2>&1
"$program" train -o whole.st s.st $settings >/dev/null 2>&1

done_kills=0
resumes=0
finished=0
compare() {
    cmp whole.st cut.st || { echo "different after $done_kills kills"; exit 1; }
    finished=$((finished + 1))
    rm -f cut.st cut.st.*
}
for delay in $(awk -v n="$kills" -v s="$seed" 'BEGIN { srand(s); for (i = 0; i < n; i++) printf "%.3f\n", 0.05 + 1.5 * rand() }'); do
    how=$settings
    if [ -s cut.st.ckpt ]; then how="--resume cut.st.ckpt"; resumes=$((resumes + 1)); fi
    "$program" train -o cut.st s.st $how --checkpoint-minutes 0.01 >/dev/null 2>&1 &
    id=$!
    sleep "$delay"
    kill -9 $id 2>/dev/null && done_kills=$((done_kills + 1))
    wait $id 2>/dev/null || true
    if [ -s cut.st ]; then compare; fi
done
how=$settings
if [ -s cut.st.ckpt ]; then how="--resume cut.st.ckpt"; fi
"$program" train -o cut.st s.st $how >/dev/null 2>&1
compare
echo "$model: $done_kills kills, $resumes resumes, $finished finished runs: all models identical to the run never stopped"
