# Features from synthesis to answers: the same bits at any number of threads and after a stop, columns that are
# read, requests that carry them, users who leave.
ok "$PARSREC" synth -o all.st --users 60 --sessions 12 --products 10 --features all --seed 5
ok "$PARSREC" synth -o plain.st --users 60 --sessions 12 --products 10 --seed 5
on="--set features.user=on --set features.session=on --set features.item=on"
small="--set dim.user=8 --set dim.item=8 --set batch=64"
# shellcheck disable=SC2086 # words
train() { "$PARSREC" train "$@" $small --epochs 3; }

# shellcheck disable=SC2086
{
    ok train -o one.model all.st $on --threads 1
    ok train -o three.model all.st $on --threads 3
    ok train -o off.model all.st
    ok train -o plain_off.model plain.st
    ok train -o plain_on.model plain.st $on
}
if cmp -s one.model three.model; then pass; else fail "threads change the model"; fi
ok "$PARSREC" check one.model

# A run that is stopped and resumed is the same run.
# shellcheck disable=SC2086
stop_when TERM "[ -s cut.model.ckpt ] && [ ! -e cut.model ]" "rm -f cut.model*" \
    "$PARSREC" train -o cut.model all.st $on $small --epochs 3 --checkpoint-minutes 0
absent cut.model
ok "$PARSREC" train -o cut.model all.st --resume cut.model.ckpt
ok cmp one.model cut.model

# Without columns the switches change nothing but what the file says of them.
for m in plain_off plain_on; do
    ok "$PARSREC" recommend $m.model --user 7 --basket 3,55 -k 30 --json
    cp stdout $m.json
done
same "$(cat plain_on.json)" "$(cat plain_off.json)" "answers without columns"

# What it reads.
ok "$PARSREC" info one.model
says "occasion"
ok "$PARSREC" info --json one.model
cp stdout info.json
python3 - >problems 2>&1 <<'P'
import json
columns = json.load(open("info.json"))["model"]["features"]
assert [c["name"] for c in columns if c["of"] == "user"] == ["income", "segment", "shoe_size", "star_sign"]
assert [c["name"] for c in columns if c["number"]] == ["income", "shoe_size", "hour", "price", "weight"]
P
same "$(cat problems)" "" "columns of info"

# Evaluation knows the session's features; other columns are refused.
ok "$PARSREC" eval one.model all.st
ok "$PARSREC" synth -o noise.st --users 60 --sessions 12 --products 10 --features noise --seed 5
fails 1 "the model reads the user feature 'income'" "$PARSREC" eval one.model noise.st

# Requests.
score() { "$PARSREC" recommend one.model --json -k 200 --basket 3 "$@" 2>stderr | python3 -c 'import json, sys
print([(i["item"], i["score"]) for i in json.load(sys.stdin)["items"]])'; }
score --user 7 >known
score --user 7 --feature occasion=occasion1 >one
score --user 7 --feature occasion=occasion2 >two
score --user 7 --feature occasion=birthday >unknown
score --user 7 --feature income=90 >rich
score --feature segment=A >guest_a
score --feature segment=B >guest_b
score >guest
for pair in "known one" "one two" "known rich" "guest guest_a" "guest_a guest_b"; do
    # shellcheck disable=SC2086
    set -- $pair
    if [ -s "$1" ] && ! cmp -s "$1" "$2"; then pass; else fail "$1 and $2 are the same"; fi
done
same "$(cat unknown)" "$(cat known)" "an unknown word"
# In a stream, where what was worked out for a user is kept, features hold for their own line.
plain='{"user": "7", "basket": ["3"], "k": 200}'
printf '%s\n' "$plain" "$plain" '{"user": "7", "basket": ["3"], "k": 200, "features": {"occasion": "occasion1"}}' \
    "$plain" "$plain" | "$PARSREC" recommend one.model - >stream 2>stderr
ok test "$(wc -l <stream)" -eq 5
for line in 1 2 3 4 5; do
    sed -n ${line}p stream | python3 -c 'import json, sys
print([(i["item"], i["score"]) for i in json.load(sys.stdin)["items"]])' >alone
    expected=known
    [ $line -eq 3 ] && expected=one
    same "$(cat alone)" "$(cat $expected)" "line $line of a stream"
done
fails 1 "no 'mood' of users or sessions" "$PARSREC" recommend one.model --feature mood=good
fails 1 "'income' must be a number" "$PARSREC" recommend one.model --feature income=much
ok "$PARSREC" recommend off.model --feature occasion=occasion1 --json

# Who leaves takes the own values along; the others notice nothing.
ok "$PARSREC" forget one.model -o less.model --user 4 --user 9
ok "$PARSREC" check less.model
ok "$PARSREC" recommend less.model --user 7 --basket 3 -k 200 --json --feature hour=1
cp stdout less.json
ok "$PARSREC" recommend one.model --user 7 --basket 3 -k 200 --json --feature hour=1
same "$(cat less.json)" "$(cat stdout)" "answers after somebody left"
