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
says "1  repeat of an item within its basket"
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
says "1  row of the items file that names no item of the actions"
says "2  rows of the sessions file that name no session"
says "2  items that the items file does not list"
says "1  user that the users file does not list"
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
same "$(sed 's/"columns":\[[^]]*\],//' stdout | tr ',{}' '\n\n\n' | grep -E 'filter|"(users|items|actions)"' | tr '\n' ' ')" \
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

# Columns by the names that people give them. taken: the report's first lines, in one.
taken() { sed -n '/^columns/,/^read/p' stdout | sed '1d;$d' | tr -s ' \n' ' '; }
cat >orders.csv <<'X'
Customer ID,BASKET_ID,InvoiceDate,StockCode,Quantity,Price
7 ,1,2020-01-01,a,1,2
7,1,2020-01-01, b,1,3
8,2,2020-01-02,a ,1,2
8,2,2020-01-02,c,5,2
X
ok "$PARSREC" import -o orders.st orders.csv
same "$(taken)" " actions user = Customer ID, session = BASKET_ID, time = InvoiceDate, item = StockCode, quantity = Quantity unused: Price " \
    "recognised columns"
says "3  keys had spaces around them, which were removed"
same "$(counts orders.st)" "2 2 3 4" "trimmed keys are one"
same "$(cat stderr)" "" "no warning"
# Naming some columns leaves the others recognised.
ok "$PARSREC" import -o named.st orders.csv --user "customer id" --item stockcode
ok cmp orders.st named.st
ok "$PARSREC" import -o named.st orders.csv --session ''
same "$(count sessions named.st)" 4 "no session on request"
same "$(cat stderr)" "warning: no column was recognised as the session, so every action is a basket of one item (unused columns: BASKET_ID, Price); name it with --session COL, or cut sessions by time with --session-by day or --session-gap 30m" \
    "warning for baskets of one item"
says "4  sessions of one item"
ok "$PARSREC" info named.st
says "warning: nearly every basket has only one item"
same "$("$PARSREC" info --json named.st | grep -c '"one_item_baskets": *true')" 1 "info --json"
"$PARSREC" train -o named.model named.st --model pop >stdout 2>stderr </dev/null || fail "train"
same "$(grep -c '^warning: nearly every basket has only one item' stderr)" 1 "train warns"
for names in user,item customer,product client_id,EAN Household_Key,Product.ID member,sku buyer,upc \
    User-ID,Article-Number; do
    { echo "$names,order_id,date"; echo u,a,1,2020-01-01; echo u,b,1,2020-01-01; } >names.csv
    ok "$PARSREC" import -o names.st names.csv
    same "$(counts names.st)" "1 1 2 2" "names $names"
done
# German, French and Spanish headings, in any encoding: accents are left out.
german() { printf 'Bonnummer;Bondatum;Kunden-Nr.;Artikelnummer;Menge\n1;2020-01-01;k;a;1\n1;2020-01-01;k;b;2\n'; }
german >german.csv
printf 'Artikelnummer;Artikelbezeichnung;Warengruppe\na;\303\204pfel;OBST\nb;Brot;BACKWAREN\n' >waren.csv
ok "$PARSREC" import -o german.st german.csv --items waren.csv
same "$(taken)" " actions user = Kunden-Nr., session = Bonnummer, time = Bondatum, item = Artikelnummer, quantity = Menge items item = Artikelnummer, name = Artikelbezeichnung, category = Warengruppe " \
    "German headings"
printf 'id_client,num_commande,date_achat,code_produit\nk,1,2020-01-01,a\nk,1,2020-01-01,b\n' >french.csv
ok "$PARSREC" import -o french.st french.csv
same "$(taken)" " actions user = id_client, session = num_commande, time = date_achat, item = code_produit " "French headings"
printf 'cliente,pedido,fecha,c\303\263digo_art\303\255culo\nk,1,2020-01-01,a\nk,1,2020-01-01,b\n' >spanish.csv
ok "$PARSREC" import -o spanish.st spanish.csv
same "$(taken)" " actions user = cliente, session = pedido, time = fecha, item = código_artículo " "Spanish headings"
while IFS=' ' read -r user session time item quantity; do
    { echo "$user;$session;$time;$item;$quantity"; echo 'k;1;2020-01-01;a;1'; echo 'k;1;2020-01-01;b;1'; } >foreign.csv
    ok "$PARSREC" import -o foreign.st foreign.csv
    same "$(taken)" " actions user = $user, session = $session, time = $time, item = $item, quantity = $quantity " "$user"
done <<'EOF'
N°client N°ticket Date Réf.article Quantité
CodiceCliente Scontrino Data CodiceArticolo Quantità
Cliente Pedido Data Produto Quantidade
Klantnummer Bonnummer Datum Artikelnummer Aantal
Kundnummer Ordernummer Datum Artikelnummer Antal
EOF
printf 'Artikelnummer;Titel;Preis\na;\303\204pfel;1.299,00\nb;Brot;2,50\n' >waren.csv
ok "$PARSREC" import -o german.st german.csv --items waren.csv
says "name = Titel"
says "numbers: Preis (decimal comma)"
printf 'item,name,price\na,Apples,$1.50\nb,Bread,2\n' >dollars.csv
ok "$PARSREC" import -o german.st german.csv --items dollars.csv
warns "warning: column 'price' is taken as words, because not all of its values are numbers"
# Sales without a customer under one key.
awk 'BEGIN { print "user,session,item"
    for (u = 1; u < 60; u++) for (i = 0; i < 3; i++) print "u" u ",1," i
    for (s = 0; s < 20; s++) for (i = 0; i < 3; i++) print "NULL," s "," i }' >guests.csv
ok "$PARSREC" import -o guests.st guests.csv
warns "warning: user 'NULL' has 20 of 79 sessions; if it stands for sales without a customer, leave its rows out"
{ head -n 1 guests.csv; grep ^u[0-9] guests.csv; } >customers.csv
ok "$PARSREC" import -o guests.st customers.csv
same "$(grep -c "sales without a customer" stderr)" 0 "words on guests"
printf 'user,session,item\ru,1,a\ru,1,b\r' >mac.csv
fails 1 "mac.csv: the lines end with a carriage return alone" "$PARSREC" import -o mac.st mac.csv
printf ',user,session,,item\n0,u,1,,a\n1,u,1,,b\n' >unnamed.csv
ok "$PARSREC" import -o unnamed.st unnamed.csv
says "unused: (no name), (no name)"
printf 'user,session,time,item\nu,1,2020-01-01,a\nu,1,,b\n' >untimed.csv
fails 1 "untimed.csv:3:3: the time is empty, but those before are dates; --max-bad N skips up to N rows" \
    "$PARSREC" import -o untimed.st untimed.csv
printf 'order_id,user_id,order_number,product_id,add_to_cart_order\n9,u,1,a,1\n9,u,1,b,2\n' >cart.csv
ok "$PARSREC" import -o cart.st cart.csv
same "$(taken)" " actions user = user_id, session = order_id, item = product_id unused: order_number, add_to_cart_order " \
    "the id before the number"
same "$(counts cart.st)" "1 1 2 2" "orders by id"
printf 'household_key,BASKET_ID,DAY,PRODUCT_ID,TRANS_TIME\nh,1,3,a,1405\nh,1,3,b,1405\n' >panel.csv
ok "$PARSREC" import -o panel.st panel.csv
same "$(taken)" " actions user = household_key, session = BASKET_ID, time = DAY, item = PRODUCT_ID unused: TRANS_TIME " "a panel"

# Items files as shops have them.
cat >catalogue.csv <<'X'
sku;Title;Department;Aisle;Sub-Category;Unit Price;colour
a;Apple;FOOD;FRUIT;POME;1,50;red
b;Bread;FOOD;;;1.234,00;
X
printf 'user;session;sku\nu;1;a\nu;1;b\n' >semi.csv
ok "$PARSREC" import -o cat.st semi.csv --items catalogue.csv
same "$(taken)" " actions user = user, session = session, item = sku items item = sku, name = Title, category = Department > Aisle > Sub-Category numbers: Unit Price (decimal comma) words: colour " \
    "columns of the items file"
same "$(count categories cat.st) $(count category_levels cat.st) $(count items_with_name cat.st) $(count item_features cat.st)" \
    "3 3 2 2" "categories, levels, names, features"
ok "$PARSREC" import -o cat.st semi.csv --items catalogue.csv --categorical Department
same "$(count category_levels cat.st) $(count item_features cat.st)" "2 3" "a feature on request"
ok "$PARSREC" check cat.st
ok "$PARSREC" import --json -o cat.st semi.csv --items catalogue.csv
says '{"column":"Unit Price","decimal_comma":true,"role":"number","table":"items"}'

# Order within sessions.
ok "$PARSREC" import -o ordered.st orders.csv --ordered
ok "$PARSREC" info ordered.st
says "items are in the order in which they were taken"
same "$("$PARSREC" info --json ordered.st | grep -c '"ordered": *true')" 1 "ordered"
same "$("$PARSREC" info --json orders.st | grep -c '"ordered": *false')" 1 "not ordered"

# The columns of H&M, whose time is t_dat.
printf 't_dat,customer_id,article_id,price\n2018-09-20,c1,0663713001,0.05\n2018-09-21,c1,0541518023,0.03\n' >hm.csv
ok "$PARSREC" import -o hm.st hm.csv
same "$("$PARSREC" info hm.st | sed -n 's/^ *last *//p')" "2018-09-21T00:00:00Z" "t_dat is a time"
# The headings of other public data and of shop programs: nothing that is there is lost.
heading() { # NAME HEADER ROW TAKEN
    printf '%s\n%s\n' "$2" "$3" >heading.csv
    ok "$PARSREC" import -o heading.st heading.csv
    same "$(taken)" " actions $4 " "headings of $1"
}
heading BigBasket 'Member,Order,SKU,Created On,Description' 'm,1,33,2013-09-22 00:45,Sooji' \
    "user = Member, session = Order, time = Created On, item = SKU, name = Description"
heading REES46 'event_time,event_type,product_id,user_id,user_session' '2019-10-01 00:00:09 UTC,cart,4,5,7f' \
    "user = user_id, session = user_session, time = event_time, item = product_id unused: event_type"
same "$("$PARSREC" info heading.st | sed -n 's/^ *first *//p')" "2019-10-01T00:00:09Z" "UTC by name"
heading WooCommerce 'Order Number,Order Date,Customer User ID,SKU,Item Name' '1,2024-01-02,7,MUG,Mug' \
    "user = Customer User ID, session = Order Number, time = Order Date, item = SKU, name = Item Name"
heading Groceries 'Member_number,Date,itemDescription' '1808,2015-07-21,milk' \
    "user = Member_number, time = Date, item = itemDescription"
heading abbreviations 'cust_id,txn_id,prod_id,dt' '1,2,3,2024-01-01' \
    "user = cust_id, session = txn_id, time = dt, item = prod_id"
heading "a code of a product" 'customer,order,Product,Product SKU,purchased_at' '1,2,Mug,M1,2024-01-01' \
    "user = customer, session = order, time = purchased_at, item = Product SKU, name = Product"
# Where a column is left over that could be the user or the time, a word; not where somebody says that there is none.
printf 'kayttaja,order,item,hetki\nu,1,a,5\nu,1,b,5\n' >left.csv
ok "$PARSREC" import -o left.st left.csv
same "$(cat stderr)" "warning: no column was recognised as the user or the time, so each session is a user of its own and sessions keep the order of the rows (unused columns: kayttaja, hetki); name them with --user COL and --time COL, or add --user '' --time '' if there is none" "user and time"
ok "$PARSREC" import -o left.st left.csv --user kayttaja
same "$(cat stderr)" "warning: no column was recognised as the time, so sessions keep the order of the rows (unused columns: hetki); name it with --time COL, or add --time '' if there is none" "time"
ok "$PARSREC" import -o left.st left.csv --time hetki
same "$(cat stderr)" "warning: no column was recognised as the user, so each session is a user of its own (unused columns: kayttaja); name it with --user COL, or add --user '' if there is none" "user"
ok "$PARSREC" import -o left.st left.csv --time hetki --user ''
same "$(cat stderr)" "" "no users, as stated"
ok "$PARSREC" import -o left.st left.csv --time hetki --user kayttaja
same "$(cat stderr)" "" "both named"
fails 1 "left.csv: every action needs an item and, without a user, a session; name their columns" \
    "$PARSREC" import -o left.st left.csv --user '' --session ''
# Items of one name are told apart among the best sellers.
printf 'item,name\na1,Sugar\na2,Sugar\nb,Salt\n' >equal_items.csv
printf 'user,session,item\nu,1,a1\nu,1,b\nu,2,a1\nu,2,a2\nu,3,a1\nu,3,a2\n' >equal.csv
ok "$PARSREC" import -o equal.st equal.csv --items equal_items.csv
same "$("$PARSREC" info equal.st | sed -n '/^best/,/^$/p' | sed '1d;/^$/d' | tr -s ' ' | sed 's/ [0-9.]* %//' | tr '\n' ';')" \
    " Sugar (a1) 3; Sugar (a2) 2; Salt 1;" "items of one name"
# Keys of items that differ in case only.
printf 'user,session,item\nu,1,Apple\nu,1,pear\nu,1,PLUM\n' >case.csv
printf 'item,price\napple,1\npear,2\nplum,3\nfig,4\n' >case_items.csv
ok "$PARSREC" import -o case.st case.csv --items case_items.csv
warns "2 rows of the items file would match the actions but for capital letters, such as 'apple' and 'Apple'; write the keys alike in both"
printf 'user,item\nu,Öl\nu,Salz\n' >letters.csv
printf 'item,name\nÖL,a\nSalz,b\n' >letters_items.csv
ok "$PARSREC" import -o x.st letters.csv --items letters_items.csv
warns "1 row of the items file would match the actions but for capital letters, such as 'ÖL' and 'Öl'"
printf 'item,price\nApple,1\npear,2\nfig,4\n' >case_items.csv
ok "$PARSREC" import -o case.st case.csv --items case_items.csv
same "$(grep -c capital stderr)" 0 "keys that differ in more than case"

# Times of other forms, all the same moment.
for form in "31/12/2024 14:05=%d/%m/%Y %H:%M" "12/31/24 2:05 PM=%m/%d/%y %I:%M %p" "20241231140500=%Y%m%d%H%M%S" \
    "Dec 31 2024 14:05=%b %d %Y %H:%M" "45657.5868055556=excel" "1735653900123=ms" "1735653900123456=us"; do
    printf 'user,item,time\nu,a,%s\nu,b,%s\n' "${form%%=*}" "${form%%=*}" >form.csv
    ok "$PARSREC" import -o form.st form.csv --time-format "${form#*=}" --session-by day
    same "$("$PARSREC" info form.st | sed -n 's/^ *first *//p')" "2024-12-31T14:05:00Z" "$form"
done
ok "$PARSREC" import -o form.st form.csv
same "$(grep -c "numbers that only order sessions; if they are dates, add --time-format 'us'" stderr)" 1 "microseconds"
# Whole days of Excel: plain numbers, so a warning; other small numbers have none.
printf 'user,item,Date\nu,a,45292\nu,b,45300\n' >form.csv
ok "$PARSREC" import -o form.st form.csv
warns "the times of form.csv, 45292 to 45300, are numbers that only order sessions; if they are dates, add --time-format 'excel'"
ok "$PARSREC" import -o form.st form.csv --time-format Excel
same "$("$PARSREC" info form.st | sed -n 's/^ *last *//p')" "2024-01-09T00:00:00Z" "Excel in any case"
printf 'user,item,Date\nu,a,1\nu,b,45300\n' >form.csv
ok "$PARSREC" import -o form.st form.csv
same "$(grep -c "time-format" stderr)" 0 "numbers that are no days of Excel"

# An import that may not hold its actions in memory writes the same file, and leaves nothing beside it.
python3 - <<'PYTHON'
import random
random.seed(3)
rows = [(s % 9001, s, 1600000000 + 61 * s, int(random.paretovariate(.7)) % 3000) for s in range(200000) for _ in range(4)]
random.shuffle(rows)
with open("large.csv", "w") as out:
    out.write("user,session,time,item\n")
    out.writelines("u%d,s%d,%d,i%d\n" % row for row in rows)
PYTHON
mkdir large
for options in "" "--min-actions 6" "--session-by day --session="; do
    ok "$PARSREC" import -o large/whole.st large.csv --sort $options
    ok "$PARSREC" import -o large/parts.st large.csv --sort --max-memory 64M $options
    same "$(grep -c 'the actions do not fit in memory' stderr)" 1 "temporary files $options"
    ok cmp large/whole.st large/parts.st
done
same "$(ls large)" "parts.st
whole.st" "files left behind"
fails 1 "must be at least 64M" "$PARSREC" import -o x.st large.csv --max-memory 1M
fails 2 "a size such as 500M, 8G or 1T" "$PARSREC" import -o x.st large.csv --max-memory much
fails 1 "leave out --sessions or --max-memory" "$PARSREC" import -o x.st large.csv --max-memory 64M --sessions large.csv

# One sheet with everything: names and categories of items are in the rows of sales, returns have a quantity
# of 0 or less. The first text of an item counts; a column that says different things of one item is not
# about items; customers have a name and a group too.
cat >sheet.csv <<'E'
Order ID,Order Date,Customer ID,Name,Product ID,Product Name,Category,Sub-Category,Class,Quantity
1,2024-01-01,ann,Ann A.,P1,Bread,Food,,gold,1
1,2024-01-01,ann,Ann A.,P2,Soap,Home,Bath,gold,2
2,2024-01-02,bob,Bob B.,P1,Bread (new),Food,Bakery,silver,1
2,2024-01-02,bob,Bob B.,P3,Salt,Food,Spices,silver,-1
3,2024-01-03,cid,Cid C.,P3,Salt,Food,Spices,bronze,0.5
3,2024-01-03,cid,Cid C.,P2,Soap,Home,Bath,bronze,0
4,2024-01-04,cid,Cid C.,P2,Soap,Home,Bath,bronze,
4,2024-01-04,cid,Cid C.,P1,Bread,Food,Bakery,bronze,"1,0"
4,2024-01-04,cid,Cid C.,P3,Salt,Food,Spices,bronze,(1)
E
ok "$PARSREC" import -o sheet.st sheet.csv
says "item = Product ID, category = Category > Sub-Category, quantity = Quantity"
says "unused: Name, Product Name, Class" # one of six rows has another name: too many for so few rows
says "3  returns: rows with a quantity of 0 or less"
same "$(counts sheet.st)" "3 4 3 6" "users sessions items actions of a sheet"
ok "$PARSREC" list sheet.st items
says "Food > Bakery"
says "Home > Bath"
{ cat sheet.csv; for i in $(seq 5 40); do echo "$i,2024-02-01,ann,Ann A.,P1,Bread,Food,Bakery,gold,1"; done; } >long.csv
ok "$PARSREC" import -o long.st long.csv --quantity ''
says "item = Product ID, name = Product Name, category = Category > Sub-Category"
says " 1  row names its item otherwise than its first row, which counts"
same "$(grep -cF -- "returns" stdout)" 0 "lines with returns"
ok "$PARSREC" list long.st items
says "Bread  "
same "$(grep -cF -- "Bread (new)" stdout)" 0 "lines with Bread (new)"
# A file of items has the last word; shards leave names out, but not returns in.
printf 'item,name,category\nP1,Loaf,Breads\n' >loaf.csv
ok "$PARSREC" import -o sheet.st sheet.csv --items loaf.csv
says "unused: Name, Product Name, Category, Sub-Category, Class"
ok "$PARSREC" list sheet.st items
says "Loaf"
same "$(grep -cF -- "Spices" stdout)" 0 "lines with Spices"
printf 'item,name,category\nP1,Ölkännchen,Küche\n' >umlaut.csv
ok "$PARSREC" import -o umlaut.st sheet.csv --items umlaut.csv
ok "$PARSREC" list umlaut.st items ÖLKÄNN
says "Ölkännchen"
ok "$PARSREC" list umlaut.st categories KÜCHE
says "Küche"
ok "$PARSREC" import -o sheet.shards sheet.csv --shards=2
says "3  returns"
fails 1 "the quantity of every row is 0 or less; if it is no quantity, add --quantity ''" \
    sh -c "{ head -n 1 sheet.csv; sed -n 5p sheet.csv; } | \"$PARSREC\" import -o x.st -"
fails 1 "there is no column 'Amount'" "$PARSREC" import -o x.st sheet.csv --quantity Amount
# What is no number is a purchase.
printf 'user,session,item,quantity\n' >odd.csv
for q in - 1- -PCS 0,00 -2 2 1.5 --; do printf 'a,1,"i%s","%s"\n' "$q" "$q"; done >>odd.csv
ok "$PARSREC" import -o odd.st odd.csv
says "3  returns" # 1-  0,00  -2
# Blanks and apostrophes between digits, and the minus sign of Unicode (Swedish, Finnish).
printf 'user,session,item,quantity\n' >odd.csv
for q in '− 3' '- 1 000' "-1'000" '0 ' '2−' '(1 000)' '1 000' '1−2' '−'; do printf 'a,1,"i%s","%s"\n' "$q" "$q"; done >>odd.csv
ok "$PARSREC" import -o odd.st odd.csv
says "6  returns"
same "$(counts odd.st)" "1 1 3 3" "purchases among odd quantities"
