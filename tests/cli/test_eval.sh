# Evaluation: measures that can be worked out by hand, the same on any number of threads, and nonsense.
shop=$PARSREC_SOURCE/examples/corner_shop.csv
ok "$PARSREC" import -o shop.st "$shop"
ok "$PARSREC" train -o model.st shop.st --set dim.user=8 --set dim.item=8 --epochs 2
ok "$PARSREC" eval model.st shop.st
says "Sess-Prec"
# Without --protocol all three stand side by side; the members beside "protocols" are those of the first.
says "remaining                     next                   basket"
says "Recall@10"
ok "$PARSREC" eval model.st shop.st --json
cp stdout all.json
for p in remaining next basket; do
    ok "$PARSREC" eval model.st shop.st --json --protocol $p
    same "$(python3 -c '
import json, sys
a, b = json.load(open("all.json")), json.load(open("stdout"))
one = a["protocols"][sys.argv[1]]
if b["protocol"] == "remaining":
    assert {k: v for k, v in a.items() if k not in ("protocols", "seconds")} == {k: v for k, v in b.items() if k != "seconds"}
del one["seconds"], b["seconds"]
print(one == b)' $p)" True "all protocols at once give the figures of $p"
done
ok "$PARSREC" eval model.st shop.st --protocol remaining --json --k 1,47
# Every own item is among the first 47 of a catalogue of 47, for us and for a random ranker.
says '"HR@47": 1.0'
same "$(grep -c '"HR@47": 1.0' stdout)" 6 "all, repeat and new items, and a random ranker of each"
says '"Sess-Prec@47": 1.0'
without_time() { sed '/"seconds"/d'; }
one=$("$PARSREC" eval model.st shop.st --json --threads 1 | without_time)
three=$("$PARSREC" eval model.st shop.st --json --threads 3 | without_time)
same "$one" "$three" "1 and 3 threads"
# Another seed draws other items to rank against: here only where fewer than all are wanted.
few=$("$PARSREC" eval model.st shop.st --json --negatives 5 --seed 1 | without_time)
other=$("$PARSREC" eval model.st shop.st --json --negatives 5 --seed 2 | without_time)
if [ "$few" = "$other" ]; then fail "the seed changes nothing"; else pass; fi

# Some of the users, evenly spread: those whose keys the dump names, and no other figures than theirs.
ok "$PARSREC" eval model.st shop.st --protocol next --json --most-users 7 --dump-scores some.dump
cp stdout some.json
says '"users": 7'
python3 -c '
import json
print("\n".join(dict.fromkeys(json.loads(line)["user"] for line in open("some.dump") if "user" in line)))' >some.users
same "$(wc -l <some.users)" 7 "users of the dump"
ok "$PARSREC" eval model.st shop.st --protocol next --json --users some.users
same "$(without_time <stdout)" "$(without_time <some.json)" "the same users by their keys"
ok "$PARSREC" eval model.st shop.st --protocol next --json --most-users 100000
cp stdout every.json
ok "$PARSREC" eval model.st shop.st --protocol next --json
same "$(without_time <stdout)" "$(without_time <every.json)" "more users than there are"

# A ranker that knows nothing: each own item is as likely at any of 21 places among 20 others, so five
# places hold 5/21 = 0.238 of them; the draw is fixed, and 262 steps leave 0.026 of chance.
ok "$PARSREC" eval model.st shop.st --json --negatives 20 --k 5
floor=$(sed -n '/^  "random"/,/}/ s/.*"HR@5": \([0-9.]*\).*/\1/p' stdout)
if awk -v x="$floor" 'BEGIN {exit !(x > 0.16 && x < 0.32)}'; then pass; else fail "random HR@5 is $floor"; fi

printf 'user,session,item\n' >tiny.csv
for s in 1 2 3; do printf 'u,%s,a\nu,%s,b\n' $s $s; done >>tiny.csv
printf 'v,1,c\nv,2,d\n' >>tiny.csv
ok "$PARSREC" import -o tiny.st tiny.csv
ok "$PARSREC" train -o tiny_model.st tiny.st --set dim.user=4 --set dim.item=4 --epochs 1
ok "$PARSREC" eval tiny_model.st tiny.st --json --negatives 1 --k 1
says '"baskets": 1'
says '"steps": 2'

fails 1 "none of the 4 items of the data set is in the model's catalogue" "$PARSREC" eval model.st tiny.st

# ---- later data: users and items are matched by key ----
# The same shop with users and items in another order.
{ head -n 1 "$shop"; tail -n +2 "$shop" | sort -t, -k1,1r -s; } >turned.csv
ok "$PARSREC" import -o turned.st turned.csv
figures() { sed '/"seconds"/d; /"fingerprint"/d; /"data"/d'; }
for p in remaining next basket; do
    before=$("$PARSREC" eval model.st shop.st --protocol $p --json | figures)
    ok "$PARSREC" eval model.st turned.st --protocol $p --json
    same "$(figures <stdout)" "$before" "the same data in another order, $p"
    same "$(cat stderr)" "" "nothing to say of them"
done
before=$("$PARSREC" whatif model.st shop.st --drop item=1280 --json | figures)
ok "$PARSREC" whatif model.st turned.st --drop item=1280 --json
same "$(figures <stdout)" "$before" "what-if on the same data in another order"
# More users, more items, fewer of the old ones.
{
    tail -n +2 "$shop" | grep -v '^K01,'
    for s in 1 2 3 4; do printf 'NEW1,n%s,2024-03-0%s,1280\nNEW1,n%s,2024-03-0%s,1077\nNEW1,n%s,2024-03-0%s,9999\n' $s $s $s $s $s $s; done
    printf 'NEW2,m1,2024-03-01,9998\n'
} >rows
{ head -n 1 "$shop"; cat rows; } >later.csv
ok "$PARSREC" import -o later.st later.csv
users=$(cut -d, -f1 rows | sort -u | wc -l) items=$(cut -d, -f4 rows | sort -u | wc -l) actions=$(wc -l <rows)
told="2 of $users users are new to the model and served as unknown users; 2 of $items items (5 of $actions actions) are not in its catalogue and are left out, with sessions that have no other item"
ok "$PARSREC" eval model.st later.st --json
warns "$told"
same "$(grep -cF "not the one the model was trained on" stderr)" 1 "said once"
ok "$PARSREC" eval personal later.st
ok "$PARSREC" train --model personal -o counted.st shop.st
ok "$PARSREC" eval counted.st later.st
for command in "explain model.st later.st -o maps --by item --group cluster:2" "whatif model.st later.st --drop item=1280 -o answer" \
    "compare later.st --models model.st,counted.st,pop -o table"; do
    # shellcheck disable=SC2086 # words
    ok "$PARSREC" $command
    warns "$told"
done
fails 1 "parsrec would have to be trained: train it first, or leave it out" "$PARSREC" compare later.st --models model.st,parsrec -o other
fails 2 "--k 0" "$PARSREC" eval model.st shop.st --k 0
fails 2 "an argument is missing" "$PARSREC" eval model.st
printf 'user,item\nu,a\n' | "$PARSREC" import -o short.st - >/dev/null 2>&1
ok "$PARSREC" train -o short_model.st short.st --set dim.user=4 --set dim.item=4 --epochs 1
fails 1 "nobody can be evaluated" "$PARSREC" eval short_model.st short.st

# Users a, b and c had everything twice; d never had y. Popularity ranks x before y before z.
{
    printf 'user,session,item\n'
    for u in a b c; do
        for s in 1 2 3; do printf '%s,%s,x\n%s,%s,y\n' $u $s $u $s; done
    done
    for s in 1 2; do printf 'd,%s,x\nd,%s,z\n' $s $s; done
    printf 'd,3,x\nd,3,y\n'
} >four.csv
ok "$PARSREC" import -o four.st four.csv
ok "$PARSREC" train -o four_model.st four.st --model pop
ok "$PARSREC" eval four_model.st four.st --protocol basket --k 1,2 --json
says '"candidates": "all"'
says '"users": 4'
says '"Recall@1": 0.5'
says '"Precision@2": 1.0'
says '"NDCG@1": 1.0'
says '"PHR@1": 1.0'
# NDCG of one hit when the ideal counts both: 1 / (1 + 1 / log2 3).
says '"NDCG-whole@1": 0.613147'
ok "$PARSREC" eval four_model.st four.st --protocol basket --k 1,2
says "95 % from"
says "against the whole catalogue"
# Without what the user had, only y for d is left to be found, and it is the first that is left.
ok "$PARSREC" eval four_model.st four.st --protocol basket --exclude-seen --k 1 --json
says '"PHR@1": 0.25'

printf 'user\nd\n' >one.csv
ok "$PARSREC" eval four_model.st four.st --users one.csv --json
says '"users": 1'
printf 'd\nnobody\n' >strange.csv
fails 1 "strange.csv:2:1: user 'nobody' is not in the data set" \
    "$PARSREC" eval four_model.st four.st --users strange.csv
printf 'user,items\na,z x\nb,z\nc,z\nd,z\n' >lists.csv
ok "$PARSREC" eval four_model.st four.st --candidates lists.csv --k 1 --json
says '"HR@1": 1.0'
printf 'user,item\na,z\nb,z\nc,z\n' >lists.csv
fails 1 "user 'd' has no candidates" "$PARSREC" eval four_model.st four.st --candidates lists.csv
printf 'user,item\na,w\n' >lists.csv
fails 1 "item 'w' is not in the data set" \
    "$PARSREC" eval four_model.st four.st --candidates lists.csv
fails 1 "lists.csv" "$PARSREC" eval four_model.st four.st --candidates nowhere/lists.csv
fails 2 "excludes --negatives" "$PARSREC" eval four_model.st four.st --full --candidates popular
fails 2 "says how many" "$PARSREC" eval four_model.st four.st --candidates lists.csv --negatives 3
ok "$PARSREC" eval model.st shop.st --candidates popular --negatives 5 --protocol next
says "5 items drawn by popularity"

# ---- a split by time ----
# ann: two sessions before March and two from it on; bob: two before and none after; cy: one before and two
# after; dee: all after. Ann alone is evaluated, on her first session from March on.
cat >dated.csv <<'END'
user,session,time,item
ann,1,2020-01-05,tea
ann,1,2020-01-05,milk
ann,2,2020-02-05,tea
ann,2,2020-02-05,jam
ann,3,2020-03-05,tea
ann,3,2020-03-05,milk
ann,4,2020-04-05,jam
ann,4,2020-04-05,rum
bob,1,2020-01-06,tea
bob,1,2020-01-06,milk
bob,2,2020-02-06,tea
bob,2,2020-02-06,jam
bob,3,2020-02-07,jam
bob,3,2020-02-07,milk
cy,1,2020-02-01,milk
cy,1,2020-02-01,jam
cy,2,2020-03-01,rum
cy,2,2020-03-01,tea
cy,3,2020-03-02,rum
cy,3,2020-03-02,jam
dee,1,2020-05-01,rum
dee,1,2020-05-01,tea
END
ok "$PARSREC" import -o dated.st dated.csv
ok "$PARSREC" eval pop dated.st --protocol remaining
says "3 users, 3 baskets"
ok "$PARSREC" eval pop dated.st --protocol remaining --split-at 2020-03-01 --dump-scores dated.jsonl
says "1 user, 1 basket, 2 steps"
same "$(python3 -c '
import json
head, basket, step = [json.loads(l) for l in open("dated.jsonl")][:3]
print(basket["user"], basket["session"], [head["catalogue"][i] for i in basket["items"]])')" "ann 2 ['tea', 'milk']" "who is evaluated on what"
ok "$PARSREC" train --model pop -o dated_pop.st dated.st --split-at 2020-03-01
"$PARSREC" info dated_pop.st --json >stdout
same "$(python3 -c 'import json; d = json.load(open("stdout")); d = d.get("data", d); print(d["users"], d["sessions"])')" "4 7" "later sessions are not in the model's file"
ok "$PARSREC" train -o dated_model.st dated.st --epochs 1 --set dim.user=4 --set dim.item=4 --split-at 2020-03-01
ok "$PARSREC" eval dated_model.st dated.st --split-at 2020-03-01
cp stdout same_split
# The file says how its data were split, and the same split is the default.
ok "$PARSREC" eval dated_model.st dated.st
warns "note: dated_model.st was trained with --split-at 1583020800, which is used here too"
same "$(grep -v ' s;' stdout)" "$(grep -v ' s;' same_split)" "the split of the model"
ok "$PARSREC" compare dated.st --models pop,dated_model.st -o marked
warns "dated_model.st was trained with --split-at 1583020800, which is used here too"
ok "$PARSREC" train -o other_split.st dated.st --epochs 1 --set dim.user=4 --set dim.item=4 --split-at 2020-02-28
fails 1 "pass the later of the two" "$PARSREC" compare dated.st --models dated_model.st,other_split.st -o marked
ok "$PARSREC" train -o late_model.st dated.st --epochs 1 --set dim.user=4 --set dim.item=4
noteless() {
    "$@" 2>said
    status=$?
    grep -v '^tests ' said >&2
    return $status
}
fails 1 "train it with the same --split-at" noteless "$PARSREC" eval late_model.st dated.st --split-at 2020-03-01
ok "$PARSREC" compare dated.st --models pop -o dated_out --split-at 2020-03-01
fails 2 "expected a date" "$PARSREC" eval pop dated.st --split-at soon
fails 1 "no user has two sessions before" "$PARSREC" eval pop dated.st --split-at 2021-01-01
