#!/bin/sh
# Session models on clicks without customers: Recall@20 and MRR@20 over every prefix of the test sessions, and
# their lists beside those that another program stored.
#   bench/sessions.sh FOLDER OUT [PARSREC]
# FOLDER holds actions.csv.gz, split.csv.gz and stored_lists.csv.gz of rsc15_100k (docs/results.md). A row
# whose result is in OUT is not computed again. KINDS are the kinds to measure; those that learn are trained.
set -eu
folder=$1 out=$2 parsrec=${3:-build/release/src/parsrec}
here=$(dirname "$0")
kinds=${KINDS:-pop markov rules seqrules itemknn ease sknn vsknn}
mkdir -p "$out"
[ -s "$out/clicks.st" ] || "$parsrec" import -o "$out/clicks.st" "$folder/actions.csv.gz" >/dev/null
zcat "$folder/split.csv.gz" | awk -F, '$2 == "test" {print $1}' >"$out/tests"
zcat "$folder/stored_lists.csv.gz" | awk -F, 'NR > 1 {print $2}' | sort -u >"$out/listed"

counted() {
    case $1 in
    parsrec | sasrec | tisasrec | bert4rec | gru4rec | narm | stamp | caser | dream | bpr | fpmc | ncf | hrm | transrec) false ;;
    *) true ;;
    esac
}

# scored KIND DATA TESTS OPTIONS...: what eval prints, with a model file for kinds that learn.
scored() {
    kind=$1 data=$2 tests=$3
    shift 3
    if counted "$kind"; then
        "$parsrec" eval "$kind" "$data" --test-users "$tests" --protocol next --full --k 20 "$@"
        return
    fi
    [ -s "$out/$kind.st" ] ||
        "$parsrec" train -o "$out/$kind.st" "$data" --model "$kind" --test-users "$tests" --threads 1 >"$out/$kind.log" 2>&1
    "$parsrec" eval "$out/$kind.st" "$data" --test-users "$tests" --protocol next --full --k 20 "$@"
}

echo "| model | Recall@20 | MRR@20 | questions | seconds |"
echo "|---|---|---|---|---|"
for kind in $kinds; do
    [ -s "$out/$kind.json" ] || scored "$kind" "$out/clicks.st" "$out/tests" --json >"$out/$kind.json" 2>/dev/null
    python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
m = r["metrics"]
print("| %s | %.4f | %.4f | %d | %.1f |" % (sys.argv[2], m["HR@20"], m["MRR@20"], r["steps"], r["seconds"]))' \
        "$out/$kind.json" "$kind"
done

# lists MODEL KIND OPTIONS...
lists() {
    model=$1 kind=$2
    shift 2
    scored "$kind" "$out/clicks.st" "$out/tests" --users "$out/listed" --dump-scores "$out/scores" "$@" >/dev/null 2>&1
    python3 "$here/session_lists.py" "$model" "$out/scores" "$folder/stored_lists.csv.gz" "$folder/actions.csv.gz"
}
echo
lists vsknn vsknn
lists ar rules --set rules.from=last --set ties=first
lists sr seqrules --set ties=first
# clicks MODEL OPTIONS...: repeated clicks kept, each click a session of its own.
clicks() {
    model=$1
    shift
    python3 "$here/click_prefixes.py" "$folder/actions.csv.gz" "$folder/stored_lists.csv.gz" "$model" "$out/$model.csv" "$out/${model}_tests"
    "$parsrec" import -o "$out/$model.st" "$out/$model.csv" >/dev/null 2>&1
    scored seqrules "$out/$model.st" "$out/${model}_tests" --set ties=first --dump-scores "$out/scores" "$@" >/dev/null 2>&1
    python3 "$here/session_lists.py" "$model" "$out/scores" "$folder/stored_lists.csv.gz" "$folder/actions.csv.gz"
}
clicks ar --set rules.side=both --set rules.fade=0 --set rules.steps=10000
clicks sr
case " $kinds " in *" gru4rec "*) lists gru4rec gru4rec ;; esac
rm -f "$out/scores"
