# Names with markup, quotes, formulas, controls and text from right to left, through every report.
peer=$PARSREC_SOURCE/tests/cli/hostile_names.py
ok python3 "$peer" make .
ok "$PARSREC" import -o shop.st actions.csv --items items.csv
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 2

# plain TEXT-FILE: nothing in it that a terminal would act on.
plain() {
    if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]\|\342\200\256')" "$1"; then
        fail "a control character in: $(cat -v "$1")"
    else pass; fi
}

# Headings, in the report and in warnings.
printf 'customer\342\200\256,item,\033[31mred,\302\233ime,"two\nlines"\na,b,1,2,3\n' >headings.csv
ok "$PARSREC" import -o headings.st headings.csv
says "unused: ?[31mred, ?ime, two lines"
plain stdout
warns "(unused columns: ?[31mred, ?ime, two?lines)"
plain stderr
fails 1 "the user among ?ime, ?[2Jy;" sh -c "printf '\302\233ime,\033[2Jy,item\n1,2,3\n' | \"$PARSREC\" import -o x.st -"
printf 'item,si\302\233ze\342\200\256\ni1,2\ni2,3\n' >sizes.csv
ok "$PARSREC" import -o sizes.st actions.csv --items sizes.csv
ok "$PARSREC" train -o sizes.model sizes.st --set dim.user=2 --set dim.item=2 --set features.item=on --epochs 1
ok "$PARSREC" info sizes.model
says "item    si?ze? "
plain stdout

ok "$PARSREC" explain shop.model shop.st --by item --top 26 --group everybody -o items
plain stdout
ok "$PARSREC" explain shop.model shop.st --by category --group cluster:2 -o categories
plain stdout
ok "$PARSREC" whatif shop.model shop.st --drop "category=<b>BOLD</b>" --draws 5 --resamples 20 -o whatif
plain stdout
ok "$PARSREC" whatif shop.model shop.st --drop "item=i3" --watch "category==CATEGORY" --draws 5 \
    --resamples 20 -o whatif_item
plain stdout
ok "$PARSREC" compare shop.st --models 'pop,a<b>x=personal' -o compare
plain stdout
ok "$PARSREC" recommend shop.model --user "<b>u0</b>" --basket i10 -k 20 --explain
plain stdout
mkdir all
ok "$PARSREC" recommend shop.model --all -o all/answers.csv -k 30
same "$(grep -c "^'=u1,1," all/answers.csv)" 1 "a user that begins like a formula"
ok grep -q '^u7,[0-9]*,"'"'"'@SUM(1,""2"")",' all/answers.csv
# What is imported again is exact.
ok "$PARSREC" export shop.st -o exact.csv
ok grep -q '^=u1,' exact.csv
ok grep -q ',-9$' exact.csv
ok "$PARSREC" import -o again.st exact.csv
ok "$PARSREC" export again.st -o twice.csv
ok cmp exact.csv twice.csv
ok "$PARSREC" info shop.st
plain stdout
for thing in users items categories; do
    ok "$PARSREC" list shop.st $thing -n 0
    plain stdout
done
ok python3 "$peer" check items categories whatif whatif_item compare all
says "files checked"
finish
