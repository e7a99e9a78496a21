# Every example of README, docs and --help does what it says.
ok /usr/bin/python3 "$PARSREC_SOURCE/tests/cli/doc_examples.py" "$PARSREC" "$PARSREC_SOURCE"
cat stdout
