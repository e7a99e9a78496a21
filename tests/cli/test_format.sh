# Every source file is formatted as .clang-format says.
command -v clang-format >/dev/null || missing "clang-format is not installed"
cd "$PARSREC_SOURCE" || exit 1
find src include tests bench examples web/wasm -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror >"$folder/format" 2>&1
same "$(grep -c 'error:' "$folder/format")" 0 "lines that clang-format would change: $(head -3 "$folder/format")"
