# Less and less memory (ulimit -v): a command works or says that memory ran out, with status 1. It
# neither crashes nor hangs.
if ! sh -c 'ulimit -v 60000 && exec "$0" --version' "$PARSREC" >/dev/null 2>&1; then
    echo "skipped: this build does not start under ulimit -v"
    exit 77
fi
ok "$PARSREC" synth -o shop.data --users 40 --sessions 6 --products 20 --csv shop.csv
ok "$PARSREC" train -o model --set dim.user=8 --set dim.item=8 --epochs 1 shop.data

# rung KILOBYTES COMMAND...: `timeout` only ends what hangs.
rung() {
    kilobytes=$1
    shift
    timeout -s KILL 300 sh -c 'ulimit -v $0 && exec "$@"' "$kilobytes" "$PARSREC" "$@" \
        >stdout 2>stderr </dev/null
    code=$?
    if [ $code -eq 0 ]; then
        worked=$((worked + 1))
        pass
    elif [ $code -eq 1 ] && tail -n 1 stderr | grep -q '^parsrec '; then
        refused=$((refused + 1))
        pass
    else
        fail "status $code with $kilobytes kB: $*"
    fi
}
worked=0
refused=0
for kilobytes in 36000 40000 45000 60000 80000 120000 200000 420000 1000000; do
    rm -rf maps shelf compared
    rung $kilobytes import -o imported shop.csv
    rung $kilobytes info shop.data
    rung $kilobytes train -o trained --set dim.user=8 --set dim.item=8 --epochs 1 shop.data
    rung $kilobytes eval model shop.data
    rung $kilobytes recommend model --user 1
    rung $kilobytes explain model shop.data --top 10 -o maps
    rung $kilobytes whatif model shop.data --drop category=C0 --draws 1 -o shelf
    rung $kilobytes compare shop.data --models pop,personal -o compared
done
# Where the library of fonts used to crash, on the way to the learning curves.
for kilobytes in 62000 70000 76000 90000; do
    rung $kilobytes tune shop.data --set dim.user=4 --set dim.item=4 --trials 1 --epochs 1 --jobs 1 -o tuned --retrain
done
echo "$worked worked, $refused refused"
[ "$worked" -gt 8 ] && [ "$refused" -gt 0 ] && pass || fail "the rungs are all too high or too low"
