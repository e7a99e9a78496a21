# parsrec fold-events: a server that reads the file answers as one that replays; what does not fit is not used; the
# forgotten are not in the next file.
. "$PARSREC_SOURCE/tests/cli/events_lib.sh"
store=sqlite:shop.events
fold() { ok "$PARSREC" fold-events shop.model --store "$store"; }
# starts TEXT: the server starts, and its log has the text.
starts() {
    begin shop.model
    if grep -qF -- "$1" server.err; then pass; else fail "the log lacks '$1': $(cat server.err)"; fi
}
# answers TO: what the server says of everybody, as a file.
answers() {
    for user in ann ben cyd K01 K02 K03; do
        curl -s -H "$auth" "$url/v1/users/$user"
        curl -s -H "$auth" -d "{\"user\":\"$user\",\"k\":5}" "$url/v1/recommend" | python3 -c 'import json, sys
for i in json.load(sys.stdin)["items"]: print(i["item"], round(i["score"], 4))'
        curl -s -H "$auth" -d "{\"user\":\"$user\",\"session\":\"open\",\"k\":1}" "$url/v1/recommend" | grep -o '"basket":[^]]*'
    done >"$1"
}

fails 1 "shop.events" "$PARSREC" fold-events shop.model --store "$store"
fails 1 "without a store" "$PARSREC" fold-events shop.model --store none
absent shop.model.histories shop.events
begin shop.model
if grep -q "histories" server.err; then fail "a file that is not there"; else pass; fi
for i in 1 2 3; do
    tell 200 "{\"user\":\"ann\",\"session\":\"a\",\"items\":[\"$((1000 + 7 * (i - 1)))\"]}"
    tell 200 "{\"user\":\"ben\",\"items\":[\"1000\"],\"id\":\"$i\"}"
    tell 200 '{"user":"K01","session":"till","items":["1021"]}'
done
tell 200 '{"user":"cyd","session":"open","items":["1000","1014"],"type":"cart"}'
tell 200 '{"user":"cyd","items":["1007"],"type":"view"}'
tell 200 '{"user":"Sheldon-4711","items":["1000"]}'
forget K02
fold # while the server runs
says "A server replays 13 entries less; 13 of them are new in the file."
ok "$PARSREC" check shop.model.histories
says "parsrec.histories"
# Every command that opens a store takes it from a file, and warns if others may read that.
(umask 077 && echo "$store" >store.url)
ok "$PARSREC" fold-events shop.model --store-file store.url
same "$(grep -c warning stderr)" 0 "a warning about a file of one's own"
chmod 640 store.url
ok "$PARSREC" fold-events shop.model --store-file store.url
same "$(grep -c "warning: the group of store.url may read it; chmod g-r makes it safe" stderr)" 1 "a warning about its group"
ok "$PARSREC" export-events --store-file store.url -o filed.csv
ok "$PARSREC" export-events "$store" -o named.csv
ok cmp filed.csv named.csv
ok "$PARSREC" doctor --store-file store.url
says "events"
ok "$PARSREC" import --store-file store.url -o filed.st --name x
ok "$PARSREC" import --events "$store" -o named.st --name x
ok cmp filed.st named.st
fails 2 "name one store" "$PARSREC" export-events "$store" --store-file store.url -o twice.csv
fails 2 "name one store" "$PARSREC" export-events -o twice.csv
fails 2 "exclude each other" "$PARSREC" doctor --store "$store" --store-file store.url
fails 2 "exclude each other" "$PARSREC" import --events "$store" --store-file store.url -o twice.st
: >empty.url
fails 1 "the first line must be a store" "$PARSREC" export-events --store-file empty.url -o twice.csv
tell 200 '{"user":"ann","session":"a","items":["1021"]}' # a basket that goes on after the fold
tell 200 '{"user":"K03","items":["1000"]}'
answers replayed
stop_server
starts "shop.model.histories has 13 entries of the store, up to number 13"
answers folded
same "$(cat folded)" "$(cat replayed)" "answers of a server that read the file"
get 404 /v1/users/K02
get 200 /v1/users/ann
tells 'a["baskets"] == 1 and len(a["items"]) == 4'
tell 200 '{"user":"ben","items":["1000"],"id":"2"}'
tells 'a["duplicates"] == 1'

# The forgotten: known to be gone when the file still has them, and not in the next one.
same "$(grep -ac Sheldon-4711 shop.model.histories)" 1 "something to forget in the file"
forget Sheldon-4711
forget K03
stop_server
starts "has 13 entries"
get 404 /v1/users/Sheldon-4711
get 404 /v1/users/K03
answers replayed
fold
same "$(stat -c %a shop.model.histories)" 600 "who may read the purchases in it"
says "of them are new in the file."
same "$(grep -ac Sheldon shop.model.histories)" 0 "a forgotten user in the next file"
curl -s -o stdout -X POST -H "$auth" "$url/v1/admin/reload"
answers folded
same "$(cat folded)" "$(cat replayed)" "answers after a reload with the next file"
stop_server

# What does not fit is not used, and the answers are the same.
cp shop.model.histories good
printf x | dd of=shop.model.histories bs=1 seek=$(($(wc -c <good) - 1)) conv=notrunc 2>/dev/null
starts "warning: all events are replayed: shop.model.histories"
answers folded
same "$(cat folded)" "$(cat replayed)" "answers without a damaged file"
stop_server
head -c 1000 good >shop.model.histories
starts "warning: all events are replayed"
stop_server
cp good shop.model.histories
cp shop.model.histories other.model.histories
head -n 400 "$example/corner_shop.csv" >other.csv
ok "$PARSREC" import -o other.st other.csv
ok "$PARSREC" train -o other.model other.st --set dim.user=8 --set dim.item=8 --epochs 1
begin other.model
if grep -q "other data" server.err; then pass; else fail "a file of another model: $(cat server.err)"; fi
get 200 /v1/users/ann
stop_server
# A store that was restored from an older backup: its next numbers are not those in the file.
cp shop.events now.events
python3 -c 'import sqlite3; c = sqlite3.connect("shop.events"); c.execute("DELETE FROM parsrec_events WHERE id > 5"); c.execute("UPDATE sqlite_sequence SET seq = 5"); c.commit()'
starts "the store only up to 5"
tell 200 '{"user":"late","items":["1000"]}'
get 200 /v1/users/late
stop_server
