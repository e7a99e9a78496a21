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
# The run is made about five seconds long, whatever the build and the machine.
ok "$PARSREC" synth -o s.st --users 64 --sessions 30
run="--set dim.user=8 --set dim.item=8 --set batch=64 --threads 2"
began=$(date +%s%N)
ok "$PARSREC" train -o whole.st s.st $run --epochs 2
epochs=$((10000000000 / ($(date +%s%N) - began) + 1))
run="$run --epochs $epochs"
ok "$PARSREC" train -o whole.st s.st $run

# wait_for FILE: until it is there and not empty, or the run has ended.
wait_for() { while [ ! -s "$1" ] && kill -0 "$run_id" 2>/dev/null; do sleep 0.02; done; }

for signal in INT TERM; do
    rm -f cut.st*
    # env makes the shell's ignored SIGINT of background jobs the default again.
    env --default-signal=INT "$PARSREC" train -o cut.st s.st $run --checkpoint-minutes 0.01 >out 2>err &
    run_id=$!
    wait_for cut.st.log
    sleep 0.3
    kill -$signal $run_id
    wait $run_id
    same $? 0 "exit status after SIG$signal"
    same "$(sed -n 2p out)" "  parsrec train -o cut.st s.st --resume cut.st.ckpt" "how to go on after SIG$signal"
    absent cut.st
    ok "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt
    ok cmp whole.st cut.st
    absent cut.st.ckpt
done
fails 1 "leave out --model, --preset" "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt --preset paper

# Killed at 20 moments. A run that had no time for a checkpoint begins again.
rm -f cut.st*
kills=0
resumed=0
for delay in 0.61 0.83 0.37 1.02 0.74 0.55 0.91 0.68 1.13 0.49 0.87 0.59 0.96 0.71 1.07 0.63 0.79 0.52 0.99 0.66; do
    [ -s cut.st ] && rm -f cut.st cut.st.ckpt
    from=
    [ -s cut.st.ckpt ] && from="--resume cut.st.ckpt" && resumed=$((resumed + 1))
    settings=$run
    [ -n "$from" ] && settings=
    "$PARSREC" train -o cut.st s.st $settings $from --checkpoint-minutes 0.01 >out 2>err &
    run_id=$!
    sleep $delay
    kill -9 $run_id 2>/dev/null && kills=$((kills + 1))
    wait $run_id 2>/dev/null
    if [ -s cut.st ]; then ok cmp whole.st cut.st; fi
done
if [ ! -s cut.st ]; then
    if [ -s cut.st.ckpt ]; then ok "$PARSREC" train -o cut.st s.st --resume cut.st.ckpt
    else ok "$PARSREC" train -o cut.st s.st $run; fi
fi
ok cmp whole.st cut.st
[ $kills -ge 15 ] && [ $resumed -ge 3 ] && pass || fail "only $kills kills and $resumed resumes"
