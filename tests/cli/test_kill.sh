# Commands that write files, killed with -9 at random moments: a short run of what bench/kill_files.sh
# does at length. Then a full disk and a folder that is read-only.
TMPDIR=$PWD ok sh "$PARSREC_SOURCE/bench/kill_files.sh" 8 3
says "import: "
says "train: "
says "forget: "
says "dump: "
says "compare: "

# A full disk: a limit on file size. Nothing new is left, and the old file stays.
ok "$PARSREC" synth -o shop.data --users 40 --sessions 6 --products 20 --csv shop.csv
ok "$PARSREC" train -o pop --model pop shop.data
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
full out sh limited "$PARSREC" forget pop -o out --user 3
full out sh limited "$PARSREC" eval pop shop.data --dump-scores out
sh limited "$PARSREC" compare shop.data --models pop,personal -o folder >stdout 2>stderr
same "$?" 1 "status of compare on a full disk"
if grep -q "writing failed" stderr; then pass; else fail "compare on a full disk"; fi
same "$(find folder -name '*.tmp' 2>/dev/null)" "" "temporary files of compare"

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
    fails 1 "closed" "$PARSREC" compare shop.data --models pop -o closed/compared
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
