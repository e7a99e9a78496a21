# parsrec size: figures of a whole generated shop, and of a part of a larger one; mistakes; nothing is left behind.
mkdir temporary
TMPDIR=$folder/temporary
export TMPDIR
figure() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2"; }
# above FILE NAME LEAST: the figure is at least that.
above() { if awk "BEGIN { exit !($(figure "$2" "$1") >= $3) }"; then pass; else fail "$2 of $1 is $(figure "$2" "$1"), below $3"; fi; }

ok "$PARSREC" size --users 60 --items 40 --actions 3000 --dim 8 --threads 1 --json
cp stdout small
same "$(figure share small)" "1.0" "share of a small shop"
for name in import_memory train_memory serve_memory; do above small $name 1000000; done
for name in data_disk model_disk checkpoint_disk; do above small $name 1000; done
for name in import_seconds epoch_seconds items_per_second answer_microseconds; do above small $name 0.0000001; done
same "$(find temporary -mindepth 1)" "" "what is left behind"

# A part of a shop ten times as large: memory and disk are those of more users, not of the part.
ok "$PARSREC" size --users 600 --items 40 --actions 30000 --dim 8 --threads 1 --sample 6000 --json
cp stdout large
same "$(figure share large | cut -c 1-3)" 0.2 "share of a larger shop"
ok "$PARSREC" size --users 600 --items 40 --actions 30000 --dim 8 --threads 1 --json
cp stdout whole
# near NAME [PARTS]: estimated from a part and from the whole, within one of PARTS, a tenth unless given.
near() {
    if awk "BEGIN { r = $(figure "$1" large) / $(figure "$1" whole) - 1; exit !(r * r < (1 / ${2-10}) ^ 2) }"; then pass
    else fail "$1: $(figure "$1" large) from a part, $(figure "$1" whole) from the whole"; fi
}
for name in data_disk model_disk checkpoint_disk; do near $name; done
# Of so small a shop most is the program itself, which is not computed.
for name in train_memory serve_memory; do near $name 5; done
# Dates have columns of their own in a model.
ok "$PARSREC" size --users 60 --items 40 --actions 3000 --dim 8 --threads 1 --undated --json
cp stdout undated
if awk "BEGIN { exit !($(figure model_disk undated) < $(figure model_disk small)) }"; then pass
else fail "a model without dates is not smaller"; fi
ok "$PARSREC" size --users 60 --items 40 --actions 3000 --dim 8 --threads 1
says "60 users, 40 items, 3,000 actions"
says "per epoch"
says "answers per second and thread"
ok "$PARSREC" size --users 60 --items 40 --actions 3000 --dim 8 --threads 1 --max-memory 8G
says "train --max-memory 8.0 GB: everything fits"
ok "$PARSREC" size --users 60 --items 40 --actions 3000 --dim 8 --threads 1 --max-memory 1M
says "too little, at least"

fails 2 "--users, --items and --actions are all needed" "$PARSREC" size --users 60
fails 2 "fewer actions than items" "$PARSREC" size --users 60 --items 4000 --actions 3000
fails 2 "fewer than 6 for each user" "$PARSREC" size --users 600 --items 40 --actions 3000
TMPDIR=$folder/nowhere fails 1 "cannot make a folder" "$PARSREC" size --users 60 --items 40 --actions 3000
same "$(find temporary -mindepth 1)" "" "what is left behind"
