# The public header stands alone, as C11 and as C++17, under strict warnings.
header=$PARSREC_SOURCE/include/parsrec.h
for language in "cc -x c -std=c11 -Wstrict-prototypes" "c++ -x c++ -std=c++17"; do
    # shellcheck disable=SC2086 # words
    ok $language -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only "$header"
done
# Every macro and tag it gives to other programs has our prefix, except those that the specification of
# the Arrow C interface fixes, under its own guards.
arrow='ARROW_(C_DATA_INTERFACE|C_STREAM_INTERFACE|FLAG_[A-Z_]+)|Arrow(Schema|Array|ArrayStream)'
grep -oE '^#define +[A-Za-z0-9_]+|^(typedef )?(struct|enum|union) +[A-Za-z0-9_]+' "$header" |
    awk '{print $NF}' | grep -vE "^(PARSREC_|parsrec_|($arrow)\$)" >names
same "$(cat names)" "" "names without prefix"
# And the shared library exports nothing else.
nm -D --defined-only "$PARSREC_BUILD/src/libparsrec.so" | awk '$2 ~ /[TDBR]/ {print $3}' |
    grep -v '^parsrec_' | grep -vE '^(_init|_fini|__asan|__ubsan|__odr_asan|__gcov|__llvm)' >exported
same "$(cat exported)" "" "exported names"
