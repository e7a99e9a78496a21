#!/bin/sh
# How well maps recover the truth of synthetic data, and what they cost against a training epoch.
#   bench/explain.sh DIR [SEED...]        seeds 1 2 3 unless given; PRESET=paper and SET="key=value ..." for
#                                         other settings than the defaults
# Stop it whenever you like: a second call takes the models that are there.
set -eu
dir=${1:?usage: bench/explain.sh DIR [SEED...]}
shift
[ $# -gt 0 ] || set -- 1 2 3
parsrec=${PARSREC:-build/release/src/parsrec}
settings=${PRESET:+--preset $PRESET}
for s in ${SET:-}; do settings="$settings --set $s"; done
mkdir -p "$dir"
for seed in "$@"; do
    data=$dir/data-$seed.st model=$dir/model-$seed.st
    [ -e "$data" ] || "$parsrec" synth -o "$data" --users 1024 --sessions 100 --seed "$seed" >/dev/null
    if [ -e "$model" ]; then
        :
    elif [ -e "$model.ckpt" ]; then
        "$parsrec" train -o "$model" "$data" --resume "$model.ckpt" >/dev/null
    else
        # shellcheck disable=SC2086 # settings are words
        "$parsrec" train -o "$model" "$data" --seed "$seed" $settings >/dev/null
    fi
    "$parsrec" explain "$model" "$data" --group truth -o "$dir/maps-$seed" --json >"$dir/told-$seed.json"
done

# Time: one epoch of training, then each map of all users by itself, in one run on one machine.
seed=$1
"$parsrec" train -o "$dir/one.st" "$dir/data-$seed.st" --epochs 1 --seed 1 ${settings:+$settings} >/dev/null
for map in attention drop; do
    "$parsrec" explain "$dir/model-$seed.st" "$dir/data-$seed.st" --map $map --by item -o "$dir/timed" --json \
        >"$dir/timed-$map.json"
done

python3 - "$dir" "$@" <<'END'
import json, sys
folder, seeds = sys.argv[1], sys.argv[2:]
told = [json.load(open("%s/told-%s.json" % (folder, s))) for s in seeds]
mean = lambda values: sum(values) / len(values)
print("recovery, mean of seeds %s: rank correlation, covariance > 0, related, differences of the groups" % " ".join(seeds))
for kind in ("drop", "attention", "even", "lift", "embedding"):
    row = "%-10s" % kind
    for g in (0, 1):
        cells = [t["groups"][g]["recovery"].get(kind) for t in told]
        if None in cells:
            continue
        row += "  %s" % told[0]["groups"][g]["group"]
        row += "".join(" %.3f" % mean([c[key] for c in cells]) for key in ("rank", "positive", "related"))
    cells = [t["difference"]["recovery"].get(kind) for t in told]
    if None not in cells:
        row += "  A-B %.3f %.3f" % (mean([c["rank"] for c in cells]), mean([c["different"] for c in cells]))
    print(row)
print("attention against drop effects: tau within steps %.3f, rho of maps %.3f"
      % tuple(mean([g["agreement"][key] for t in told for g in t["groups"]]) for key in ("steps", "maps")))
epoch = [e["seconds"] for e in map(json.loads, open(folder + "/one.st.log")) if e["event"] == "epoch"][0]
for kind in ("attention", "drop"):
    seconds = json.load(open("%s/timed-%s.json" % (folder, kind)))["seconds"]
    print("%s map of all users: %.2f training epochs (%.1f s, an epoch %.1f s)" % (kind, seconds / epoch, seconds, epoch))
END
