# parsrec bench: figures of every kind that learns, and words for the others.
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
for model in parsrec sasrec bert4rec; do
    ok "$PARSREC" bench train shop.st --model $model --set dim.item=8 --seconds 0.1 --threads 1 --json
    same "$(python3 -c '
import json
r = json.load(open("stdout"))
print(r["threads"], r["items_per_s"] > 0, r["share"] > 0, abs(r["share"] * r["sgemm_gflops"] - r["gflops"]) < 0.1,
      abs(sum(r["parts"].values()) - 1) < 0.01)')" "1 True True True True" "figures of $model"
done
ok "$PARSREC" bench train shop.st --preset default --seconds 0.1 --threads 1 --set loss=sampled
says "items/s"
fails 1 "there are: default, paper" "$PARSREC" bench train shop.st --preset best
fails 1 "model pop does not learn" "$PARSREC" bench train shop.st --model pop
fails 1 "there is no model 'prophet'" "$PARSREC" bench train shop.st --model prophet
fails 1 "heads = 5 does not divide" "$PARSREC" bench train shop.st --model sasrec --set heads=5
fails 2 "there is no bench 'fly'" "$PARSREC" bench fly

# What one recommendation takes.
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 1
ok "$PARSREC" bench score shop.model --seconds 0.2 --basket 2 -k 5 --json
same "$(python3 -c '
import json
r = json.load(open("stdout"))
print(r["items"], r["basket"], r["k"], r["calls"] >= 64, 0 < r["median_us"] <= r["p99_us"], r["why_median_us"] > 0)')" \
    "47 2 5 True True True" "figures of a recommendation"
ok "$PARSREC" bench score shop.model --seconds 0.1
says "basket of 3, best 10"
fails 1 "k of at most all items" "$PARSREC" bench score shop.model -k 48
fails 1 "shop.st: is a data set, not a model" "$PARSREC" bench score shop.st

# Without data or a model of one's own, it makes them, and leaves nothing behind.
mkdir temporary
TMPDIR=$folder/temporary
export TMPDIR
if [ -z "${PARSREC_SANITIZE:-}" ]; then # data of their size take long there
    ok "$PARSREC" bench train --seconds 0.1 --threads 1
    says "items/s"
    ok "$PARSREC" bench score --seconds 0.1
    says "2000 items, basket of 3, best 10"
fi
same "$(find temporary -mindepth 1)" "" "what is left behind"
TMPDIR=$folder/nowhere
fails 1 "cannot make a folder; set TMPDIR" "$PARSREC" bench score --seconds 0.1
fails 1 "cannot make a folder; set TMPDIR" "$PARSREC" bench train --seconds 0.1
