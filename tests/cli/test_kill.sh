# Commands that write files, killed with -9 at random moments: a short run of what bench/kill_files.py
# does at length. Then a full disk and a folder that is read-only.
TMPDIR=$PWD ok python3 "$PARSREC_SOURCE/bench/kill_files.py" 4 3
for command in synth import train forget dump export recommend compare explain whatif shards tune ablate fold export-events; do
    says "$command: 4 kills"
done
kinds="sasrec tisasrec bert4rec gru4rec narm stamp caser dream bpr fpmc ncf hrm transrec"
# shellcheck disable=SC2046,SC2086 # words
TMPDIR=$PWD ok python3 "$PARSREC_SOURCE/bench/kill_files.py" 1 3 $(printf 'train:%s ' $kinds)
for kind in $kinds; do
    says "train:$kind: 1 kills"
done

# A full disk: a limit on file size. Nothing new is left, and the old file stays.
ok "$PARSREC" synth -o shop.data --users 40 --sessions 6 --products 20 --csv shop.csv
ok "$PARSREC" train -o pop --model pop shop.data
ok "$PARSREC" train -o personal --model personal shop.data
ok "$PARSREC" train -o markov --model markov shop.data
ok "$PARSREC" train -o model --set dim.user=4 --set dim.item=4 --epochs 1 shop.data
cat >limited <<'END'
ulimit -f 4
exec "$@"
END
full() {
    output=$1
    shift
    echo old >"$output"
    "$@" >stdout 2>stderr </dev/null
    code=$?
    same "$code" 1 "status of $*"
    same "$(wc -l <stderr)" 1 "sentences of $*"
    if grep -q "writing failed\|cannot be written\|cannot be made" stderr; then pass; else fail "$*"; fi
    same "$(cat "$output")" old "the old file of $*"
    same "$(ls -- *.tmp 2>/dev/null)" "" "temporary files of $*"
    rm -f "$output"
}
full out sh limited "$PARSREC" import -o out shop.csv
full out sh limited "$PARSREC" train -o out --model pop shop.data
full out sh limited "$PARSREC" synth -o out --users 40 --sessions 6 --products 20
full out sh limited "$PARSREC" export shop.data -o out
full out sh limited "$PARSREC" recommend personal --all -k 60 -o out
absent out.part out.mark
full out sh limited "$PARSREC" forget pop -o out --user 3
full out sh limited "$PARSREC" eval pop shop.data --dump-scores out
full_folder() {
    sh limited "$PARSREC" "$@" -o folder >stdout 2>stderr </dev/null
    same "$?" 1 "status of $1 on a full disk"
    if grep -q "writing failed" stderr; then pass; else fail "$1 on a full disk: $(cat stderr)"; fi
    same "$(find folder -name '*.tmp' 2>/dev/null)" "" "temporary files of $1"
    rm -rf folder
}
# What has no name is named by its folder.
mkdir there
fails 1 "temporary file in there/folder." sh limited "$PARSREC" import --shards=3 -o there/folder shop.csv
same "$(ls there)" "" "what import --shards left"
full_folder compare shop.data --models pop,personal
full_folder explain markov shop.data --top 8 --baskets 40
full_folder whatif model shop.data --drop category=C1 --draws 1 --resamples 20
full_folder tune shop.data --trials 1 --epochs 1 --set dim.user=4 --set dim.item=4

# Closed standard streams: what is printed does not end up in the files that are written.
ok "$PARSREC" import -o open.data shop.csv
"$PARSREC" import -o closed.data shop.csv <&- >&- 2>&-
same "$?" 1 "import with closed streams"
ok cmp open.data closed.data
"$PARSREC" train -o closed.model --epochs 2 --set dim.user=4 --set dim.item=4 shop.data <&- >&- 2>&-
same "$?" 1 "train with closed streams"
ok "$PARSREC" check closed.model
same "$(grep -cv '^{.*}$' closed.model.log)" 0 "lines of the log that are not JSON"
fails 1 "standard output: writing failed" sh -c '"$1" --help >&-' sh "$PARSREC"

# A folder in which nothing can be written. Permissions do not stop root; a file system mounted
# read-only does.
mkdir closed
if [ "$(id -u)" -ne 0 ]; then
    chmod 555 closed
elif ! mount -t tmpfs -o ro,size=64k none closed 2>/dev/null; then
    rmdir closed
fi
if [ -d closed ]; then
    clean_up() {
        umount closed 2>/dev/null
        chmod 755 closed
    }
    fails 1 "closed/out: cannot be written" "$PARSREC" import -o closed/out shop.csv
    fails 1 "closed/out: cannot be written" "$PARSREC" train -o closed/out --model pop shop.data
    fails 1 "closed/out: cannot be written" "$PARSREC" forget pop -o closed/out --user 3
    fails 1 "closed/out: cannot be written" "$PARSREC" eval pop shop.data --dump-scores closed/out
    fails 1 "closed: cannot write a temporary file in it" "$PARSREC" synth -o closed/out --users 40 --sessions 6
    fails 1 "closed/out: cannot be written" "$PARSREC" export shop.data -o closed/out
    fails 1 "closed/out.part: opening failed" "$PARSREC" recommend personal --all -o closed/out
    fails 1 "closed" "$PARSREC" compare shop.data --models pop -o closed/compared
    fails 1 "closed" "$PARSREC" explain markov shop.data -o closed/maps
    fails 1 "closed" "$PARSREC" whatif model shop.data --drop category=C1 -o closed/report
    fails 1 "closed" "$PARSREC" tune shop.data --trials 1 --epochs 1 -o closed/tuned
    if [ "$(id -u)" -ne 0 ]; then why="Permission denied"; else why="Read-only file system"; fi
    fails 1 "closed/shards: the folder cannot be made: $why" "$PARSREC" import --shards=2 -o closed/shards shop.csv
    fails 1 "closed/events: cannot open the store (--store names another place): $why" \
        "$PARSREC" serve pop --store sqlite:closed/events --listen 127.0.0.1:0
else
    left_out "no read-only folder: root, and nothing can be mounted"
fi

# Two trainings to one output: whoever ends last wins, and the file is whole.
ok "$PARSREC" train -o one --set dim.user=4 --set dim.item=4 --epochs 2 --seed 1 shop.data
ok "$PARSREC" train -o two --set dim.user=4 --set dim.item=4 --epochs 2 --seed 2 shop.data
"$PARSREC" train -o both --set dim.user=4 --set dim.item=4 --epochs 2 --seed 1 shop.data >first 2>&1 &
id=$!
ok "$PARSREC" train -o both --set dim.user=4 --set dim.item=4 --epochs 2 --seed 2 shop.data
if wait $id; then pass; else fail "the first of two trainings to one output: $(cat first)"; fi
if cmp -s both one || cmp -s both two; then pass; else fail "two trainings mixed their models"; fi
same "$(ls -- *.tmp 2>/dev/null)" "" "temporary files of two trainings"
