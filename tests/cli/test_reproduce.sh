# bench/reproduce: its list is that of docs/results.md, a stage in its small form, and one that is done.
reproduce=$PARSREC_SOURCE/bench/reproduce
ok sh "$reproduce" --list
sed 's/ .*//' stdout | sort >listed
# Every stage stands under a heading of the results.
grep -o '^\*Stages\{0,1\} .*\*$' "$PARSREC_SOURCE/docs/results.md" | grep -o '`[a-z-]*`' | tr -d '`' | sort -u >told
same "$(comm -13 listed told)" "" "stages that are told of and not there"
same "$(comm -23 listed told)" "" "stages that results.md does not name"
fails 2 "there is no stage nonsense" sh "$reproduce" -o made nonsense
fails 2 "bench/reproduce" sh "$reproduce" --nonsense
absent made

SMALL=1 PARSREC_DATA=$folder/none
export SMALL PARSREC_DATA
ok sh "$reproduce" -o made counts oracle
for model in random pop markov recent personal oracle; do ok grep -q "^| $model | \." made/counts.md; done
same "$(grep -c '^| 1 | ' made/oracle.md)" 1 "rows of the oracle's table"
ok sh "$reproduce" -o made counts
cp stderr said
ok grep -q "done before" said
# A stage that cannot be done says why, leaves no table, and does not keep others from being done.
"$PARSREC_SOURCE/bench/reproduce" -o made one-epoch counts >stdout 2>said
same $? 1 "exit where a stage failed"
ok grep -q "is missing; set PARSREC_DATA" said
absent made/one-epoch.md made/one-epoch.part
