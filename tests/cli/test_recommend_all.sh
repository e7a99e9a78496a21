# Answers for every user in one file: CSV and JSON lines, the same as single answers, at any number of
# threads; killed and resumed the bytes are those of a run that was never stopped.
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 1
R="$PARSREC recommend shop.model"
# shellcheck disable=SC2086 # words, here and below
ok $R --all -o a.csv -k 4
warns "a.csv: 60 users"
same "$(head -1 a.csv)" "user,rank,item,score" "header"
same "$(wc -l <a.csv)" 241 "lines for 60 users and four items"
ok $R --all -o b.csv -k 4 --threads 3
ok cmp a.csv b.csv
ok $R --all -o - -k 4
cp stdout c.csv
ok cmp a.csv c.csv
ok $R --all -o a.jsonl -k 4
same "$(wc -l <a.jsonl)" 60 "lines of JSON"
ok $R --all -o a.txt --format jsonl -k 4
ok cmp a.jsonl a.txt
absent a.csv.part a.csv.mark a.jsonl.part a.jsonl.mark
# Each line is what one question gets, with filters too.
ok $R --all -o c.jsonl -k 3 --exclude 1000 --max-per-category 1
cut -d, -f1 a.csv | sort -u | grep -v user | head -3 >some_users
while read -r user; do
    $R --user "$user" -k 4 --json >one 2>/dev/null
    ok grep -qxF "$(cat one)" a.jsonl
    $R --user "$user" -k 3 --json --exclude 1000 --max-per-category 1 >one 2>/dev/null
    ok grep -qxF "$(cat one)" c.jsonl
done <some_users
python3 - >problems 2>&1 <<'P'
import csv, json
rows = list(csv.DictReader(open("a.csv")))
lines = [json.loads(l) for l in open("a.jsonl")]
flat = [(l["user"], str(i + 1), h["item"], h["score"]) for l in lines for i, h in enumerate(l["items"])]
assert [(r["user"], r["rank"], r["item"], float(r["score"])) for r in rows] == flat
P
same "$(cat problems)" "" "CSV against JSON lines"

# Mistakes.
fails 2 "--all needs -o FILE" $R --all
fails 2 "--all needs -o FILE" $R --all -o x.csv --user K01
fails 2 "go with --all" $R --user K01 -o x.csv
fails 1 "opening failed" $R --all -o nowhere/x.csv
absent x.csv x.csv.part
# Another run holds its unfinished file.
fails 1 "both.csv.part: another run is writing it; wait for its end or name another output" \
    flock both.csv.part $R --all -o both.csv -k 4
absent both.csv
ok $R --all -o both.csv -k 4
ok cmp a.csv both.csv
absent both.csv.part both.csv.mark

# ---- what stands in the output's place: links are kept, pipes are written to, folders refused at once ----
mkdir there
echo old >there/current.csv
chmod 640 there/current.csv
ln -s there/current.csv link.csv
ln -s there/later.csv dangling.csv
ok $R --all -k 2 -o plain.csv
for name in link dangling; do
    ok $R --all -k 2 -o $name.csv
    ok test -L $name.csv
    ok cmp $name.csv plain.csv
done
same "$(stat -c %a there/current.csv)" 640 "rights of the replaced file"
same "$(ls there)" "current.csv
later.csv" "files beside the answers"
mkfifo pipe.csv
cat pipe.csv >read.csv &
ok $R --all -k 2 -o pipe.csv
wait $!
ok cmp read.csv plain.csv
ok test -p pipe.csv
fails 1 "there: is a directory; name a file" $R --all -k 2 -o there
fails 2 "the name is empty" $R --all -k 2 -o ""
absent there.part .part pipe.csv.part pipe.csv.mark

# ---- killed and resumed: enough users and items for two rounds ----
users=800
ok "$PARSREC" synth -o many.st --users $users --seed 3
ok "$PARSREC" train -o many.model many.st --model personal
M="$PARSREC recommend many.model --all -k 500 --threads 1"
ok $M -o whole.jsonl
# interrupted SIGNAL FILE: answers for everybody into that file, ended by the signal after the first of two rounds. The run
# is held while it writes that round. TERM comes before it goes on, and is obeyed in the second. For KILL there must be a
# mark to continue from, as there is every two seconds, so the run is held that long; one that was through before the
# signal is taken back.
interrupted() {
    while :; do
        $M -o "$2" >/dev/null 2>told &
        pid=$!
        while ! [ -s "$2.part" ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
        kill -STOP $pid 2>/dev/null
        if [ "$1" = KILL ]; then
            sleep 2.1
            kill -CONT $pid 2>/dev/null
            while ! [ -e "$2.mark" ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
        fi
        kill -"$1" $pid 2>/dev/null
        kill -CONT $pid 2>/dev/null
        wait $pid 2>/dev/null
        code=$?
        [ -e "$2" ] || return 0
        rm -f "$2"
    done
}
interrupted KILL part.jsonl
absent part.jsonl
ok test -s part.jsonl.part
cp part.jsonl.part other.csv.part
cp part.jsonl.mark other.csv.mark
printf 'half a li' >>part.jsonl.part # what a crash may leave behind the mark
ok $M -o part.jsonl
warns "continuing part.jsonl.part after"
ok cmp part.jsonl whole.jsonl
absent part.jsonl.part part.jsonl.mark
# Another request does not continue it.
ok "$PARSREC" recommend many.model --all -k 2 -o other.csv
warns "is of another model or request; starting again"
same "$(wc -l <other.csv)" $((2 * users + 1)) "lines for $users users and two items"
# A stop in order says how to continue.
interrupted TERM stopped.jsonl
same $code 1 "exit status of a stopped run"
ok grep -q "run the same command to continue" told
ok $M -o stopped.jsonl
ok cmp stopped.jsonl whole.jsonl
