# Files with a right checksum and wrong contents: a short run of what bench/mutate.sh does at length.
ok "$PARSREC_BUILD/tests/mutate" mutants 1500
says "1500 mutations"
says " 0 found"
