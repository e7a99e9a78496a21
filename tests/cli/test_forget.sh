# A model without a user: it loads, it checks, nobody can tell that the user was there; others notice nothing.
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --set recall=on --epochs 1

ok "$PARSREC" forget shop.model -o less.model --user K07 --user K60
says "less.model: written without 2 users"
ok "$PARSREC" check less.model
says "checksum matches"
if strings -n 8 less.model | grep -qE 'K07|K60'; then fail "a key is still in the file"; else pass; fi
if strings -n 8 shop.model | grep -q K07; then pass; else fail "the key was never in the file"; fi
ok "$PARSREC" info --json less.model
cp stdout less.json
ok "$PARSREC" info --json shop.model
cp stdout shop.json
ok "$PARSREC" recommend less.model --user K07 --basket 1000 --json
cp stdout forgotten.json
ok "$PARSREC" recommend shop.model --basket 1000 --json
cp stdout guest.json
for user in K01 K06 K08 K59; do
    ok "$PARSREC" recommend shop.model --user $user --basket 1000,1007 -k 47 --json
    cp stdout before
    ok "$PARSREC" recommend less.model --user $user --basket 1000,1007 -k 47 --json
    same "$(cat stdout)" "$(cat before)" "answers to $user"
done
python3 - >problems 2>&1 <<'P'
import csv, json, os
rows = list(csv.DictReader(open(os.environ["PARSREC_SOURCE"] + "/examples/corner_shop.csv")))
gone = [r for r in rows if r["user"] in ("K07", "K60")]
less, shop, forgotten, guest = (json.load(open(f + ".json")) for f in ("less", "shop", "forgotten", "guest"))
assert less["users"] == shop["users"] - 2 and less["items"] == shop["items"]
assert less["actions"] == shop["actions"] - len(gone) and len(gone) > 10
assert less["model"]["parameters"] == shop["model"]["parameters"] - 2 * 8
assert forgotten["source"] == "anyone" and forgotten["items"] == guest["items"]
P
same "$(cat problems)" "" "what is left"

# In place; everybody; mistakes.
ok "$PARSREC" forget less.model -o less.model --user K01
ok "$PARSREC" check less.model
all=$(cut -d, -f1 "$example/corner_shop.csv" | tail -n +2 | sort -u | sed 's/^/--user /')
# shellcheck disable=SC2086 # words
ok "$PARSREC" forget shop.model -o nobody.model $all
ok "$PARSREC" check nobody.model
ok "$PARSREC" recommend nobody.model --basket 1000
fails 1 "there is no user 'K07' in this model" "$PARSREC" forget less.model -o no.model --user K07
absent no.model
fails 1 "shop.st: is a data set, not a model" "$PARSREC" forget shop.st -o no.model --user K01
fails 2 "-o FILE" "$PARSREC" forget shop.model --user K01
fails 2 "--user U" "$PARSREC" forget shop.model -o no.model
absent no.model

# A model that counts, of every kind that has something of users.
ok "$PARSREC" synth -o synth.st --users 20 --sessions 5 --seed 3
for kind in pop personal oracle; do
    ok "$PARSREC" train -o $kind.model synth.st --model $kind
    ok "$PARSREC" recommend $kind.model --user 5 -k 9 --basket 3 --json
    cp stdout before
    ok "$PARSREC" forget $kind.model -o $kind.less --user 4
    ok "$PARSREC" check $kind.less
    ok "$PARSREC" recommend $kind.less --user 5 -k 9 --basket 3 --json
    same "$(cat stdout)" "$(cat before)" "answers of $kind"
done
