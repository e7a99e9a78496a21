#!/bin/sh
# What features bring where they tell something and where they do not: synthetic data of both kinds, the default
# settings and the paper's, three seeds; prints tables in Markdown. Stop it whenever you like: a second call
# continues where the first one stopped. SMALL=1: one epoch, one seed, to see that it runs.
#   bench/features.sh DIR [default|paper]
set -eu
dir=${1:?usage: bench/features.sh DIR [default|paper]}
presets=${2:-default paper}
here=$(cd "$(dirname "$0")" && pwd)
parsrec=${PARSREC:-$here/../build/release/src/parsrec}
mkdir -p "$dir"
for kind in signal noise; do
    [ -e "$dir/$kind.st" ] || "$parsrec" synth -o "$dir/$kind.st" --users 256 --sessions 50 --products 50 \
        --features $kind --seed 1 >/dev/null
done
for preset in $presets; do
    of=parsrec epochs=8 seeds=3
    [ "$preset" = default ] || { of=parsrec:preset=paper epochs=16; }
    [ -z "${SMALL:-}" ] || { epochs=1 seeds=1; }
    models="none=$of,all=$of:features.user=on:features.session=on:features.item=on"
    models="$models,session=$of:features.session=on"
    [ "$preset" = paper ] || models="$models,user=$of:features.user=on,item=$of:features.item=on"
    for kind in signal noise; do
        "$parsrec" compare "$dir/$kind.st" --models "$models" -o "$dir/$kind-$preset" --epochs $epochs \
            --last 6 --seeds $seeds >/dev/null
        printf '\n%s, %s settings\n\n' $kind "$preset"
        python3 "$here/features_table.py" "$dir/$kind-$preset/report.json"
    done
done
