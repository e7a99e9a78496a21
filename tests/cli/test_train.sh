# parsrec train: the files beside a model, its mistakes, and runs that are stopped and go on.
small="--set dim.user=8 --set dim.item=8 --set batch=64"
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv" --items "$PARSREC_SOURCE/examples/corner_shop_items.csv"

# ---- one run and what it leaves ----
ok "$PARSREC" train -o m.st shop.st $small --epochs 3
says "of 3 is the best by validation mean NDCG@10 of remaining, next, basket"
same "$(tail -n 1 stdout | cut -c1-18)" "Validation NDCG@10" "the last line"
says "validation: HR@10, NDCG@10, Sess-Prec@10" # the legend of the curves
for f in m.st m.st.log m.st.png m.st.svg; do ok test -s $f; done
absent m.st.ckpt
ok "$PARSREC" check m.st
says "parsrec.model version 1"
python3 -c '
import json
lines = [json.loads(l) for l in open("m.st.log")]
print([l["event"] for l in lines], lines[0]["config"]["dim.user"], lines[0]["seed"], [l.get("epoch") for l in lines[1:4]])
' >events
same "$(cat events)" "['begin', 'epoch', 'epoch', 'epoch', 'baselines', 'finished'] 8 1 [1, 2, 3]" "the log"
ok "$PARSREC" train -o n.st shop.st $small --epochs 3 --threads 1 --json
cp stdout n.json
same "$(python3 -c 'import json; r = json.load(open("stdout")); print(r["model"], r["finished"], r["epochs"], sorted(r["valid"]))')" \
    "n.st True 3 ['HR@10', 'NDCG@10', 'Sess-Prec@10']" "the JSON report"
ok cmp m.st n.st

# ---- the last line: the model beside counts ----
# compared FILE: prints what its JSON says of the comparison.
compared() {
    python3 -c '
import json, sys
b = json.load(open(sys.argv[1]))["baselines"]
rows = [(r["protocol"], r["negatives"] == 0, [x["model"] for x in r["baselines"]]) for r in b["protocols"]]
for r in b["protocols"]:
    best = max(r["baselines"], key=lambda x: x["value"])
    assert r["best_baseline"] == best["model"]
    low, high = best["difference"]["low"], best["difference"]["high"]
    assert low <= r["value"] - best["value"] <= high
    assert r["verdict"] == ("ahead" if low > 0 else "behind" if high < 0 else "level")
print(b["split"], b["users"] == b["users_of"] > 0, rows)
' "$1"
}
all="['pop', 'personal', 'recent', 'markov', 'mix']"
same "$(compared n.json)" "valid True [('remaining', False, $all), ('next', False, $all), ('basket', True, $all), ('remaining', True, $all), ('next', True, $all)]" "protocols and baselines"
# Its figures are those of eval, for a model that does not know the validation sessions; n.st knows them at the end.
ok "$PARSREC" eval n.st shop.st --split valid --protocol basket
warns "with newest = on the model learns from the validation sessions at the end"
ok "$PARSREC" train -o held.st shop.st $small --epochs 3 --set newest=off --json
same "$(compared stdout)" "$(compared n.json)" "the comparison with and without newest"
for p in remaining next basket; do
    ok "$PARSREC" eval held.st shop.st --split valid --protocol $p --json
    cp stdout eval.json
    ok "$PARSREC" eval personal shop.st --split valid --protocol $p --json
    same "$(python3 -c '
import json, sys
row = [r for r in json.load(open("n.json"))["baselines"]["protocols"] if r["protocol"] == sys.argv[1]][0]
own, personal = (json.load(open(f))["metrics"]["NDCG@10"] for f in ("eval.json", "stdout"))
print(abs(row["value"] - own) < 1e-6, abs([b["value"] for b in row["baselines"] if b["model"] == "personal"][0] - personal) < 1e-6)
' $p)" "True True" "the figures of $p"
done
# A model that counts is compared with the others.
ok "$PARSREC" train --model pop -o pop.st shop.st
says "Validation NDCG@10"
says "Where counting is better, use it: parsrec train --model mix"
ok "$PARSREC" train --model personal -o personal.st shop.st --json
cp stdout personal.json
same "$(compared personal.json | cut -d')' -f1)" "valid True [('remaining', False, ['pop', 'recent', 'markov', 'mix']" "its own kind is left out"
# A run that kept its checkpoint can be made longer: the same model as one that was longer from the start.
ok "$PARSREC" train -o k.st shop.st $small --epochs 1 --keep-checkpoint
ok test -s k.st.ckpt
ok "$PARSREC" train -o k.st shop.st --resume k.st.ckpt --epochs 3
says "Validation NDCG@10" # also after a resume
ok cmp m.st k.st
absent k.st.ckpt

# ---- an export that is sorted ----
# Baskets of a shop where people come for what they always buy; a program wrote them in the order of product
# numbers, of names, or of a column that is gone.
cat >sorted.py <<'EOF'
import random, sys
rng = random.Random(7)
hidden = list(range(60))
rng.shuffle(hidden)
order = {"number": lambda i: 1000 + i, "name": lambda i: f"Product {hidden[i]:02}", "hidden": lambda i: hidden[i],
         "none": lambda i: rng.random()}[sys.argv[1]]
print("user,session,item")
for user in range(60):
    own = rng.sample(range(60), 12)
    for session in range(14):
        basket = rng.sample(own, 5) + rng.sample(range(60), 2)
        for i in sorted(set(basket), key=order):
            print(f"u{user},{session},{1000 + i}")
with open("sorted_items.csv", "w") as f:
    print("item,name", file=f)
    for i in range(60):
        print(f"{1000 + i},Product {hidden[i]:02}", file=f)
EOF
# looks KIND WORDS: what is said of the export, by info and by training.
looks() {
    python3 sorted.py "$1" >sorted.csv
    ok "$PARSREC" import -o sorted.st sorted.csv --items sorted_items.csv
    ok "$PARSREC" info sorted.st
    says "$2"
    ok "$PARSREC" train -o sorted_model.st sorted.st $small --epochs 1
}
looks number "sorted by product number"
warns "items within baskets are sorted by product number (100 % of neighbours); this is not a shopping order, and it is not learnt (order = any)"
looks name "sorted by item name"
looks none "in no fixed order"
same "$(grep -c "no shopping order" stderr)" 0 "words of refusal"
python3 sorted.py hidden >sorted.csv
ok "$PARSREC" import -o sorted.st sorted.csv
ok "$PARSREC" info sorted.st --json
same "$(python3 -c 'import json; o = json.load(open("stdout"))["order"]; print(o["kind"], o["fixed_share"], o["learnt"])')" "fixed 1.0 False" "a hidden order"
ok "$PARSREC" train -o sorted_model.st sorted.st $small --epochs 1
warns "are in one fixed order, as a sort or a hash table leaves them (100 % of frequent pairs"
# A small shop, in which no pair meets often: sorted by a price, by a hash, by department, or not at all.
cat >small_shop.py <<'EOF'
import hashlib, random, sys
rng = random.Random(5)
price = [rng.randrange(100, 900) for _ in range(60)]
department = [rng.randrange(6) for _ in range(60)]
key = lambda i: 10 * i + 7 if i else "gift"
order = {"price": lambda i: price[i], "hash": lambda i: hashlib.sha1(b"%d" % i).digest(), "number": lambda i: i,
         "department": lambda i: department[i], "none": lambda i: rng.random()}[sys.argv[1]]
print("user,session,item")
for user in range(100):
    for session in range(int(sys.argv[2])):
        for i in sorted(rng.sample(range(60), 4), key=order):
            print(f"u{user},{session},{key(i)}")
EOF
for kind in price hash department; do
    python3 small_shop.py $kind 5 >small_shop.csv
    ok "$PARSREC" import -o small_shop.st small_shop.csv
    ok "$PARSREC" info small_shop.st
    says "in one fixed order, as a sort or a hash table leaves them"
    same "$(grep -c "pairs in a fixed order  *too few pairs" stdout)" 1 "frequent pairs"
    same "$(grep -c "learnt by order = auto  *no" stdout)" 1 "$kind is not learnt"
done
ok "$PARSREC" train -o sorted_model.st small_shop.st $small --epochs 1
warns "of pairs that occur again keep their order); this is not a shopping order, and it is not learnt (order = any)"
python3 small_shop.py none 5 >small_shop.csv
ok "$PARSREC" import -o small_shop.st small_shop.csv
ok "$PARSREC" info small_shop.st
says "in no fixed order"
# One key that is not a number does not hide a sort by number.
python3 small_shop.py number 5 >small_shop.csv
ok "$PARSREC" import -o small_shop.st small_shop.csv
ok "$PARSREC" info small_shop.st
says "sorted by product number"
python3 small_shop.py price 2 | head -60 >small_shop.csv
ok "$PARSREC" import -o small_shop.st small_shop.csv
ok "$PARSREC" info small_shop.st
says "not known: too few pairs of items occur together more than once"
same "$(grep -c "learnt by order = auto  *no" stdout)" 1 "what is not known is not learnt"
# Not below the counts, or the last line says so.
python3 sorted.py number >sorted.csv
ok "$PARSREC" import -o sorted.st sorted.csv
ok "$PARSREC" train -o sorted_model.st sorted.st --epochs 2 --json
same "$(python3 -c '
import json
b = json.load(open("stdout"))["baselines"]
behind = [r for r in b["protocols"] if r["verdict"] == "behind"]
print((b["verdict"] == "behind") == bool(behind), bool(behind) == ("is better" in b["sentence"] and "parsrec train --model" in b["sentence"]))')" \
    "True True" "what is behind counts is said to be"

# ---- settings ----
ok "$PARSREC" train --print-config --preset paper --set rate=0.25 --set history=decayed --epochs 7
mv stdout settings
ok "$PARSREC" train --print-config --config settings
mv stdout again
ok cmp settings again
ok grep -q '^rate = 0.25$' settings
fails 1 "there is no setting 'colour'" "$PARSREC" train -o x.st shop.st --set colour=red
fails 1 "setting rate: 'fast' is not a number from" "$PARSREC" train -o x.st shop.st --set rate=fast
fails 1 "setting heads: '0' is not a whole number from 1" "$PARSREC" train -o x.st shop.st --set heads=0
fails 1 "'rate' is not key=value" "$PARSREC" train -o x.st shop.st --set rate
fails 1 "heads = 3 does not divide" "$PARSREC" train -o x.st shop.st --set heads=3
fails 1 "there is no preset 'fancy'" "$PARSREC" train -o x.st shop.st --preset fancy
fails 1 "there is no model 'prophet'" "$PARSREC" train -o x.st shop.st --model prophet
printf 'rate = 0.1\nheads = many\n' >bad.conf
fails 1 "bad.conf:2: setting heads" "$PARSREC" train -o x.st shop.st --config bad.conf
fails 1 "No such file" "$PARSREC" train -o x.st shop.st --config nothing.conf

# ---- files that are none ----
fails 1 "shop.csv" "$PARSREC" train -o x.st shop.csv
echo "user,item" >text.st
fails 1 "text.st" "$PARSREC" train -o x.st text.st
fails 1 "m.st: is a model, not a data set" "$PARSREC" train -o x.st m.st
fails 1 "cannot be written" "$PARSREC" train -o nowhere/x.st shop.st $small
fails 1 "is a directory" "$PARSREC" train -o . shop.st $small
mkfifo pipe
fails 1 "pipe: is a device or a pipe" "$PARSREC" train -o pipe shop.st $small
fails 1 "m.st: is a finished model, not a checkpoint" "$PARSREC" train -o x.st shop.st --resume m.st
fails 2 "no output" "$PARSREC" train shop.st
fails 2 "name a file" "$PARSREC" train -o - shop.st
absent x.st x.st.log x.st.ckpt x.st.png x.st.svg

# A log without room for a line does not stop a run.
ln -s /dev/full f.st.log
ok "$PARSREC" train -o f.st shop.st $small --epochs 3
ok cmp m.st f.st

# ---- the table of settings in the manual ----
"$PARSREC" train --print-config | sed -n 's/^\([a-z][a-z0-9_.]*\) = \(.*\)/\1 \2/p' | sort >in_program
sed -n 's/^| `\([a-z][a-z0-9_.]*\)` | `\([^`]*\)` |.*/\1 \2/p' "$PARSREC_SOURCE/docs/training.md" | sort >in_manual
ok diff in_program in_manual

# ---- stopped and gone on ----
# Nothing here depends on how fast the machine is: a checkpoint follows every batch, a run is stopped when
# one is seen, and what was through before that is not counted.
ok "$PARSREC" synth -o s.st --users 32 --sessions 30
run="--set dim.user=8 --set dim.item=8 --set batch=16 --threads 2 --epochs 4"
often="--checkpoint-minutes 0"
ok "$PARSREC" train -o whole.st s.st $run

# state: of the checkpoint; differs whenever it was written again.
state() { stat -c '%i %y' cut.st.ckpt 2>/dev/null; }
# start WORDS...: trains in the background until a new checkpoint is there, or the end.
start() {
    before=$(state)
    "$PARSREC" train -o cut.st s.st "$@" $often >/dev/null 2>&1 &
    run_id=$!
    while kill -0 $run_id 2>/dev/null; do
        now=$(state)
        [ -n "$now" ] && [ "$now" != "$before" ] && break
        sleep 0.01
    done
}

for signal in INT TERM; do
    rm -f cut.st*
    stop_when $signal "[ -s cut.st.ckpt ] && [ ! -e cut.st ]" "rm -f cut.st*" "$PARSREC" train -o cut.st s.st $run $often
    same $code 1 "exit status after SIG$signal"
    same "$(cat stdout)" "" "output after SIG$signal"
    mv stderr err
    ok grep -q "^parsrec train: stopped in epoch [1-4] after [0-9]* of [0-9]* batches; resume with:$" err
    same "$(tail -1 err)" "  parsrec train -o cut.st s.st --resume cut.st.ckpt" "how to go on after SIG$signal"
    absent cut.st
    ok "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt
    ok cmp whole.st cut.st
    absent cut.st.ckpt
done
fails 1 "leave out --model, --preset" "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt --preset paper

# Killed many times, soon after a checkpoint was written; each run resumes from what the one before left.
rm -f cut.st*
kills=0
resumed=0
enough=20
[ -z "${PARSREC_SANITIZE:-}" ] || enough=8
for delay in 0 .013 .002 .031 .007 0 .023 .001 .017 .005 0 .041 .003 .011 .029 0 .009 .019 .001 .037 \
    0 .013 .002 .031 .007 0 .023 .001 .017 .005 0 .041 .003 .011 .029 0 .009 .019 .001 .037; do
    if [ -s cut.st.ckpt ]; then
        start --resume cut.st.ckpt
        resumed=$((resumed + 1))
    else
        start $run
    fi
    sleep $delay
    kill -9 $run_id 2>/dev/null
    wait $run_id 2>/dev/null
    if [ -s cut.st ]; then # it was through
        ok cmp whole.st cut.st
        rm -f cut.st cut.st.*
    else
        kills=$((kills + 1))
    fi
    [ $kills -eq $enough ] && break
done
if [ -s cut.st.ckpt ]; then ok "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt
else ok "$PARSREC" train -o cut.st s.st $run; fi
ok cmp whole.st cut.st
[ $kills -ge $((enough / 2)) ] && [ $resumed -ge $((enough / 4)) ] && pass || fail "only $kills kills and $resumed resumes"

# With two sessions per user nobody can be validated: no mix is fitted, and nothing is said of what it gains.
awk 'BEGIN { print "user,session,time,item"
    for (u = 0; u < 80; u++) for (s = 0; s < 2; s++) for (i = 0; i < 3; i++)
        printf "u%d,%d,%d,i%d\n", u, s, s, (u * 7 + s * 3 + i * 11) % 50 }' >two.csv
ok "$PARSREC" import -o two.st two.csv
ok "$PARSREC" train -o two.model two.st --epochs 1 --set dim.user=8 --set dim.item=8
if grep -q "the network adds" stderr; then fail "a gain of a mix that was not fitted"; else pass; fi

# unit.train keeps blocks in files under sanitizers, with fewer users.
[ -z "${PARSREC_SANITIZE:-}" ] || finish

# --max-memory: the same model from blocks in files, at any number of threads and after a resume. The least that
# suffices is in the refusal.
awk 'BEGIN { print "user,session,time,item"
    for (u = 0; u < 4000; u++) for (s = 0; s < 3; s++) for (i = 0; i < 2; i++)
        printf "u%d,%d,%d,i%d\n", u, s, s, (u * 7 + s * 3 + i * 11 + u % 13 * s) % 50 }' >many.csv
ok "$PARSREC" import -o many.st many.csv
wide="--epochs 1 --set dim.user=640 --set dim.item=8 --set heads=1"
ok "$PARSREC" train -o all.st many.st $wide --threads 2
if "$PARSREC" train -o few.st many.st $wide --threads 2 --max-memory 1M >stdout 2>stderr; then fail "trained in 1 MB"; fi
warns "max-memory of 1 MB is too little"
absent few.st
warns "with a part in temporary files ("
least=$(sed -n 's/.*too little: this training needs at least \([0-9]*\) MB.*/\1/p' stderr)
ok "$PARSREC" train -o few.st many.st $wide --threads 2 --max-memory $((least + 1))M
warns "in temporary files beside the model: the best epoch"
warns "rows of users and their moments"
ok cmp all.st few.st
ok "$PARSREC" train -o few.st many.st $wide --threads 1 --max-memory $((least + 1))M --keep-checkpoint
ok cmp all.st few.st
ok "$PARSREC" train -o more.st many.st --resume few.st.ckpt --epochs 2 --threads 2 --max-memory $((least + 1))M
ok "$PARSREC" train -o all.st many.st --resume few.st.ckpt --epochs 2
ok cmp all.st more.st
ok "$PARSREC" train -o few.st many.st $wide --max-memory 4G
warns "everything fits"
fails 1 "counts in one pass" "$PARSREC" train -o few.st many.st --model pop --max-memory 4G
