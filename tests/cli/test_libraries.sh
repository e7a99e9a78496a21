# Libraries that are loaded when needed: the program starts without them, says which one is missing and
# what to install, and does everything that does not need it.
if command -v ldd >/dev/null; then
    ok ldd "$PARSREC"
    same "$(grep -cE 'libpq|libcairo|libX11|libldap|libopenblas|libduckdb' stdout)" 0 "libraries linked at start"
fi
ok "$PARSREC" synth -o s.st --users 8 --sessions 12 --products 6

# Without libpq.
PARSREC_LIBPQ=$folder/nothing.so
export PARSREC_LIBPQ
fails 1 "PostgreSQL addresses need libpq, which cannot be loaded; install it (Debian: apt install libpq5)" \
    "$PARSREC" import -o x.st postgresql://localhost/shop --table orders
absent x.st
unset PARSREC_LIBPQ

# Without cairo: training warns, pages have their charts, picture files are left out.
PARSREC_CAIRO=$folder/nothing.so
export PARSREC_CAIRO
ok "$PARSREC" train -o m.st s.st --epochs 1 --set dim.user=8 --set dim.item=8
warns "picture files need cairo, which cannot be loaded; install it (Debian: apt install libcairo2)"
absent m.st.png m.st.svg
ok "$PARSREC" explain m.st s.st --group truth --map drop --top 10 --baskets 8 -o bare
warns "no pictures are written"
ok test -s bare/drop-A.csv
absent bare/drop-A.png
ok "$PARSREC" whatif m.st s.st --drop category="$(sed -n '2s/,.*//p' bare/drop-A.csv)" --draws 1 -o bare_whatif
same "$(find bare_whatif -name '*.svg' | wc -l)" 0 "pictures of a what-if without cairo"
ok grep -q '<svg' bare_whatif/report.html
unset PARSREC_CAIRO
# The page is the same with cairo.
ok "$PARSREC" explain m.st s.st --group truth --map drop --top 10 --baskets 8 -o full
ok test -s full/drop-A.png
page() { grep -v -e 'parsrec explain' -e '<dd>parsrec ' "$1/report.html"; } # its command, its time
same "$(page bare | cksum)" "$(page full | cksum)" "page with and without cairo"

# A file that is no library of the kind.
fails 1 "has no function PQ" env PARSREC_LIBPQ=libc.so.6 \
    "$PARSREC" import -o x.st postgresql://localhost/shop --table orders
