# The public header stands alone, as C11 and as C++17, under strict warnings.
header=$PARSREC_SOURCE/include/parsrec.h
for language in "cc -x c -std=c11 -Wstrict-prototypes" "c++ -x c++ -std=c++17"; do
    # shellcheck disable=SC2086 # words
    ok $language -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only "$header"
done
# Every name it gives to other programs has our prefix.
cc -std=c11 -E -P "$header" | grep -oE '\b[a-z_]+ *\(' | grep -vE '^(parsrec_|on_|__attribute__|visibility)' >names
same "$(grep -cvE '^$' names)" 0 "functions without prefix: $(tr '\n' ' ' <names)"
# And the shared library exports nothing else.
nm -D --defined-only "$PARSREC_BUILD/src/libparsrec.so" | awk '$2 ~ /[TDBR]/ {print $3}' |
    grep -v '^parsrec_' | grep -vE '^(_init|_fini|__asan|__ubsan|__odr_asan|__gcov|__llvm)' >exported
same "$(cat exported)" "" "exported names"
