# eval --dump-scores: a second program computes every measure from what was ranked and must agree.
peer=$PARSREC_SOURCE/tests/cli/measures_peer.py
baskets=0
protocols="remaining next basket" least=5000
[ -z "${PARSREC_SANITIZE:-}" ] || protocols=next least=1000

# agrees [PEER-OPTIONS] -- MODEL DATA EVAL-OPTIONS...: evaluates, dumps and lets the peer judge.
agrees() {
    asked=
    while [ "$1" != -- ]; do
        asked="$asked $1"
        shift
    done
    shift
    "$PARSREC" eval "$@" --json --dump-scores dump.jsonl >report.json 2>stderr || fail "eval $*"
    if python3 "$peer" dump.jsonl report.json $asked >stdout 2>stderr; then pass; else fail "the peer of eval $*"; fi
    baskets=$((baskets + $(sed -n 's/.*: \([0-9]*\) baskets.*/\1/p' stdout)))
}

# ---- a shop of a hundred items, where counts are often equal ----
ok "$PARSREC" synth -o s.st --users 400 --sessions 4 --products 5 --csv s.csv
for protocol in $protocols; do
    for model in pop personal; do
        agrees --actions s.csv -- $model s.st --protocol $protocol --negatives 20
        agrees --actions s.csv -- $model s.st --protocol $protocol --full
    done
    agrees --random 10 -- random s.st --protocol $protocol --negatives 30
    agrees --random 10 --actions s.csv -- pop s.st --protocol $protocol --full --exclude-seen --split valid
    # Lists that end early, cutoffs beyond the catalogue.
    agrees -- personal s.st --set fill=off --protocol $protocol --full --k 1,2,99,100,1000
done
# More candidates than there are, and candidates that many buy.
agrees -- recent s.st --negatives 1000 --exclude-seen
agrees -- markov s.st --protocol next --candidates popular --negatives 7 --k 3

# ---- scores that depend on what was placed ----
ok "$PARSREC" train -o m.st s.st --set dim.user=8 --set dim.item=8 --set last=2 --epochs 2
for place in 1 4; do
    agrees -- m.st s.st --negatives 40 --place-k $place
    agrees -- m.st s.st --full --place-k $place
done
agrees -- m.st s.st --protocol next --last 1
agrees -- m.st s.st --protocol basket --exclude-seen
printf 'user\n3\n141\n59\n' >some.csv
agrees -- m.st s.st --users some.csv --full
printf 'user,items\n3,1 2 3 4\n141,5 6\n59,9 8 7 6 5 4\n' >lists.csv
agrees -- m.st s.st --users some.csv --candidates lists.csv
[ $baskets -ge $least ] && pass || fail "the peer saw $baskets baskets only"

# ---- the same bytes on any number of threads; results as without a dump ----
ok "$PARSREC" eval m.st s.st --dump-scores one.jsonl --threads 1
ok "$PARSREC" eval m.st s.st --dump-scores three.jsonl --threads 3
ok cmp one.jsonl three.jsonl
"$PARSREC" eval m.st s.st --json --dump-scores one.jsonl | sed '/"seconds"/d' >with
"$PARSREC" eval m.st s.st --protocol remaining --json | sed '/"seconds"/d' >without
ok cmp with without
# Through a pipe, packed on the way.
"$PARSREC" eval m.st s.st --json --dump-scores /dev/fd/3 3>&1 >report.json | gzip >dump.gz
gunzip <dump.gz | cmp - one.jsonl && pass || fail "the dump through a pipe differs"

# ---- the peer can tell: a wrong place, a wrong score, a missing step ----
# notices TEXT SCRIPT: what it says of the dump that sed changed.
notices() {
    sed "$2" dump.jsonl >changed.jsonl
    cmp -s dump.jsonl changed.jsonl && fail "nothing was changed by $2"
    python3 "$peer" changed.jsonl report.json >stdout 2>stderr && fail "no complaint about $2"
    says "$1"
}
"$PARSREC" eval pop s.st --json --dump-scores dump.jsonl >report.json 2>/dev/null
notices "was filled, it should be" '/"step":0/s/"placed":0/"placed":1/'
"$PARSREC" eval pop s.st --protocol next --json --dump-scores dump.jsonl >report.json 2>/dev/null
notices "HR@1: the report says" '/"step":0/s/"own":\[[^,]*/"own":[1e9/'
notices "repeat: the report has" 's/"before":\[[^]]*/"before":[/'
notices "baskets are complete" '$d'

# ---- mistakes leave nothing behind ----
fails 2 "name a file or a pipe" "$PARSREC" eval pop s.st --dump-scores -
fails 1 "cannot be written" "$PARSREC" eval pop s.st --dump-scores nowhere/dump.jsonl
fails 1 "is a directory" "$PARSREC" eval pop s.st --dump-scores .
fails 1 "/dev/full: writing failed" "$PARSREC" eval pop s.st --dump-scores /dev/full
printf 'user,item\n3,1\n' >lists.csv
fails 1 "has no candidates" "$PARSREC" eval pop s.st --dump-scores x.jsonl --candidates lists.csv
printf 'user,item\nu,a\n' | "$PARSREC" import -o short.st - >/dev/null 2>&1
fails 1 "nobody can be evaluated" "$PARSREC" eval pop short.st --dump-scores x.jsonl
absent x.jsonl nowhere

# ---- keys that JSON has signs for ----
{
    printf 'user,session,item\n'
    for s in 1 2 3; do printf '"q""\\é",%s,"a\tb"\n"q""\\é",%s,"</c>"\n' $s $s; done
} >odd.csv
ok "$PARSREC" import -o odd.st odd.csv
agrees --actions odd.csv -- pop odd.st --protocol basket

# ---- real shops, if they are at hand: customers of a few; not under sanitizers, which saw the same calls above ----
[ -z "${PARSREC_SANITIZE:-}" ] || finish
data=${PARSREC_DATA:-$PARSREC_SOURCE/../shared/data}
for set in tafeng online_retail_ii; do
    [ -e "$data/$set/actions.csv.gz" ] || { echo "$set: not in $data, passed over"; continue; }
    ok "$PARSREC" import -o real.st "$data/$set/actions.csv.gz"
    gunzip -c "$data/$set/actions.csv.gz" | awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "user") c = i; next}
        !($c in had) {had[$c]; if (++n % 200 == 0) print $c; if (n == 4000) exit}' >users
    for protocol in remaining next basket; do
        agrees -- personal real.st --users users --protocol $protocol --negatives 100
        agrees -- pop real.st --users users --protocol $protocol --full
    done
done
