#!/bin/sh
# What features bring where they tell something and where they do not: synthetic data of both kinds, the default
# settings and the paper's, three seeds; prints tables in Markdown. Stop it whenever you like: a second call
# goes on where the first one was.
#   bench/features.sh DIR          USERS=512 SESSIONS=60 EPOCHS=6 SEEDS=3 by default
set -eu
dir=${1:?usage: bench/features.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
mkdir -p "$dir"
for kind in signal noise; do
    data=$dir/$kind.st
    [ -e "$data" ] || "$parsrec" synth -o "$data" --users "${USERS:-512}" --sessions "${SESSIONS:-60}" \
        --features $kind --seed 1 >/dev/null 2>&1
    for preset in default paper; do
        of=parsrec
        [ $preset = default ] || of=parsrec:preset=paper
        models="none=$of,session=$of:features.session=on"
        models="$models,all=$of:features.user=on:features.session=on:features.item=on"
        [ $preset = paper ] || models="$models,user=$of:features.user=on,item=$of:features.item=on"
        "$parsrec" compare "$data" --models "$models" -o "$dir/$kind-$preset" --epochs "${EPOCHS:-6}" \
            --seeds "${SEEDS:-3}" >/dev/null 2>&1
        printf '\n%s, %s settings\n\n' $kind $preset
        python3 "$here/features_table.py" "$dir/$kind-$preset/report.json"
    done
done
