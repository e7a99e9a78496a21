# Bad input: one sentence with file, line and column and what to do, exit 1, nothing left behind.
# refused TEXT ARGUMENTS...: import says TEXT in one line and leaves no out.st.
refused() {
    text=$1
    shift
    fails 1 "$text" "$PARSREC" import -o out.st "$@"
    absent out.st
}
header='user,session,time,item'
good='u1,s1,1,apple'

printf '%s\n%s\nu1,s1\n' "$header" "$good" >cut.csv
refused "cut.csv:3:2: 2 fields where the header has 4; is the line cut?" cut.csv
printf '%s\n%s\nu1,s1,1,a,b\n' "$header" "$good" >wide.csv
refused "wide.csv:3:5: 5 fields where the header has 4" wide.csv
printf '%s\n%s\nu1,s2,soon,pear\n' "$header" "$good" >text.csv
refused "text.csv:3:3: the time 'soon' is neither a number nor a date" text.csv
printf '%s\nu1,s1,2010-13-01,a\n' "$header" >month.csv
refused "month.csv:2:3: the time '2010-13-01' has a month outside 01 to 12" month.csv
printf '%s\n%s\nu1,s2,2010-01-02,a\n' "$header" "$good" >mixed.csv
refused "mixed.csv:3:3: the time '2010-01-02' is of another kind than those before" mixed.csv
printf '%s\n%s\nu1,s1,1,\n' "$header" "$good" >noname.csv
refused "noname.csv:3:4: the item has no name" noname.csv
printf '%s\n,s1,1,apple\n' "$header" >nouser.csv
refused "nouser.csv:2:1: the user is empty" nouser.csv
printf '%s\n%s\n' "$header" "$good" >fine.csv
refused "fine.csv: there is no column 'buyer', only user, session, time, item; name yours with --user" \
    fine.csv --user buyer
refused "there is no column 'receipt'" fine.csv --session receipt
printf 'user,user,item\na,b,c\n' >twice.csv
refused "twice.csv: two columns are called 'user'" twice.csv

{
    printf '%s\n%s\n' "$header" "$good"
    head -c 10000000 /dev/zero | tr '\0' x
    printf '\n'
} >long.csv
refused "long.csv:3: the row is longer than 1 MiB; is a quote left open?" long.csv
printf '%s\n%s\nu1,s1,1,"pear\nu1,s1,1,plum\n' "$header" "$good" >quote.csv
refused "quote.csv:3:4: a quote is left open" quote.csv
printf '%s\nu1,s1,1,"pear" tree\n' "$header" >after.csv
refused "after.csv:2:4: text follows the closing quote" after.csv
printf '%s\n%s\nu1,s1,1,ap\000ple\n' "$header" "$good" >nul.csv
refused "nul.csv:3:4: a NUL byte; is this a text file?" nul.csv
printf '%s\n%s\nu1,s1,1,caf\351\n' "$header" "$good" >latin.csv
refused "latin.csv:3:4: byte 0xE9 is not UTF-8; for ISO 8859-1 or Windows-1252 add --encoding latin1" \
    latin.csv
ok "$PARSREC" import -o latin.st latin.csv --encoding latin1
printf '\377\376u\000s\000' >wide16.csv
refused "wide16.csv: is UTF-16 text, which import does not read; save it as UTF-8" wide16.csv
printf '%s\nu1,s1,5,apple\nu1,s2,3,pear\n' "$header" >back.csv
refused "back.csv:3:3: the time '3' lies before the row above of user 'u1'; sort the file or add --sort" \
    back.csv
ok "$PARSREC" import -o sorted.st back.csv --sort

: >empty.csv
refused "empty.csv: is empty; the first line must name the columns" empty.csv
printf '%s\n' "$header" >headeronly.csv
refused "headeronly.csv: there are no rows below the header" headeronly.csv
mkdir folder.csv
refused "folder.csv: is a directory; name a file" folder.csv
refused "missing.csv: cannot open for reading: No such file" missing.csv
refused "standard input (-) can be read once only" - -

# Compressed input that is cut or damaged.
i=0
while [ $i -lt 3000 ]; do
    echo "u$i,s1,1,item$i"
    i=$((i + 1))
done >body
{ echo "$header"; cat body; } >big.csv
gzip -k big.csv
head -c 5000 big.csv.gz >cut.csv.gz
refused "cut.csv.gz: the gzip data end too early; is the file cut?" cut.csv.gz
{ head -c 4000 big.csv.gz; printf 'damage'; tail -c +4007 big.csv.gz; } >hurt.csv.gz
refused "hurt.csv.gz: the gzip data are damaged" hurt.csv.gz
{ cat big.csv.gz; echo trailing; } >tail.csv.gz
refused "tail.csv.gz: other bytes follow the gzip data" tail.csv.gz
if command -v zstd >/dev/null; then
    zstd -q big.csv
    head -c 3000 big.csv.zst >cut.csv.zst
    refused "cut.csv.zst: the zstd data end too early; is the file cut?" cut.csv.zst
fi

# A disk that is full: a limit on file size, and the device that always is.
cat >limited <<'EOF'
ulimit -f 8
exec "$@"
EOF
fails 1 "out.st: writing failed: File too large" sh limited "$PARSREC" import -o out.st big.csv
absent out.st
if [ -w /dev/full ]; then
    fails 1 "/dev/full: writing failed (make room or write to another disk)" \
        "$PARSREC" import -o /dev/full big.csv
fi
fails 1 "nowhere/out.st: cannot be written" "$PARSREC" import -o nowhere/out.st fine.csv

# The reference's text.
ref='user_id,time,session_length,session_items'
printf '%s\n0,0,3,1,2\n' "$ref" >short.txt
refused "short.txt:2:3: session_length is 3 but 2 items follow; is the line cut?" short.txt
printf '%s\n0,0,two,1,2\n' "$ref" >word.txt
refused "word.txt:2:3: session_length 'two' is not a whole number" word.txt
printf '%s\n0,0,2,1,\n' "$ref" >hole.txt
refused "hole.txt:2:5: the item is empty; name it" hole.txt
printf '%s\n0,0\n' "$ref" >half.txt
refused "half.txt:2:2: 2 fields where at least 4 belong; is the line cut?" half.txt
printf '%s\n0,0,0\n' "$ref" >none.txt
refused "none.txt:2:3: 3 fields where at least 4 belong" none.txt
printf '%s\n0,x,1,5\n' "$ref" >when.txt
refused "when.txt:2:2: the time 'x' is neither" when.txt
refused "fine.csv: the header is not user_id,time,session_length,session_items; try --format csv" \
    fine.csv --format reference

# Tables about items, users and sessions.
printf 'item,name,price\napple,Apple,3\napple,Apfel,4\n' >items2.csv
refused "items2.csv:3:1: the item 'apple' occurs a second time" fine.csv --items items2.csv
printf 'item,name,price\napple,Apple,cheap\n' >price.csv
refused "price.csv:2:3: 'cheap' is not a number, but column 'price' must hold numbers" \
    fine.csv --items price.csv --number price
refused "feature column 'prize'" fine.csv --items price.csv --number prize
printf 'thing,name\napple,Apple\n' >nokey.csv
refused "nokey.csv: no column is recognised as the item among thing, name; its rows need that key" \
    fine.csv --items nokey.csv
printf 'user,age\n,3\n' >nobody.csv
refused "nobody.csv:2:1: the user is empty; name it" fine.csv --users nobody.csv
{
    printf 'item,category\napple,a'
    i=0
    while [ $i -lt 40 ]; do
        printf ' > a%s' $i
        i=$((i + 1))
    done
    echo
} >deep.csv
refused "deep.csv:2:2: the category has more than 32 levels" fine.csv --items deep.csv

# Sessions by time need times.
printf 'user,item\nu,a\n' >untimed.csv
refused "untimed.csv: no column is recognised as the time; name it with --time COL, because sessions are cut by time" untimed.csv --session-gap 30m
refused "are not dates or Unix seconds" fine.csv --session-by day
refused "sessions come from a column or are cut by time, not both" fine.csv --session session --session-by day
# A store that somebody else made: what becomes part of a query is a number.
python3 - <<'P'
import sqlite3
db = sqlite3.connect("foreign.db")
db.execute("CREATE TABLE parsrec_meta (name TEXT, value TEXT)")
db.execute("CREATE TABLE parsrec_events (id TEXT, user_key, session, time, items, user_hash, type)")
db.execute("INSERT INTO parsrec_meta VALUES ('store_id', 'x')")
db.execute("INSERT INTO parsrec_events VALUES ('1 OR 1', 'u', 's', 1, '[\"a\"]', '', 'buy')")
db.commit()
P
refused "the events cannot be read: the number of the newest is not a whole number" --events sqlite:foreign.db
refused "an address that begins with mysql: cannot be read; inputs are files" mysql://me:secret@host/shop
if grep -q secret stderr; then fail "a password is shown"; else pass; fi
refused "--table and --query are for sqlite:, postgresql:, duckdb: and parquet: inputs" fine.csv --table x
refused "nothing is left: no user and item have 5 actions each; lower --min-actions" fine.csv --min-actions 5
refused "has no times, but the inputs before it have" fine.csv untimed.csv

# --max-bad skips and counts; one more than allowed fails and names the first.
printf '%s\nu1,s1,1,apple\nu1,s1\nu1,s2,2,pear\nu1,s3,x,fig\nu1,s3,3,\n' "$header" >three.csv
refused "more than 2 bad rows; the first: three.csv:3:2: 2 fields" three.csv --max-bad 2
ok "$PARSREC" import -o three.st three.csv --max-bad 3
says "3  bad rows"
says "three.csv:3:2: 2 fields where the header has 4"
says "2  actions"
ok "$PARSREC" import -o long.st long.csv --max-bad 1
for line in "bad row" user session item action "session of one item"; do
    same "$(grep -c " 1  $line\$" stdout)" 1 "one $line"
done
ok "$PARSREC" import -o quote.st quote.csv --max-bad 1
says "2  actions"
ok "$PARSREC" import -o back.st back.csv --max-bad 1
says "1  action"
ok "$PARSREC" import -o items.st fine.csv --items items2.csv --max-bad 1
says "1  bad row of the items, users or sessions file"
printf '%s\nu1\nu2\n' "$header" >allbad.csv
refused "no good row is left" allbad.csv --max-bad 10

# Wrong usage.
fails 2 "pass -o DATA" "$PARSREC" import fine.csv
fails 2 "name an INPUT to read" "$PARSREC" import -o x.st
fails 2 "exclude each other" "$PARSREC" import -o x.st fine.csv --session-gap 1h --session-by day
fails 2 "a time such as 30m" "$PARSREC" import -o x.st fine.csv --session-gap soon

# Columns: all that are missing in one sentence, and questions where two fit.
printf 'Asiakas,Tuote,Hinta\nu,a,1\n' >strange.csv
refused "strange.csv: no column is recognised as the user or the item among Asiakas, Tuote, Hinta; name them with --user COL and --item COL" \
    strange.csv
refused "strange.csv: no column is recognised as the item among Tuote, Hinta; name it with --item COL" \
    strange.csv --user asiakas
refused "strange.csv: there are no columns 'buyer' and 'thing', only Asiakas, Tuote, Hinta; name yours with --user and --item" \
    strange.csv --user buyer --item thing
printf 'kayttaja,kuitti,pvm,tuote\nu,1,2024-01-01,a\n' >four.csv
refused "four.csv: no column is recognised as the user or the item among kayttaja, kuitti, pvm, tuote; name them with --user COL and --item COL; the session and the time were not recognised either (--session COL, --time COL)" four.csv
refused "name them with --user COL and --item COL; the time was not recognised either (--time COL)" four.csv --session kuitti
refused "four.csv: no column is recognised as the item among tuote; name it with --item COL" four.csv --user kayttaja --session kuitti --time pvm
if grep -q either stderr; then fail "no column is left for the session"; else pass; fi
# Lines above the header.
printf 'Sales of January\n\nuser;session;item\nu;1;a\n' >above.csv
refused "above.csv: the first line names no column that is recognised, but line 3 looks like the header; remove the lines before it" above.csv
printf 'Report,2024-01-31,\nCustomer ID,Invoice,"StockCode"\nu,1,a\n' >above.csv
refused "but line 2 looks like the header; remove the lines before it" above.csv
printf 'client,customer,item\nu,v,a\n' >two.csv
refused "two.csv: is the user the column 'client' or the column 'customer'? name it with --user" two.csv
printf 'u1,17,2020-01-01,apple\nu2,18,2020-01-02,pear\n' >bare.csv
refused "bare.csv: the first line is a row, not the names of columns (u1, 17, 2020-01-01, apple); put a line such as user,session,time,item above it" \
    bare.csv

# Dates of another form.
printf '%s\nu1,s1,31/12/2024,a\n' "$header" >day.csv
refused "day.csv:2:3: the date '31/12/2024' has another form; add --time-format '%d/%m/%Y'" day.csv
printf '%s\nu1,s1,1/2/2024,a\n' "$header" >either.csv
refused "either.csv:2:3: the date '1/2/2024' has another form; add --time-format '%d/%m/%Y', or '%m/%d/%Y' if the month comes first" \
    either.csv
printf '%s\nu1,s1,1/2/2024,a\nu1,s2,1/13/2024,b\n' "$header" >settled.csv
refused "settled.csv:2:3: the date '1/2/2024' has another form; add --time-format '%m/%d/%Y'" settled.csv
if grep -q "comes first" stderr; then fail "the rows below tell"; else pass; fi
refused "day.csv:2:3: the date '31/12/2024' has another form than --time-format '%m/%d/%Y'; add --time-format '%d/%m/%Y'" \
    day.csv --time-format '%m/%d/%Y'
printf '%s\nu1,s1,14:05,a\n' "$header" >clock.csv
refused "clock.csv:2:3: '14:05' is a time of day without a date; name the column of the date with --time" clock.csv
printf '%s\nu1,s1,45657.5,a\n' "$header" >excel.csv
refused "the time '45657.5' looks like a day number of Excel; add --time-format excel" excel.csv
printf '%s\nu1,s1,"45292,5",a\n' "$header" >comma.csv
refused "comma.csv:2:3: the time '45292,5' has a decimal comma; if it is a day number of Excel, add --time-format excel" comma.csv
printf '%s\nu1,s1,"1704067200,5",a\n' "$header" >comma.csv
refused "comma.csv:2:3: the time '1704067200,5' has a decimal comma; write it with a decimal point, or without the fraction" comma.csv
refused "comma.csv:2:3: the time '1704067200,5' has a decimal comma; write it" comma.csv --time-format s
printf '%s\nu1,s1,32.01.2024,a\n' "$header" >no_day.csv
refused "no_day.csv:2:3: the time '32.01.2024' has a day that its month does not have; correct it, or check --time-format '%d.%m.%Y'" \
    no_day.csv --time-format '%d.%m.%Y'
refused "no_day.csv:2:3: the time '32.01.2024' does not fit --time-format '%d/%m/%Y'" no_day.csv --time-format '%d/%m/%Y'
printf '%s\nu1,s1,2024-02-30,a\n' "$header" >no_day.csv
refused "the time '2024-02-30' has a day that its month does not have; correct it, or describe its form with --time-format" no_day.csv
printf '%s\nu1,s1,20241231,a\n' "$header" >digits.csv
refused "if they are dates, add --time-format '%Y%m%d'" digits.csv --session-by day
refused "--time-format '%d/%m' gives no date" fine.csv --time-format '%d/%m'

# Decimal commas that are ambiguous.
printf 'item,price\napple,"1,234"\n' >thousand.csv
refused "thousand.csv: column 'price': is the comma in '1,234' a decimal comma or does it part thousands?" \
    fine.csv --items thousand.csv
printf 'item;price\napple;1,5\npear;2.25\n' >mix.csv
refused "mix.csv: column 'price' has numbers with a decimal comma, such as '1,5', and others with a decimal point" \
    fine.csv --items mix.csv
