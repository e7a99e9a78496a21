# Every example of README, docs and --help does what it says.
case $(cd "$PARSREC_BUILD" && grep -E '^PARSREC_SANITIZE:' CMakeCache.txt) in
*=?*) echo "skipped: examples train models, which takes long with a sanitizer"; exit 77 ;;
esac
ok /usr/bin/python3 "$PARSREC_SOURCE/tests/cli/doc_examples.py" "$PARSREC" "$PARSREC_SOURCE"
cat stdout
