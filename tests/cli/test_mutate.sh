# Files with a right checksum and wrong contents: a short run of what bench/mutate.sh does at length. Sanitizers see
# most of what there is to find.
count=200
[ -z "${PARSREC_SANITIZE:-}" ] || count=600
ok "$PARSREC_BUILD/tests/mutate" mutants $count
says "$count mutations"
says " 0 found"
