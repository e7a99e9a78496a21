# Imports every real data set at hand and compares with the numbers its README states.
data=${PARSREC_DATA:-$PARSREC_SOURCE/../shared/data}
if [ ! -d "$data" ]; then
    echo "skipped: no data sets at $data; set PARSREC_DATA to their folder"
    exit 77
fi

# stated LABEL README: the number in its table, without commas; nothing when it is not there.
stated() { sed -n "s/^| $1 | \([0-9,]*\) |.*/\1/p" "$2" | tr -d ,; }
number() { tr ',{}' '\n\n\n' <stdout | sed -n "s/^\"$1\"://p"; }

for set in "$data"/*/; do
    name=$(basename "$set")
    readme=$set/README.md
    [ -f "$set/actions.csv.gz" ] || continue
    set -- import --json -o "$name.st" "$set/actions.csv.gz"
    [ -f "$set/items.csv.gz" ] && set -- "$@" --items "$set/items.csv.gz"
    ok "$PARSREC" "$@"
    actions=$(stated 'actions (rows)' "$readme")
    sessions=$(stated 'sessions \/ baskets' "$readme")
    repeats=0
    [ "$name" = dnntsp_dc ] && repeats=47
    same "$(number rows_read)" "$actions" "$name: rows"
    same "$(number actions)" "$((actions - repeats))" "$name: actions"
    same "$(number users)" "$(stated users "$readme")" "$name: users"
    same "$(number items)" "$(stated items "$readme")" "$name: items"
    same "$(number sessions)" "${sessions:-$actions}" "$name: sessions"
    same "$(number items_without_row)" 0 "$name: items without a row"
    ok "$PARSREC" check "$name.st"
done

# The reference program's own text gives the same baskets as the table made from it.
set=$data/parsrec_synthetic
if [ -f "$set/synthetic.txt.gz" ]; then
    ok "$PARSREC" import --json -o text.st "$set/synthetic.txt.gz" --sort
    same "$(number users) $(number sessions) $(number items) $(number actions)" \
        "1024 102400 2000 428434" "reference text"
    ok "$PARSREC" check text.st
fi
