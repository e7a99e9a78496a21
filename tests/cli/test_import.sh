# Sources, sessions, features, filters and the report of parsrec import.
# fields KEY FILE: a number out of info --json.
count() { "$PARSREC" info --json "$2" | tr ',{}' '\n\n\n' | sed -n "s/^ *\"$1\": *//p" | head -1; }
counts() { echo "$(count users "$1") $(count sessions "$1") $(count items "$1") $(count actions "$1")"; }

cat >shop.csv <<'EOF'
user,session,time,item
ann,1,2020-01-01,bread
ann,1,2020-01-01,milk
ann,1,2020-01-01,bread
bob,1,2020-01-02,milk
ann,2,2020-01-03,"tea, green"
ann,2,2020-01-03,"said ""hot"""
bob,,2020-01-04,bread
bob,,2020-01-04,milk
EOF
ok "$PARSREC" import -o shop.st shop.csv
says "8  rows"
says "1  repeats of an item within its basket"
says "7  actions"
ok "$PARSREC" check shop.st
same "$(counts shop.st)" "2 5 4 7" "users sessions items actions"

# The same table in every dress gives the same file.
sum() { cksum <"$1"; }
tr ',' '\t' <shop.csv | sed 's/tea\t green/tea, green/' >shop.tsv
sed 's/$/\r/' shop.csv >crlf.csv
{ printf '\357\273\277'; cat shop.csv; } >bom.csv
gzip -kc shop.csv >shop.csv.gz
{ head -n 3 shop.csv | gzip -c; tail -n +4 shop.csv | gzip -c; } >parts.csv.gz
cat shop.csv.gz >unnamed
awk -F, 'NR == 1 {print "item;extra;user;time;session"} NR > 1 {
    i = $4; for (k = 5; k <= NF; k++) i = i "," $k; print i ";x;" $1 ";" $3 ";" $2}' shop.csv >order.csv
same "$(sed -n 2p order.csv)" "bread;x;ann;2020-01-01;1" "rearranged columns"
for f in shop.tsv crlf.csv bom.csv shop.csv.gz parts.csv.gz unnamed order.csv; do
    ok "$PARSREC" import -o other.st "$f"
    same "$(counts other.st)" "2 5 4 7" "$f"
    ok "$PARSREC" check other.st
done
"$PARSREC" import -o stdin.st - <shop.csv >/dev/null || fail "standard input"
same "$(counts stdin.st)" "2 5 4 7" "standard input"
"$PARSREC" import -o stdin.st - <shop.csv.gz >/dev/null || fail "compressed standard input"
same "$(counts stdin.st)" "2 5 4 7" "compressed standard input"
if command -v zstd >/dev/null; then
    zstd -q shop.csv
    ok "$PARSREC" import -o other.st shop.csv.zst
    same "$(counts other.st)" "2 5 4 7" "zstd"
fi
"$PARSREC" import -o - shop.csv >piped.st 2>/dev/null
ok cmp piped.st shop.st

# Other names of columns; several files are one table.
printf 'who,what\nann,a\nbob,b\n' >names.csv
ok "$PARSREC" import -o names.st names.csv --user who --item what
same "$(counts names.st)" "2 2 2 2" "no session column: every action is a session"
head -n 5 shop.csv >one.csv
{ head -n 1 shop.csv; tail -n +6 shop.csv; } >two.csv
ok "$PARSREC" import -o both.st one.csv two.csv
same "$(counts both.st)" "2 5 4 7" "two files"

# Sessions cut by time.
cat >clicks.csv <<'EOF'
user,time,item
u,2021-03-01T23:50:00Z,a
u,2021-03-02T00:10:00Z,b
u,2021-03-02T00:41:00Z,c
u,2021-03-31T12:00:00Z,d
u,2021-04-01T12:00:00Z,d
v,2021-03-01T00:00:00Z,a
EOF
for rule in "--session-gap 20m:5" "--session-gap 30m:5" "--session-gap 31m:4" "--session-by day:5" \
    "--session-by week:3" "--session-by month:3"; do
    ok "$PARSREC" import -o cut.st clicks.csv ${rule%:*}
    same "$(count sessions cut.st)" "${rule#*:}" "sessions with $rule"
done
sort -r clicks.csv | grep -v user >body
{ head -n 1 clicks.csv; cat body; } >mess.csv
ok "$PARSREC" import -o cut.st mess.csv --session-gap 31m --sort
same "$(count sessions cut.st)" 4 "sorted before cutting"

# What is known of items, users, sessions.
cat >items.csv <<'EOF'
item,name,category,price,colour
bread,Bread,FOOD > BAKERY,2.5,brown
milk,Milk,FOOD,1,
ghost,Ghost,NOTHING,9,white
EOF
printf 'user,age,code\nann,31,7\n' >users.csv
printf 'session,user,rain\n1,ann,yes\n9,ann,no\n1,zoe,no\n' >sessions.csv
ok "$PARSREC" import -o full.st shop.csv --items items.csv --users users.csv --sessions sessions.csv \
    --categorical code
says "1  rows of the items file that name no item of the actions"
says "2  rows of the sessions file that name no session"
says "2  items that the items file does not list"
says "1  users that the users file does not list"
same "$(count categories full.st) $(count item_features full.st) $(count user_features full.st) $(count session_features full.st)" \
    "2 2 2 1" "categories and features"
ok "$PARSREC" check full.st

# The filter, by hand: c and then w fall, which takes b below two, which takes v.
cat >chain.csv <<'EOF'
user,item
u,a
u,d
v,a
v,b
w,b
w,c
x,a
x,d
EOF
ok "$PARSREC" import --json -o chain.st chain.csv --min-actions 2
same "$(tr ',{}' '\n\n\n' <stdout | grep -E 'filter|"(users|items|actions)"' | tr '\n' ' ')" \
    '"actions":4 "filter_rounds":4 "filtered_actions":4 "filtered_items":2 "filtered_users":2 "items":2 "users":2 ' \
    "chain of drops"
ok "$PARSREC" check chain.st

# The reference's text is known by its header.
printf 'user_id,time,session_length,session_items\n0,0,3,8,9,8\n1,0,2,9,7\n0,1,2,7,8\n' >reference.txt
ok "$PARSREC" import -o reference.st reference.txt
same "$(counts reference.st)" "2 3 3 6" "reference text"

# SQLite by table and by query.
if command -v sqlite3 >/dev/null; then
    sqlite3 'odd name#1.db' "CREATE TABLE lines(customer TEXT, receipt INT, day TEXT, sku TEXT);
        INSERT INTO lines VALUES ('ann', 1, '2020-01-01', 'bread'), ('ann', 1, '2020-01-01', 'milk'),
        ('bob', NULL, '2020-01-02', 'milk'), ('bob', NULL, '2020-01-03', 'milk');
        CREATE TABLE blank(x);"
    db='sqlite:odd name#1.db'
    ok "$PARSREC" import -o db.st "$db" --table lines --user customer --session receipt --time day --item sku
    same "$(counts db.st)" "2 3 2 4" "SQLite table"
    ok "$PARSREC" import -o db.st "$db" --query "SELECT customer AS user, sku AS item FROM lines WHERE day > '2020-01-01';"
    same "$(counts db.st)" "1 2 1 2" "SQLite query"
    fails 1 "there is no table 'orders', only blank, lines" "$PARSREC" import -o no.st "$db" --table orders
    fails 1 "name a table with --table or give --query" "$PARSREC" import -o no.st "$db"
    fails 1 "the query fails: no such column: nope" "$PARSREC" import -o no.st "$db" --query "SELECT nope FROM lines"
    fails 1 "more than one statement" "$PARSREC" import -o no.st "$db" --query "SELECT 1; SELECT 2"
    fails 1 "the query gives no columns" "$PARSREC" import -o no.st "$db" --query "DELETE FROM lines"
    fails 1 "row 1, column 2: the item has no name" "$PARSREC" import -o no.st "$db" --query "SELECT 1 AS user, '' AS item"
    fails 1 "sqlite:none.db: cannot be opened" "$PARSREC" import -o no.st sqlite:none.db --table lines
    fails 1 "sqlite:shop.csv: cannot be opened: file is not a database" "$PARSREC" import -o no.st sqlite:shop.csv --table x
    same "$(sqlite3 'odd name#1.db' 'SELECT count(*) FROM lines')" 4 "rows after a DELETE"
    absent none.db no.st
fi
