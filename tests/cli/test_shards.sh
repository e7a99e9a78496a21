# A data set as a folder of shards: the same bytes whatever the order of the rows, whether one process imports them or
# many, and whoever deals them; every command takes the folder; what is damaged or half written does not load.
python=/usr/bin/python3
rows=rows.csv
# Sessions with one time, rows without a session, repeats, users and items that sort otherwise than they appear.
awk 'BEGIN {
    print "user,session,time,item"
    for (u = 0; u < 60; u++)
        for (s = 0; s < 5; s++)
            for (k = 0; k < 2 + (u + s) % 4; k++)
                printf "%s%d,%s,2024-%02d-%02d %02d:00:0%d,%s%d\n", u % 3 ? "K" : "čč ", (u * 37) % 60,
                    s == 4 && u % 5 == 0 ? "" : "s" (9 - s), 1 + s - (s == 3), 1 + u % 28, u % 24, k % 2,
                    (u + k) % 5 ? "art" : "Art ", (u * 7 + s * 3 + k) % 30
}' >$rows
awk 'BEGIN { print "user,age,city"; for (u = 0; u < 60; u++) printf "%s%d,%d,%s\n", u % 3 ? "K" : "čč ", (u * 37) % 60,
    20 + u, u % 4 ? "town " u % 4 : "" }' >users.csv
awk 'BEGIN { print "item,name,category,price"; for (i = 29; i >= 0; i--) printf "art%d,thing %d,A > B%d,%d\nArt %d,t,C,1\n", i, i, i % 3, i, i }' >items.csv
# reordered KEYS >FILE: the same rows sorted otherwise.
reordered() {
    head -n 1 $rows
    tail -n +2 $rows | LC_ALL=C sort -t, "$@"
}
# equal A B WHAT: two folders have the same files with the same bytes.
equal() { if diff -r "$1" "$2" >stdout 2>stderr; then pass; else fail "$3: $1 and $2 differ"; fi; }
shards=7

ok "$PARSREC" import --shards=$shards -o one $rows --items items.csv --users users.csv
same "$(ls one | tr '\n' ' ')" "dictionary.st manifest.st shard-0000.st shard-0001.st shard-0002.st shard-0003.st shard-0004.st shard-0005.st shard-0006.st " "files"
ok "$PARSREC" import -o file.st $rows --items items.csv --users users.csv --sort

# ---- the order of rows, and memory, do not matter ----
reordered -k4,4r >by_item.csv
reordered -k3,3 -k1,1r >by_time.csv
ok "$PARSREC" import --shards=$shards -o two by_item.csv --items items.csv --users users.csv --max-memory 64M
equal one two "rows by item"
(head -n 1 items.csv && tail -n +2 items.csv | sort -r) >items2.csv
(head -n 1 users.csv && tail -n +2 users.csv | sort -r) >users2.csv
ok sh -c '"$PARSREC" import --shards=7 -o three - --items items2.csv --users users2.csv <by_time.csv'
equal one three "standard input, rows by time"
(head -n 300 $rows) >half1.csv
(head -n 1 $rows && tail -n +301 $rows) >half2.csv
ok "$PARSREC" import --shards=$shards -o four half2.csv half1.csv --items items.csv --users users.csv
equal one four "two inputs"
ok "$PARSREC" import --shards=1 -o single $rows
chmod 700 single
ok "$PARSREC" import --shards=1 -o single $rows
same "$(stat -c %a single)" 700 "rights of a folder that is replaced"
same "$(ls single | tr '\n' ' ')" "dictionary.st manifest.st shard-0000.st " "files of one shard"
ok "$PARSREC" import --shards -o many $rows
same "$(ls many | wc -l)" 258 "files of 256 shards"
ok "$PARSREC" check many
says "parsrec.shards version 1"

# ---- many processes ----
ok "$PARSREC" import --shards=$shards --dictionary -o steps by_item.csv --items items.csv
says "7  shards are still to be written"
fails 1 "steps: is not complete: 7 of 7 shards are missing; the first is written with parsrec import --shard 0/7" "$PARSREC" info steps
seq 0 6 | xargs -P 4 -I{} "$PARSREC" import --shard {}/7 -o steps by_time.csv --users users.csv --json >reports 2>stderr
same "$(grep -c '"missing_shards"' reports)" 7 "reports"
equal one steps "seven processes that each read all rows"
# The dictionary needs items and times only, and each only once; here from another table.
(echo item,time && awk -F, 'NR > 1 && !seen[$4]++ {print $4 "," $3}' $rows) >items_and_times.csv
ok "$PARSREC" import --shards=$shards --dictionary -o thin items_and_times.csv --items items.csv
equal one/dictionary.st thin/dictionary.st "a dictionary of the different items"
# The rows dealt by the MD5 of md5sum: a folder per shard, and every process is given all of them.
mkdir dealt
tail -n +2 $rows | cut -d, -f1 | sort -u | while read -r user; do
    echo "$user,$((0x$(printf %s "$user" | md5sum | cut -c1-8) % shards))"
done >shard_of.csv
awk -F, 'NR == FNR { shard[$1] = $2; next } FNR > 1 { print > ("dealt/" shard[$1] ".csv") }' shard_of.csv $rows
for k in 0 1 2 3 4 5 6; do
    mkdir dealt/shard=$k
    (head -n 1 $rows && cat dealt/$k.csv) >dealt/shard=$k/rows.csv && rm dealt/$k.csv
done
for k in 6 5 4 3 2 1 0; do
    ok "$PARSREC" import --shard $k/7 -o thin dealt/shard=*/rows.csv --users users.csv
    grep -q "belong to other shards" stdout && fail "shard $k read rows of others"
done
equal one thin "rows dealt beforehand"
fails 1 "belongs to shard" "$PARSREC" import --shard 2/7 -o thin --users users.csv dealt/shard=2/../shard=3/rows.csv
mv dealt/shard=3 dealt/three && mkdir dealt/shard=3 && cp dealt/shard=2/rows.csv dealt/shard=3/
fails 1 "belongs to shard 2 of 7, not to 3; deal the rows as docs/shards.md says" "$PARSREC" import --shard 3/7 -o thin --users users.csv dealt/shard=3/rows.csv --max-bad 1000
equal one thin "after a refused shard"

# ---- rules are the dictionary's ----
for rule in "--session-by day" "--session-gap 2h" "--ordered" "--session '' --time-format %Y-%m-%d\ %H:%M:%S"; do
    eval "ok \"\$PARSREC\" import --shards=3 -o by_rule $rows $rule"
    columns=
    case $rule in *time-format*) columns=$rule ;; esac
    rm -rf by_steps
    eval "ok \"\$PARSREC\" import --shards=3 --dictionary -o by_steps $rows $rule"
    for k in 0 1 2; do eval "ok \"\$PARSREC\" import --shard $k/3 -o by_steps $rows $columns"; done
    equal by_rule by_steps "$rule"
done
fails 1 "another --session-by, --session-gap or --ordered" "$PARSREC" import --shard 0/3 -o by_steps $rows --session-by week
fails 1 "by_steps: has 3 shards, not 4; pass --shard K/3" "$PARSREC" import --shard 0/4 -o by_steps $rows
# With --ordered the rows of one basket and time keep their order; others do not matter.
ok "$PARSREC" import --shards=3 -o ordered $rows --ordered
(head -n 1 $rows && tail -n +2 $rows | sort -s -t, -k1,1) >by_user.csv
ok "$PARSREC" import --shards=3 -o ordered2 by_user.csv --ordered
equal ordered ordered2 "--ordered"

# ---- what is counted is what a file has ----
for of in users sessions items actions; do
    count() { "$PARSREC" info "$1" --json | tr -d ' ' | grep -o "\"$of\":[0-9]*" | head -n 1; }
    same "$(count one)" "$(count file.st)" "$of"
done
ok "$PARSREC" import --shards=4 -o core $rows --min-actions 12
ok "$PARSREC" import -o core.st $rows --min-actions 12 --sort
for of in users sessions items actions; do same "$(count core)" "$(count core.st)" "$of with --min-actions"; done
same "$("$PARSREC" info core --json | grep -c '"users": 60,')" 0 "users dropped by --min-actions"
"$PARSREC" export one -o - | tail -n +2 | cut -d, -f1,3,4 | sort >from_folder
"$PARSREC" export file.st -o - | tail -n +2 | cut -d, -f1,3,4 | sort >from_file
ok cmp from_folder from_file
ok "$PARSREC" import --shards=$shards -o again $rows --items items.csv --users users.csv --name shop
if cmp -s one/manifest.st again/manifest.st; then fail "--name is not part of the data set"; else pass; fi

# ---- commands take a folder ----
small="--epochs 1 --set dim.user=8 --set dim.item=8"
ok "$PARSREC" train -o one.model one $small --threads 2
ok "$PARSREC" train -o thin.model thin $small --threads 1
ok cmp one.model thin.model
ok "$PARSREC" eval one.model one
ok "$PARSREC" recommend one.model --user K1 -k 3
ok "$PARSREC" recommend one.model --all -o all.csv
ok "$PARSREC" explain one.model one -o maps
ok "$PARSREC" whatif one.model one -o shelf --drop item=art1
ok "$PARSREC" compare one --models pop,personal -o table
ok "$PARSREC" list one users
ok "$PARSREC" list one items
ok "$PARSREC" info one
ok "$PARSREC" info one.model
fails 1 "is a directory; name a file (only a data set may be a folder)" "$PARSREC" recommend one --user K1
own=$(sed -n "s/^K1,//p" shard_of.csv)
fails 1 "one: is a data set, and users are removed from models; to have it without user 'K1', remove the rows and run parsrec import --shard $own/7 again" "$PARSREC" forget one -o x --user K1
# That is how a user leaves.
cp -r one fewer
grep -v '^K1,' $rows >without.csv
ok "$PARSREC" import --shard $own/7 -o fewer without.csv --users users.csv
ok "$PARSREC" check fewer
same "$("$PARSREC" info fewer --json | grep -c '"users": 59,')" 1 "users without one"
same "$("$PARSREC" export fewer -o - | grep -c '^K1,')" 0 "rows of a user who left"

# ---- damage ----
broken() {
    rm -rf bad && cp -r one bad
}
broken && rm bad/shard-0003.st
fails 1 "bad: shard 3 of 7 is missing; write it with parsrec import --shard 3/7" "$PARSREC" train -o x.model bad
broken && cp bad/shard-0002.st bad/shard-0003.st
fails 1 "bad/shard-0003.st: is not shard 3 of 7 of this folder's dictionary" "$PARSREC" check bad
broken && cp by_rule/shard-0002.st bad/
fails 1 "bad/shard-0002.st: is not shard 2 of 7 of this folder's dictionary" "$PARSREC" check bad
broken && cp fewer/shard-000$own.st bad/
fails 1 "bad/shard-000$own.st: is not the file that the manifest names; write it again with parsrec import --shard $own/7" "$PARSREC" check bad
broken && head -c 500 one/shard-0001.st >bad/shard-0001.st
fails 1 "bad/shard-0001.st" "$PARSREC" check bad
broken && printf 'x' | dd of=bad/shard-0001.st bs=1 seek=900 conv=notrunc 2>dd.err
fails 1 "bad/shard-0001.st" "$PARSREC" check bad
broken && rm bad/dictionary.st
fails 1 "bad: has no dictionary.st" "$PARSREC" check bad
broken && cp by_rule/dictionary.st bad/
fails 1 "bad: the dictionary is not the one that the manifest names; import anew" "$PARSREC" check bad
broken && rm bad/manifest.st
fails 1 "bad: has no manifest.st, because the last import was interrupted; run it again, or parsrec import --shard 0/7" "$PARSREC" check bad
ok "$PARSREC" import --shard 0/7 -o bad $rows --users users.csv
equal one bad "a manifest made again"
broken && : >bad/manifest.st
fails 1 "bad/manifest.st" "$PARSREC" check bad
broken && cp by_rule/manifest.st bad/
fails 1 "bad" "$PARSREC" check bad
broken && ok "$PARSREC" import --shard 1/7 -o bad $rows
fails 1 "are not those of shard 0; import all shards with the same --users" "$PARSREC" check bad
ok "$PARSREC" check one/dictionary.st
ok "$PARSREC" check one/manifest.st
fails 1 "is one shard of a data set; name its folder" "$PARSREC" check one/shard-0001.st
fails 1 "is one shard of a data set; name its folder" "$PARSREC" info one/shard-0001.st

# ---- what must not be written over; what is not accepted ----
fails 1 "file.st: is a file, but shards are written to a folder" "$PARSREC" import --shards -o file.st $rows
mkdir mine && echo x >mine/letter
fails 1 "mine: the folder holds 'letter', which is not part of a data set" "$PARSREC" import --shards -o mine $rows
same "$(ls mine)" letter "a folder of somebody else"
for name in shard-7.st shard--007.st 'shard- 007.st' shard-0007.st2; do
    rm -rf mine && mkdir mine && echo x >"mine/$name"
    fails 1 "mine: the folder holds '$name', which is not part of a data set" "$PARSREC" import --shards -o mine $rows
    same "$(ls mine)" "$name" "a folder of somebody else"
done
fails 1 "is a directory" "$PARSREC" import -o one $rows --sort
fails 1 "one: has shards of an earlier dictionary; remove the folder or name another" "$PARSREC" import --dictionary -o one $rows
fails 1 "nothing: has no dictionary.st; write it first, with parsrec import --dictionary -o nothing INPUT..." "$PARSREC" import --shard 0/7 -o nothing $rows
fails 1 "the dictionary has no item 'new'" sh -c '(cat "$1"; echo K1,s1,2024-01-01,new) | "$PARSREC" import --shard $2/7 -o one - --users users.csv' - $rows $own
equal one two "after a refused row"
fails 1 "are plain numbers, but those of the dictionary are dates" sh -c 'printf "user,time,item\nK1,5,art1\n" | "$PARSREC" import --shard $1/7 -o one - --users users.csv' - $own
fails 1 "because shards are sorted by time" "$PARSREC" import --shards -o x $rows --time ''
fails 1 "leave out --sessions" "$PARSREC" import --shards -o x $rows --sessions $rows
fails 1 "--min-actions needs all rows at once" "$PARSREC" import --dictionary -o x $rows --min-actions 3
fails 1 "--items belongs to the dictionary" "$PARSREC" import --shard 0/7 -o one $rows --items items.csv
fails 1 "--users belongs to the shards" "$PARSREC" import --dictionary -o x $rows --users users.csv
fails 1 "nowhere.csv" "$PARSREC" import --dictionary -o x nowhere.csv
fails 1 "nowhere.csv" "$PARSREC" import --shards -o x nowhere.csv
fails 1 "no/where" "$PARSREC" import --shards -o no/where $rows
fails 1 "not to standard output" "$PARSREC" import --shards -o - $rows
fails 2 "expected K/N" "$PARSREC" import --shard 7/7 -o one $rows
fails 2 "expected K/N" "$PARSREC" import --shard 7 -o one $rows
fails 2 "a whole number from 1 to 4096" "$PARSREC" import --shards=5000 -o x $rows
fails 2 "excludes" "$PARSREC" import --shards --shard 1/7 -o one $rows
absent x

# ---- killed in the middle; replaced as a whole ----
mkfifo pipe
start_import() { # its rows never end
    "$PARSREC" import --shards=$shards -o "$1" - <pipe >import.out 2>&1 &
    import=$!
    exec 9>pipe
    cat $rows >&9
    wait_for sh -c "ls -d $1.*.tmp >/dev/null 2>&1"
}
stop_import() {
    kill -9 $import
    wait $import 2>kill.err
    exec 9>&-
}
start_import fresh
stop_import
fails 1 "fresh" "$PARSREC" info fresh
same "$(ls -d fresh.*.tmp | wc -l)" 1 "what a killed import leaves"
cp -r single stays
start_import stays
equal single stays "while another import is under way"
stop_import
ok "$PARSREC" check stays
ok "$PARSREC" import --shards=$shards -o fresh $rows --items items.csv --users users.csv
equal one fresh "after a kill"
absent fresh.0
same "$(ls -d fresh.*.tmp 2>/dev/null)" "" "leftovers of the killed import"
ok "$PARSREC" import --shards=$shards -o stays $rows --items items.csv --users users.csv
equal one stays "a folder that was replaced"
same "$(ls -d stays.*.tmp 2>/dev/null)" "" "leftovers"

# statements HEADING: the first block of SQL below it in docs/shards.md, with 7 shards instead of 256.
statements() {
    awk -v heading="## $1" '$0 == heading { on = 1 } on && sql && /^```$/ { exit } sql { print } on && /^```sql/ { sql = 1 }' \
        "$PARSREC_SOURCE/docs/shards.md" | sed 's/256/7/g'
}

# ---- PostgreSQL gives each process the rows of its shard ----
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    . "$PARSREC_SOURCE/tests/cli/postgres.sh"
    ok psql -q "$url" -c 'CREATE TABLE orders("user" text, session text, "time" text, item text)' \
        -c "\\copy orders FROM '$folder/$rows' CSV HEADER"
    ok "$PARSREC" import --shards=7 --dictionary -o postgres "$url" --table orders --items items.csv
    for k in 0 1 2 3 4 5 6; do
        ok "$PARSREC" import --shard $k/7 -o postgres "$url" --users users.csv --query "$(statements PostgreSQL | sed "s/= 17;/= $k/")"
        grep -q "belong to other shards" stdout && fail "PostgreSQL gave shard $k rows of others"
    done
    equal one postgres "rows chosen by PostgreSQL"
else
    left_out "PostgreSQL's recipe for shards: the server is not installed"
fi

# ---- DuckDB deals the rows: the recipe of docs/shards.md ----
duckdb=$PARSREC_SOURCE/build/duckdb/libduckdb.so
if [ ! -e "$duckdb" ]; then
    left_out "DuckDB's recipe for shards: scripts/get_duckdb.sh fetches its library"
    return
fi
PARSREC_DUCKDB=$duckdb
export PARSREC_DUCKDB
cat >query.py <<'P'
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 16)()
library.duckdb_result_error.restype = ctypes.c_char_p
if library.duckdb_open(None, ctypes.byref(database)) or library.duckdb_connect(database, ctypes.byref(connection)):
    sys.exit("DuckDB does not open")
if library.duckdb_query(connection, sys.stdin.read().encode(), ctypes.byref(result)):
    sys.exit(library.duckdb_result_error(ctypes.byref(result)).decode())
P
statements DuckDB >recipe.sql
ok grep -q PARTITION_BY recipe.sql
mkdir orders
echo "COPY (SELECT * FROM read_csv('$rows', all_varchar = true)) TO 'orders/rows.parquet' (FORMAT parquet);" >orders.sql
for statements in orders recipe; do
    ok sh -c '"$1" query.py "$2" <"$3"' - "$python" "$duckdb" $statements.sql
done
ok "$PARSREC" import --shards=7 --dictionary -o duck items_times.parquet --items items.csv
for k in 0 1 2 3 4 5 6; do
    ok "$PARSREC" import --shard $k/7 -o duck parts/shard=*/*.parquet --users users.csv
done
equal one duck "rows dealt by DuckDB"
