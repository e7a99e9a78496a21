# parsrec train: the files beside a model, its mistakes, and runs that are stopped and go on.
small="--set dim.user=8 --set dim.item=8 --set batch=64"
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv" --items "$PARSREC_SOURCE/examples/corner_shop_items.csv"

# ---- one run and what it leaves ----
ok "$PARSREC" train -o m.st shop.st $small --epochs 3
says "validation HR@10"
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
same "$(cat events)" "['begin', 'epoch', 'epoch', 'epoch', 'finished'] 8 1 [1, 2, 3]" "the log"
ok "$PARSREC" train -o n.st shop.st $small --epochs 3 --threads 1 --json
same "$(python3 -c 'import json; r = json.load(open("stdout")); print(r["model"], r["finished"], r["epochs"], sorted(r["valid"]))')" \
    "n.st True 3 ['HR@10', 'NDCG@10', 'Sess-Prec@10']" "the JSON report"
ok cmp m.st n.st
# A run that kept its checkpoint can be made longer: the same model as one that was longer from the start.
ok "$PARSREC" train -o k.st shop.st $small --epochs 1 --keep-checkpoint
ok test -s k.st.ckpt
ok "$PARSREC" train -o k.st shop.st --resume k.st.ckpt --epochs 3
ok cmp m.st k.st
absent k.st.ckpt

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
fails 1 "is 'parsrec.model', not parsrec.data" "$PARSREC" train -o x.st m.st
fails 1 "cannot be written" "$PARSREC" train -o nowhere/x.st shop.st $small
fails 1 "is a directory" "$PARSREC" train -o . shop.st $small
fails 1 "not parsrec.checkpoint" "$PARSREC" train -o x.st shop.st --resume m.st
fails 2 "nothing to write" "$PARSREC" train shop.st
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
    # env makes the shell's ignored SIGINT of background jobs the default again.
    env --default-signal=INT "$PARSREC" train -o cut.st s.st "$@" $often >out 2>err &
    run_id=$!
    while kill -0 $run_id 2>/dev/null; do
        now=$(state)
        [ -n "$now" ] && [ "$now" != "$before" ] && break
        sleep 0.01
    done
}

for signal in INT TERM; do
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        rm -f cut.st*
        start $run
        kill -$signal $run_id 2>/dev/null
        wait $run_id
        code=$?
        [ -e cut.st ] || break
    done
    same $code 1 "exit status after SIG$signal"
    ok test ! -s out
    ok grep -q "^parsrec train: stopped in epoch [1-4] after [0-9]* of [0-9]* batches; go on with:$" err
    same "$(tail -1 err)" "  parsrec train -o cut.st s.st --resume cut.st.ckpt" "how to go on after SIG$signal"
    absent cut.st
    ok "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt
    ok cmp whole.st cut.st
    absent cut.st.ckpt
done
fails 1 "leave out --model, --preset" "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt --preset paper

# Killed 20 times, soon after a checkpoint was written; each run goes on from what the one before left.
rm -f cut.st*
kills=0
resumed=0
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
    [ $kills -eq 20 ] && break
done
if [ -s cut.st.ckpt ]; then ok "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt
else ok "$PARSREC" train -o cut.st s.st $run; fi
ok cmp whole.st cut.st
[ $kills -ge 10 ] && [ $resumed -ge 5 ] && pass || fail "only $kills kills and $resumed resumes"
