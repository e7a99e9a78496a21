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
