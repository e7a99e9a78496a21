#!/bin/sh
# bpr, fpmc, ncf, transrec, gru4rec and caser beside figures that were published on the same files, in stages: stop it whenever
# you like, a second call continues where the first one stopped.
#   bench/published_learnt.sh DATA_FOLDER OUT [ROW...]        rows: beauty_bpr, games_fpmc, ...; without any, all
# DATA_FOLDER holds s3rec_beauty, video_sasrec, ml1m and dnntsp_dc, each with actions.csv.gz (docs/results.md).
# THREADS: 1. dnntsp_dc also has split.csv.gz: its test users are tested and nothing of them is trained on.
# It fails if a figure is more than 5 % below the published one.
set -eu
usage='usage: bench/published_learnt.sh DATA_FOLDER OUT [ROW...]'
shared=${1:?$usage} out=${2:?$usage}
shift 2
[ $# -gt 0 ] || set -- beauty_bpr beauty_fpmc beauty_gru4rec beauty_caser games_bpr games_fpmc games_gru4rec games_caser \
    games_transrec dc_dream ml1m_bpr ml1m_ncf ml1m_transrec popular_bpr popular_ncf
parsrec=${PARSREC:-build/release/src/parsrec}
threads=${THREADS:-1}
mkdir -p "$out"

# What differs from the defaults: fewer epochs of gru4rec and caser, so that a row takes minutes; negatives drawn by
# popularity for the table that ranks against items drawn by popularity.
settings() {
    case $1 in
    *_gru4rec | beauty_caser) echo "--epochs 6" ;;
    games_caser) echo "--epochs 8" ;;
    popular_*) echo "--set negatives.power=1" ;;
    esac
}
set_of() {
    case $1 in
    beauty_*) echo s3rec_beauty ;;
    games_*) echo video_sasrec ;;
    ml1m_* | popular_*) echo ml1m ;;
    dc_*) echo dnntsp_dc ;;
    *) echo "there is no row $1; rows are beauty_bpr, games_fpmc, ml1m_ncf and so on" >&2; exit 2 ;;
    esac
}

for row in "$@"; do
    set=$(set_of "$row")
    data=$out/$set.st model=$out/$row.st
    [ -s "$data" ] || "$parsrec" import -o "$data" "$shared/$set/actions.csv.gz" >/dev/null 2>&1
    held=
    if [ "$set" = dnntsp_dc ]; then
        zcat "$shared/$set/split.csv.gz" | awk -F, '$2 == "test" {print $1}' >"$out/dc_test"
        held="--test-users $out/dc_test"
    fi
    if [ -s "$model.ckpt" ]; then
        "$parsrec" train -o "$model" "$data" --resume "$model.ckpt" --threads "$threads" >/dev/null 2>&1
    elif [ ! -s "$model" ]; then
        # shellcheck disable=SC2046,SC2086  # the settings are words
        "$parsrec" train -o "$model" "$data" --model "${row#*_}" $(settings "$row") $held --seed 1 --threads "$threads" >/dev/null 2>&1
    fi
    measure() { # FILE OPTION...
        file=$1
        shift
        [ -s "$file" ] || "$parsrec" eval "$model" "$data" "$@" --threads "$threads" \
            --json >"$file.part" 2>/dev/null
        [ -s "$file" ] || mv "$file.part" "$file"
    }
    next="--protocol next --exclude-seen"
    # shellcheck disable=SC2086
    case $set in
    s3rec_beauty) measure "$out/$row.json" $next --full --k 5,10,20 ;;
    video_sasrec) measure "$out/$row.json" $next --negatives 100 --k 10 ;;
    ml1m)
        other= more=.popular
        case $row in popular_*) other=.uniform more= ;; esac
        measure "$out/$row$other.json" $next --negatives 100 --k 10
        measure "$out/$row$more.json" $next --candidates popular --negatives 100 --k 1,5,10
        ;;
    dnntsp_dc) measure "$out/$row.json" --protocol basket --test-users "$out/dc_test" --k 10 ;;
    esac
done

exec python3 - "$out" "$@" <<'PYTHON'
import json, os, sys

ALL = "HR@5 NDCG@5 HR@10 NDCG@10 HR@20 NDCG@20"
TEN = "HR@10 NDCG@10"
HARD = "HR@1 HR@5 HR@10 NDCG@5 NDCG@10 MRR"
# row, measures, published figures; those of beauty_bpr and beauty_fpmc are not in the table that the others are from.
# ml1m_* are beside SASRec's table (items drawn uniformly), popular_* beside BERT4Rec's; each once more by the other's
# protocol, for which there is no published figure of that training.
ROWS = [
    ("beauty_bpr", ALL, None),
    ("beauty_fpmc", ALL, None),
    ("beauty_gru4rec", ALL, [.0164, .0099, .0283, .0137, .0479, .0187]),
    ("beauty_caser", ALL, [.0205, .0131, .0347, .0176, .0556, .0229]),
    ("games_bpr", TEN, [.4853, .2875]),
    ("games_fpmc", TEN, [.6802, .4680]),
    ("games_gru4rec", TEN, [.2938, .1837]),
    ("games_caser", TEN, [.5282, .3214]),
    ("games_transrec", TEN, [.6838, .4557]),
    ("dc_dream", "Recall@10 NDCG@10 PHR@10", [.2857, .1947, .3705]),
    ("ml1m_transrec", TEN, [.6413, .3969]),
    ("ml1m_bpr", TEN, [.5781, .3287]),
    ("ml1m_bpr.popular", HARD, None),
    ("ml1m_ncf", TEN, None),
    ("ml1m_ncf.popular", HARD, None),
    ("popular_bpr", HARD, [.0914, .2866, .4301, .1903, .2365, .2009]),
    ("popular_bpr.uniform", TEN, None),
    ("popular_ncf", HARD, [.0397, .1932, .3477, .1146, .1640, .1358]),
    ("popular_ncf.uniform", TEN, None),
]
bad = 0
print("| row | measures | published | ours | ours / published |")
print("|---|---|---|---|---|")
text = lambda values: " ".join(f"{v:.4f}"[1:] for v in values)
for name, measures, theirs in ROWS:
    path = f"{sys.argv[1]}/{name}.json"
    if name.split(".")[0] not in sys.argv[2:] or not os.path.exists(path):
        continue
    found = json.load(open(path))["metrics"]
    ours = [found[m] for m in measures.split()]
    ratios = [a / b for a, b in zip(ours, theirs or [])]
    bad += sum(r < .95 for r in ratios)
    print(f"| {name} | {measures.replace(' ', ', ')} | {text(theirs) if theirs else ''} | {text(ours)} |"
          f" {' '.join(f'{r:.2f}' for r in ratios)} |")
sys.exit(f"{bad} figures are more than 5 % below the published ones" if bad else 0)
PYTHON
