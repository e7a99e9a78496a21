#!/bin/sh
# Kills every command that writes files with -9 at random moments, again and again:
#   bench/kill_files.sh [KILLS [SEED [COMMAND...]]]      COMMAND: import train forget dump compare
# After each kill the output is the old file or the new one, byte for byte, never a part; a training that
# was killed is resumed and ends with the model of a run never stopped; and the next run to the same
# output leaves no temporary file behind. Uses build/release/src/parsrec, or what PARSREC names.
set -eu
kills=${1:-1000}
seed=${2:-1}
[ $# -le 2 ] || shift 2
[ $# -gt 0 ] && [ "$1" != "$kills" ] || set -- import train forget dump compare
program=${PARSREC:-$(cd "$(dirname "$0")/.." && pwd)/build/release/src/parsrec}
folder=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-kill.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

broken() {
    echo "$command: $*"
    exit 1
}
microseconds() { date +%s%6N; }
# Parts of the time that a command takes, in thousandths: more than are needed, because a command may come to
# its end first.
parts() {
    awk -v n="$kills" -v s="$seed" 'BEGIN { srand(s); for (i = 0; i < 20 * n; i++) print int(1000 * rand()) }'
}
no_temporaries() {
    if find . -name '*.tmp' | grep -q .; then broken "left temporary files: $(find . -name '*.tmp')"; fi
}
# Runs "$@" and kills it after $part of $took microseconds. True if it was killed. What a command takes changes with
# what else runs, so $took follows: most runs shall be killed, and at any moment of theirs.
killed_at() {
    code=0
    after=$((1000 + took * part / 1000))
    moment=$(printf '%d.%06d' $((after / 1000000)) $((after % 1000000)))
    timeout -s KILL "$moment" "$@" >/dev/null 2>&1 </dev/null || code=$?
    case $code in
    0) took=$((took * 9 / 10 + 1000)) && return 1 ;;
    137) took=$((took * 51 / 50)) && return 0 ;;
    *) broken "status $code instead of a kill: $*" ;;
    esac
}

# replaces OUTPUT COMMAND...: with the old file under old/ in its place, the command is killed.
replaces() {
    output=$1
    shift
    begun=$(microseconds)
    "$@" >/dev/null 2>&1
    took=$(($(microseconds) - begun))
    cp "$output" new
    old=0 renewed=0 cut=0
    for part in $(parts); do
        [ "$cut" -lt "$kills" ] || break
        cp old "$output"
        if killed_at "$@"; then cut=$((cut + 1)); fi
        if cmp -s "$output" new; then
            renewed=$((renewed + 1))
        elif cmp -s "$output" old; then
            old=$((old + 1))
        else
            broken "neither the old file nor the new one after $moment s"
        fi
    done
    left=$(find . -name '*.tmp' | wc -l)
    "$@" >/dev/null 2>&1
    cmp -s "$output" new || broken "another file after all"
    no_temporaries
    echo "$command: $cut kills, $old left the old file, $renewed the new one; $left temporary files of" \
        "killed writers at the end, none after the next run"
}

kill_training() {
    settings="--model parsrec --set dim.user=16 --set dim.item=16 --set batch=32 --epochs 6"
    begun=$(microseconds)
    "$program" train -o whole shop.data $settings >/dev/null 2>&1
    took=$(($(microseconds) - begun))
    cut=0 resumes=0 finished=0
    took=$((took / 2))
    for part in $(parts); do
        [ "$cut" -lt "$kills" ] || break
        how=$settings
        if [ -s model.ckpt ]; then
            "$program" check model.ckpt >/dev/null || broken "the checkpoint is damaged"
            how="--resume model.ckpt" resumes=$((resumes + 1))
        fi
        if killed_at "$program" train -o model shop.data $how --checkpoint-minutes 0.0002; then
            cut=$((cut + 1))
        fi
        if [ -e model ]; then
            cmp -s whole model || broken "another model after $cut kills"
            finished=$((finished + 1))
            rm -f model model.ckpt
        fi
    done
    how=$settings
    [ ! -s model.ckpt ] || how="--resume model.ckpt"
    "$program" train -o model shop.data $how >/dev/null 2>&1
    cmp -s whole model || broken "another model after $cut kills"
    rm -f model
    "$program" train -o model shop.data $settings --keep-checkpoint >/dev/null 2>&1
    no_temporaries
    echo "$command: $cut kills, $resumes resumes, $finished runs came to their end between them; every" \
        "model is that of the run never stopped, no temporary files are left"
}

kill_comparison() {
    begun=$(microseconds)
    "$program" compare shop.data --models pop,personal,markov -o first >/dev/null 2>&1
    took=$(($(microseconds) - begun))
    cut=0 reports=0
    for part in $(parts); do
        [ "$cut" -lt "$kills" ] || break
        if killed_at "$program" compare shop.data --models pop,personal,markov -o compared; then
            cut=$((cut + 1))
        fi
        for file in compared/*; do
            [ -s "$file" ] || [ ! -e "$file" ] || [ "${file%.log}" != "$file" ] ||
                [ "${file%.tmp}" != "$file" ] || broken "$file is empty"
            case $file in
            *.html) tail -c 20 "$file" | grep -q '</html>' || broken "$file is cut" ;;
            *.json) tail -c 3 "$file" | grep -q '[]}]' || broken "$file is cut" ;;
            *.model | *.st) "$program" check "$file" >/dev/null || broken "$file is damaged" ;;
            esac
            [ ! -e "$file" ] || reports=$((reports + 1))
        done
        [ $((cut % 3)) -ne 0 ] || rm -rf compared
    done
    "$program" compare shop.data --models pop,personal,markov -o compared --retrain >/dev/null 2>&1
    no_temporaries
    echo "$command: $cut kills, $reports files seen after them, all whole; no temporary files are left"
}

command=synth
"$program" synth -o other.data --users 30 --sessions 6 --products 20 >/dev/null 2>&1
"$program" synth -o shop.data --users 60 --sessions 8 --products 20 --csv shop.csv >/dev/null 2>&1
for command in "$@"; do
    case $command in
    import)
        cp other.data old
        replaces imported "$program" import -o imported shop.csv
        ;;
    train)
        kill_training
        ;;
    forget)
        "$program" train -o personal --model personal shop.data >/dev/null 2>&1
        cp personal old
        user=$("$program" recommend personal --user 1 --json | sed -n 's/.*"user": *"\([^"]*\)".*/\1/p')
        replaces forgotten "$program" forget personal -o forgotten --user "$user"
        ;;
    dump)
        "$program" train -o pop --model pop shop.data >/dev/null 2>&1
        "$program" eval pop shop.data --negatives 5 --dump-scores old >/dev/null 2>&1
        replaces scores "$program" eval pop shop.data --dump-scores scores
        ;;
    compare)
        kill_comparison
        ;;
    *)
        broken "is not a command that is killed here"
        ;;
    esac
done
