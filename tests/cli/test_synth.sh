# parsrec synth: equal bytes whatever the threads, its options, its mistakes.
small="--users 50 --sessions 12"

# ---- equal seeds, equal bytes ----
for threads in 1 2 5; do
    ok "$PARSREC" synth $small --threads $threads -o t$threads.st --csv t$threads.csv
done
ok cmp t1.st t2.st
ok cmp t1.st t5.st
ok cmp t1.csv t5.csv
ok "$PARSREC" synth $small --seed 2 -o other.st
if cmp -s t1.st other.st; then fail "seeds 1 and 2 give the same file"; else pass; fi
ok "$PARSREC" synth $small --csv -
mv stdout piped.csv
ok cmp piped.csv t1.csv
ok "$PARSREC" synth $small --csv alone.csv --json
says '"users": 50, "sessions": 600, "items": 2000'
ok cmp alone.csv t1.csv
same "$(head -1 t1.csv)" "user,session,time,item" "CSV header"
same "$(awk -F, 'NR > 1 && $2 != $1 "-" $3' t1.csv | wc -l)" 0 "session names that are not user-time"

# ---- groups from a file, the outside option ----
ok "$PARSREC" synth $small --groups "$PARSREC_SOURCE/examples/groups.json" -o groups.st --json
says '"groups": 2'
ok "$PARSREC" check groups.st
ok "$PARSREC" synth $small --outside -o outside.st --json
ok test "$(grep -o '"sessions": [0-9]*' stdout | tr -dc 0-9)" -lt 600
ok "$PARSREC" check outside.st
ok "$PARSREC" info t1.st
says "ground truth"

# ---- small worlds ----
ok "$PARSREC" synth --users 3 --sessions 2 --categories 2 --products 1 --csv -
same "$(wc -l <stdout)" 13 "rows of two-item baskets"

# ---- mistakes ----
fails 2 "nothing to write" "$PARSREC" synth
fails 2 "unexpected argument" "$PARSREC" synth data.st
fails 2 "cannot share standard output" "$PARSREC" synth --csv - --json
fails 2 "a whole number from 1 to" "$PARSREC" synth -o x.st --products 0
fails 2 "one of reference, paper" "$PARSREC" synth -o x.st --size-rule weibull
fails 1 "same file" "$PARSREC" synth -o x.st --csv x.st
fails 1 "GB" "$PARSREC" synth -o x.st --users 2000000000 --sessions 1000000
fails 1 "but --categories is 4" "$PARSREC" synth -o x.st --csv x.csv --categories 4 \
    --groups "$PARSREC_SOURCE/examples/groups.json"
fails 1 "No such file" "$PARSREC" synth -o x.st --csv x.csv --groups nowhere.json
fails 1 "is a directory" "$PARSREC" synth -o x.st --csv x.csv --groups .
echo '{"groups": [{"name": "A", "covariance": [[1, 2], [2, 1]]}]}' >bad.json
fails 1 "its smallest eigenvalue is -1" "$PARSREC" synth -o x.st --csv x.csv --groups bad.json \
    --categories 2
fails 1 "No such file" "$PARSREC" synth $small -o nowhere/x.st --csv x.csv
fails 1 "No space left" "$PARSREC" synth $small -o x.st --csv /dev/full
absent x.st x.csv
