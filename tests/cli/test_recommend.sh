# From a table to recommendations: one question, a stream of them, other people's pasts, nonsense.
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 2
ok "$PARSREC" check shop.model
says "parsrec.model version 1"
says "checksum matches"

# What it is.
ok "$PARSREC" info shop.model
says "kind                                   parsrec"
says "dim.user                                     8   default 64"
says "users                                       60"
ok "$PARSREC" info --json shop.model
cp stdout info.json
ok python3 -c '
import json
d = json.load(open("info.json"))
assert (d["users"], d["items"], d["sessions"], d["actions"]) == (60, 47, 775, 3153)
m = d["model"]
assert m["kind"] == "parsrec" and m["settings"]["dim.item"] == "8"
assert m["changed"] == ["dim.user", "dim.item", "epochs"] and m["parameters"] > 61 * 8 + 48 * 8'

# ---- one question ----
R="$PARSREC recommend shop.model"
# shellcheck disable=SC2086 # words, here and below
ok $R --user K01 --basket 1000,1007 -k 3
says "rank  item  name"
same "$(wc -l <stdout)" 4 "lines for three items"
same "$(wc -c <stderr)" 0 "notes"
ok $R --user K01 --basket 1000,1007 -k 3 --json
cp stdout by_key
# By names, in several lists, with spaces: the same.
ok $R --user K01 --basket "Rye bread" --basket " 1000 , White rolls" -k 3 --json
python3 - by_key stdout >problems 2>&1 <<'P'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a["user"] == "K01" and a["source"] == "model" and a["basket"] == ["1000", "1007"]
assert a["items"] == b["items"] and b["basket"] == ["1000", "1000", "1007"]
scores = [i["score"] for i in a["items"]]
assert len(scores) == 3 and scores == sorted(scores, reverse=True)
assert (a["time"], a["time_from"]) == ("2024-03-31T00:00:00Z", "data")
assert all(set(i) == {"item", "name", "category", "score"} for i in a["items"])
assert not {"1000", "1007"} & {i["item"] for i in a["items"]}
P
same "$(cat problems)" "" "answers"

# Dates: the days since the last purchase and between purchases, at the last date in the data or at --time.
ok $R --user K02 --only 1210 --explain
says "you also bought it in 8 earlier baskets, usually every 9 days, last 19 days ago"
warns "note: asked for 2024-03-31T00:00:00Z, the last date in the data"
ok $R --user K02 --only 1210 --explain --time 2024-04-05T12:00Z
says "usually every 9 days, last 25 days ago"
same "$(wc -c <stderr)" 0 "notes"
ok $R --user K02 --only 1210 --explain --json --time 1711929600
python3 - stdout >problems 2>&1 <<'P'
import json, sys
a = json.load(open(sys.argv[1]))
assert (a["time"], a["time_from"]) == ("2024-04-01T00:00:00Z", "request"), a
why = a["items"][0]["why"]
assert why["last_days"] == 20 and 8.5 < why["usual_days"] < 9.5, why
P
same "$(cat problems)" "" "dates"
fails 1 "the time 'noon' is not a date such as" $R --user K02 --time noon
# Everything, nothing, one item.
ok $R --user K01 --basket 1000 -k 1000
same "$(wc -l <stdout)" 47 "all that is left, and the heading"
ok $R --guest
same "$(wc -l <stdout)" 11 "ten items for a guest's empty basket"
ok $R --only 1000 --basket 1000
same "$(cat stdout)" "" "nothing is left"
same "$(cat stderr)" "note: the basket and the filters leave no item to recommend" "note"

# Filters.
ok $R --category BAKERY
cut -c7-10 stdout | tail -n +2 | sort >bakery
same "$(tr '\n' ' ' <bakery)" "1000 1007 1014 1021 " "a category"
ok $R --category FOOD,DRINKS --exclude-category "FOOD > BAKERY" --exclude-category HOT -k 99
same "$(($(wc -l <stdout) - 1))" 31 "categories and what is below them"
ok $R --only 1000,1007,1014 --exclude Croissant -k 99
cut -c7-10 stdout | tail -n +2 | sort | tr '\n' ' ' >left
same "$(cat left)" "1000 1007 " "only and exclude"

# An unknown user is anyone, and that is said.
ok $R --user nobody --basket 1000 --json
says '"user":"nobody","source":"anyone"'
sed 's/"nobody"/null/' stdout >nobody
ok $R --basket 1000 --json
same "$(cat stdout)" "$(cat nobody)" "nobody is anyone"
ok $R --user nobody --basket 1000
same "$(cat stderr)" "note: the model was not trained on user 'nobody', who is served as an unknown user" "note"

# Of whom nothing at all is known: best sellers.
ok $R --user nobody
same "$(cat stderr)" "note: nothing is known of user 'nobody', who gets the best sellers" "note"
ok $R --user k02
same "$(cat stderr)" "note: nothing is known of user 'k02', who gets the best sellers
note: the model knows a user 'K02'; upper and lower case differ in keys" "a key in another case"
ok $R --guest --json
says '"user":null,"source":"popular"'
cp stdout most.json
ok $R --user K01 --basket 1000 --max-per-category 1 -k 99 --json
python3 - "$example/corner_shop.csv" >problems 2>&1 <<'P'
import collections, csv, json, sys
counts = collections.Counter(row["item"] for row in csv.DictReader(open(sys.argv[1])))
most = [counts[i["item"]] for i in json.load(open("most.json"))["items"]]
assert most == sorted(counts.values(), reverse=True)[:10], most
# At most this many of one category.
categories = [i["category"] for i in json.load(open("stdout"))["items"]]
assert len(categories) > 5 and len(set(categories)) == len(categories), categories
P
same "$(cat problems)" "" "the best sellers, and one of each category"

# ---- why ----
ok $R --user K01 --basket 1000,1007 -k 3 --explain
same "$(wc -l <stdout)" 7 "a sentence below each item"
sed -n 3p stdout >sentence
if grep -Eq '^      (because of |a common choice)' sentence; then pass; else fail "no sentence: $(cat sentence)"; fi
ok $R --user K01 --basket 1000,1007,1000 -k 47 --explain --json
cp stdout why.json
ok $R --user K01 --basket 1007 --exclude 1000 -k 47 --json
cp stdout without.json
ok $R --basket 1000,1007 -k 2 --explain --json
cp stdout guest.json
ok $R --explain -k 1
says "      a common choice to begin with"
python3 - >problems 2>&1 <<'P'
import json, math
why, without, guest = (json.load(open(f + ".json")) for f in ("why", "without", "guest"))
assert len(why["items"]) == 45 and len(without["items"]) == 45
total = math.log(sum(math.exp(i["score"]) for i in without["items"]))
for rank, i in enumerate(why["items"], 1):
    w = i["why"]
    w.pop("last_days", 0), w.pop("usual_days", 0)
    assert set(w) == {"sentence", "basket", "history", "user", "earlier_baskets", "log_probability", "rank", "parts"}
    assert abs(sum(w["parts"].values()) + sum(b["part"] for b in w["basket"]) - i["score"]) < 1e-3
    assert w["rank"] == rank and [b["item"] for b in w["basket"]] == ["1000", "1007"]
    assert abs(sum(b["attention"] for b in w["basket"]) - 1) < 1e-5
    # The same by hand: the answer to the basket without its first item.
    place = [j["item"] for j in without["items"]].index(i["item"])
    effect = w["log_probability"] - (without["items"][place]["score"] - total)
    assert abs(effect - w["basket"][0]["effect"]) < 1e-4 and w["basket"][0]["rank"] == place + 1
    parts = w["basket"] + [w["history"], w["user"]]
    assert all(set(p) >= {"effect", "share", "rank"} for p in parts)
    assert abs(sum(p["share"] for p in parts) - 1) < 1e-6 or all(p["effect"] < 1e-4 for p in parts)
assert all(i["why"]["history"] is None and i["why"]["user"] is None for i in guest["items"])
P
same "$(cat problems)" "" "reasons"
fails 2 "whether to explain" $R - --explain

# ---- mistakes ----
fails 1 "basket: there is no item 'x7'" $R --basket 1000,x7 --strict
ok $R --basket 1000 -k 3
cp stdout known
ok $R --basket 1000,x7 -k 3
same "$(cat stderr)" "note: left out: there is no item 'x7' in the catalogue; use an item's key or its exact name" "note"
same "$(cat stdout)" "$(cat known)" "an unknown item left out"
ok $R --basket Milc -k 1
same "$(cat stderr)" "note: left out: there is no item 'Milc' in the catalogue (did you mean 'Milk'?)" "note with a name that is near"
ok $R --basket 1000,x7,x8 -k 1 --json
says ',"unknown_items":["x7","x8"]}'
fails 2 "the requests say" $R - --strict
fails 1 "use an item's key or its exact name" $R --only x7
fails 1 "there is no category 'x7'" $R --category x7
fails 1 "is a data set, not a model" "$PARSREC" recommend shop.st
fails 1 "cannot open" "$PARSREC" recommend missing.model
fails 2 "--guest and --user exclude each other" $R --guest --user K01
fails 2 "a whole number from 1" $R -k 0
fails 2 "an argument is missing" "$PARSREC" recommend
fails 2 "unexpected argument" $R a b c
fails 2 "only -k goes with it" $R - --user K01
fails 2 "not valid UTF-8" $R --basket "$(printf '\377')"
long=$(python3 -c 'print(",".join(["1000"] * 1025))')
fails 1 "the basket has 1025 items, at most 1024" $R --basket "$long"

# ---- a damaged model ----
head -c 5000 shop.model >cut.model
fails 1 "cut.model" "$PARSREC" recommend cut.model
python3 -c '
b = bytearray(open("shop.model", "rb").read())
b[-100] ^= 1
open("bit.model", "wb").write(b)'
fails 1 "checksum" "$PARSREC" recommend bit.model
fails 1 "checksum" "$PARSREC" check bit.model
fails 1 "checksum" "$PARSREC" info bit.model

# ---- a stream ----
python3 - >requests <<'P'
import json
for i in range(3000):
    r = {"user": f"K{i % 60 + 1:02}", "basket": [1000 + 7 * (i % 47)], "k": 1 + i % 5}
    print(json.dumps({} if i % 10 == 0 else r))
P
"$PARSREC" recommend shop.model - -k 2 <requests >answers 2>stderr
same "$?" 0 "exit of a stream"
python3 - >problems 2>&1 <<'P'
import json
requests, answers = ([json.loads(l) for l in open(f)] for f in ("requests", "answers"))
assert len(requests) == len(answers)
for r, a in zip(requests, answers):
    assert a["user"] == r.get("user") and len(a["items"]) == r.get("k", 2)
    assert a["basket"] == [str(b) for b in r.get("basket", [])]
P
same "$(cat problems)" "" "answers of the stream"
# The stream and the command say the same.
ok $R --user K08 --basket 1049 -k 3 --json
same "$(sed -n 8p answers)" "$(cat stdout)" "eighth answer"

# Bad lines get an answer of their own with their number, and the stream continues.
{
    printf '{"basket":["1000"],"k":1}\r\n\n'
    printf '{nonsense\n[]\n{"k":0}\n{"basket":["x7"],"strict":true}\n{"bascket":[]}\n\377\376\n'
    for size in 1100000 3000000; do
        head -c $size /dev/zero | tr '\0' 'a'
        echo
    done
    printf '{"user":"K01","k":1,"basket":["x7",1000]}'
} >bad
"$PARSREC" recommend shop.model - <bad >answers 2>stderr
same "$?" 1 "exit of a stream with bad lines"
python3 - >problems 2>&1 <<'P'
import json
a = [json.loads(l) for l in open("answers")]
assert len(a) == 10, len(a)
assert a[0]["source"] == "anyone" and a[-1]["user"] == "K01"
assert a[-1]["unknown_items"] == ["x7"] and a[-1]["basket"] == ["1000"] and "unknown_items" not in a[0]
errors = [x["error"] for x in a[1:-1]]
assert [e["line"] for e in errors] == [3, 4, 5, 6, 7, 8, 9, 10], errors
assert [e["code"] for e in errors] == ["E_INPUT"] * 3 + ["E_NOT_FOUND"] + ["E_INPUT"] * 2 + ["E_LIMIT"] * 2
assert all(e["message"] for e in errors)
P
same "$(cat problems)" "" "bad lines"
same "$(cat stderr)" "parsrec recommend: 8 of 11 lines failed; each has an answer with \"error\"" "summary"
# Nobody waits: an answer comes before the next question is asked.
python3 - "$PARSREC" >problems 2>&1 <<'P'
import json, select, subprocess, sys
p = subprocess.Popen([sys.argv[1], "recommend", "shop.model", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for k in (1, 2, 3):
    p.stdin.write(b'{"k":%d}\n' % k)
    p.stdin.flush()
    assert select.select([p.stdout], [], [], 30)[0], "no answer within 30 s"
    assert len(json.loads(p.stdout.readline())["items"]) == k
p.stdin.close()
assert p.wait() == 0
P
same "$(cat problems)" "" "one question at a time"
# An output nobody can write to is a failure.
if [ -e /dev/full ]; then
    "$PARSREC" recommend shop.model - <requests >/dev/full 2>stderr
    same "$?" 1 "exit with a full disk"
fi
ok "$PARSREC" recommend shop.model - # no request at all
same "$(cat stdout)" "" "no answer"

# ---- other people's pasts ----
# Without dates, as the lists that they are compared with.
cat >later.csv <<'C'
user,session,item
K01,1,1266
K01,1,1273
newcomer,2,1210
newcomer,2,9999
C
ok "$PARSREC" import -o later.st later.csv
ok "$PARSREC" recommend shop.model later.st --user newcomer --json
says '"user":"newcomer","source":"anyone"'
same "$(cat stderr)" "warning: later.st: 1 item that the model does not know is left out of the users' past (1 action)" "warning"
cp stdout newcomer
echo '{"user":"newcomer","history":["Coffee beans"]}' | "$PARSREC" recommend shop.model - >stdout
same "$(cat stdout)" "$(cat newcomer)" "the past is what DATA says"
ok "$PARSREC" recommend shop.model --user newcomer --json
says '"source":"popular"'
if [ "$(cat stdout)" = "$(cat newcomer)" ]; then fail "a past changes nothing"; else pass; fi
echo '{"user":"K01"}' | "$PARSREC" recommend shop.model later.st - 2>stderr >with_data
echo '{"user":"K01","history":["1266","1273"]}' | "$PARSREC" recommend shop.model - >stdout
same "$(cat stdout)" "$(cat with_data)" "a known user with the past of DATA"
fails 1 "shop.model: is a model, not a data set" "$PARSREC" recommend shop.model shop.model

# ---- a catalogue of one item, and of none with names ----
printf 'user,session,item\nu,1,a\nu,2,a\n' >one.csv
ok "$PARSREC" import -o one.st one.csv
ok "$PARSREC" train -o one.model one.st --set dim.user=2 --set dim.item=2 --epochs 1
ok "$PARSREC" recommend one.model --user u
same "$(head -1 stdout)" "rank  item      score" "no names"
same "$(wc -l <stdout)" 2 "the one item"
ok "$PARSREC" recommend one.model --user u --explain -k 5
says "a common choice with anyone; you also bought it in 2 earlier baskets"
fails 1 "this catalogue has no categories" "$PARSREC" recommend one.model --category FOOD
