# Sessions without customers: import without a user column, splits by days and by a list, no leak.
awk 'BEGIN {
    print "session,time,item"
    for (s = 0; s < 120; s++) {
        first = s * 7 % 10
        for (k = 0; k < 2 + s % 3; k++)
            printf "s%d,2021-01-%02dT10:%02d:00,i%d\n", s, 1 + int(s / 6), s % 6 * 10 + k, (first + k) % 10
    }
}' >clicks.csv
ok "$PARSREC" import -o clicks.st clicks.csv
says "120  users"
says "120  sessions"
metric() { python3 -c 'import json, sys; r = json.load(sys.stdin); print(*[r[k] for k in sys.argv[2:]], "%.4f" % r["metrics"][sys.argv[1]])' "$@"; }
fails 1 "can be split by --test-days" "$PARSREC" eval pop clicks.st

# The last two days are twelve sessions of 2, 3 and 4 items: 24 questions after their first items.
ok "$PARSREC" eval pop clicks.st --test-days 2 --protocol next --full --k 5
says "12 users, 12 baskets, 24 steps"
"$PARSREC" eval markov clicks.st --test-days 2 --protocol next --full --k 1 --json | metric MRR@1 users steps >by_days
"$PARSREC" eval markov clicks.st --split-at 2021-01-19 --protocol next --full --k 1 --json | metric MRR@1 users steps >by_time
seq 108 119 | sed 's/^/s/' >listed
"$PARSREC" eval markov clicks.st --test-users listed --protocol next --full --k 1 --json | metric MRR@1 users steps >by_list
ok cmp by_days by_time
ok cmp by_days by_list
ok "$PARSREC" eval markov clicks.st --test-days 2 --split valid
says "10"

# What was ranked gives the same measures by another program.
for protocol in remaining next basket; do
    "$PARSREC" eval markov clicks.st --test-days 2 --protocol $protocol --full --k 1,5 --json --dump-scores s.jsonl >s.json
    ok python3 "$PARSREC_SOURCE/tests/cli/measures_peer.py" s.jsonl s.json
done

# Models that learn: their files do not know the test sessions, and others are refused.
small="--epochs 2 --set dim.item=8 --set dim.user=8"
for kind in parsrec sasrec; do
    ok "$PARSREC" train -o $kind.st clicks.st --model $kind $small --test-days 2
    ok "$PARSREC" eval $kind.st clicks.st --test-days 2 --protocol next --full --k 5
    says "24 steps"
    "$PARSREC" recommend $kind.st --user s119 >/dev/null 2>note
    ok grep -q "nothing is known of user 's119'" note
    ok "$PARSREC" recommend $kind.st --guest --basket i1,i2 -k 3
done
ok "$PARSREC" train -o whole.st clicks.st --model sasrec $small
fails 1 "has learnt from test sessions" "$PARSREC" eval whole.st clicks.st --test-days 2
ok "$PARSREC" train -o again.st clicks.st $small --test-days 2 --threads 2
ok cmp parsrec.st again.st
ok "$PARSREC" train -o early.st clicks.st --epochs 1 --set dim.item=8 --set dim.user=8 --test-days 2 --keep-checkpoint
ok "$PARSREC" train -o early.st clicks.st --resume early.st.ckpt --epochs 2 --test-days 2
ok cmp parsrec.st early.st
ok "$PARSREC" compare clicks.st --models pop,sasrec:dim.item=8 --epochs 1 -o out --seeds 1 --test-days 2
says "sasrec"

fails 2 "exclude each other" "$PARSREC" eval pop clicks.st --test-days 2 --split-at 2021-01-19
fails 1 "all sessions would be test sessions" "$PARSREC" eval pop clicks.st --test-days 99
fails 1 "no user begins after it" "$PARSREC" eval pop clicks.st --split-at 2030-01-01
printf 'session,item\na,x\na,y\nb,x\n' >undated.csv
ok "$PARSREC" import -o undated.st undated.csv
fails 1 "no dates" "$PARSREC" eval pop undated.st --test-days 2
