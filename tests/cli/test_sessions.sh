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
# noteless COMMAND...: without the note that says what is tested.
noteless() {
    "$@" 2>said
    status=$?
    grep -v '^tests ' said >&2
    return $status
}

# Nothing is trained for an evaluation of nobody.
fails 1 "can be split by --test-days" "$PARSREC" compare clicks.st --models sasrec -o none
fails 1 "can be split by --test-days" "$PARSREC" compare clicks.st --models pop,sasrec --protocol next -o none
fails 1 "can be split by --test-days" "$PARSREC" ablate clicks.st --rows no-kin -o none
fails 1 "can be split by --test-days" "$PARSREC" tune clicks.st -o none
absent none
# Baskets of one item have nobody for the protocol remaining.
awk 'BEGIN { print "user,session,item"; for (u = 0; u < 9; u++) for (s = 0; s < 4; s++) printf "u%d,%d,i%d\n", u, s, (u + s) % 5 }' >single.csv
ok "$PARSREC" import -o single.st single.csv
fails 1 "pass --protocol next" "$PARSREC" compare single.st --models sasrec -o none
fails 1 "pass --protocol next" "$PARSREC" ablate single.st --rows no-kin -o none
absent none
ok "$PARSREC" compare single.st --models pop --protocol next -o single

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
fails 1 "has learnt from test sessions" noteless "$PARSREC" eval whole.st clicks.st --test-days 2
ok "$PARSREC" train -o again.st clicks.st $small --test-days 2 --threads 2
ok cmp parsrec.st again.st
ok "$PARSREC" train -o early.st clicks.st --epochs 1 --set dim.item=8 --set dim.user=8 --test-days 2 --keep-checkpoint
ok "$PARSREC" train -o early.st clicks.st --resume early.st.ckpt --epochs 2 --test-days 2
ok cmp parsrec.st early.st
ok "$PARSREC" compare clicks.st --models pop,sasrec:dim.item=8 --epochs 1 -o out --seeds 1 --test-days 2
says "sasrec"
ok "$PARSREC" ablate clicks.st --base sasrec:dim.item=8 --row one:layers=1 --epochs 1 -o rows --test-days 2
says "Last sessions: 12 baskets"
ok "$PARSREC" tune clicks.st --model sasrec --set dim.item=4,8 --trials 2 --epochs 1 -o search --test-days 2
says "--test-days 2"
ok "$PARSREC" train -o tuned.st clicks.st --model sasrec --config search/best.conf --seed 1 --test-days 2
ok cmp tuned.st "search/$(sed -n 's/.*"best": "\(.*\)".*/\1/p' search/report.json).st"

# One returning visitor among them does not change the question, and a note says what is tested.
{
    echo user,session,time,item
    sed -n '2,$s/^\(s[0-9]*\),/\1,\1,/p' clicks.csv
    for day in 01 05 20; do printf 'r,r%s,2021-01-%sT12:00:00,i1\nr,r%s,2021-01-%sT12:01:00,i2\n' $day $day $day $day; done
} >mixed.csv
ok "$PARSREC" import -o mixed.st mixed.csv
steps() { sed -n 's/.*, \([0-9]* baskets\{0,1\}\), .*/\1/p' stdout | head -1; }
ok "$PARSREC" eval pop mixed.st --test-days 2 --protocol next
warns "tests 12 sessions of users who begin from 2021-01-18T12:00:01Z on, without a history; 1 user who returns then is not tested (--split-by users)"
same "$(steps)" "12 baskets" "most test sessions are without a history"
ok "$PARSREC" eval pop mixed.st --test-days 2 --protocol next --split-by users
warns "tests the first session from 2021-01-18T12:00:01Z on of 1 returning user, given the sessions before it; 12 users who begin then are not tested (--split-by sessions)"
same "$(steps)" "1 basket" "the returning user"
for by in auto time sessions; do
    ok "$PARSREC" eval pop mixed.st --split-at 2021-01-19 --protocol next --split-by $by
    warns "tests 12 sessions of users who begin from 2021-01-19T00:00:00Z on"
done
fails 1 "no user has two sessions before that time" "$PARSREC" eval pop clicks.st --test-days 2 --split-by users
fails 2 "--split-by users needs --split-at TIME or --test-days N" "$PARSREC" eval pop mixed.st --split-by users
# A model file says which sessions were left for the test.
ok "$PARSREC" train -o by_users.st mixed.st --model sasrec $small --test-days 2 --split-by users
ok "$PARSREC" eval by_users.st mixed.st --protocol next
warns "of 1 returning user"
ok "$PARSREC" compare mixed.st --models by_users.st --only-listed -o by_users
warns "of 1 returning user"

fails 2 "exclude each other" "$PARSREC" eval pop clicks.st --test-days 2 --split-at 2021-01-19
fails 1 "all sessions would be test sessions" "$PARSREC" eval pop clicks.st --test-days 99
fails 1 "no user begins after it" "$PARSREC" eval pop clicks.st --split-at 2030-01-01
printf 'session,item\na,x\na,y\nb,x\n' >undated.csv
ok "$PARSREC" import -o undated.st undated.csv
fails 1 "no dates" "$PARSREC" eval pop undated.st --test-days 2
