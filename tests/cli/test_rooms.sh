# The rooms of the house keep their include directions (CONTRIBUTING.md has the table), and no two
# source files bear the same name.
cd "$PARSREC_SOURCE" || exit 1

# What each room may include besides itself, parsrec.h and the system.
allowed() {
    case $1 in
    base) echo "" ;;
    math | data | plot) echo "base" ;;
    model) echo "base math data/batch.h data/counted.h data/truth.h" ;;
    train) echo "base math data model eval" ;;
    eval) echo "base math data model" ;;
    explain) echo "base math data model plot" ;;
    whatif) echo "base math data model eval plot" ;;
    compare) echo "base data model train eval plot" ;;
    tune) echo "base data model train plot compare" ;;
    api) echo "base math data model train eval explain whatif plot compare tune" ;;
    cli) echo "base serve/serve.h" ;;
    serve) echo "base" ;;
    *) echo "" ;;
    esac
}

# violations FOLDER: prints "file: include" for every arrow that points upward.
violations() {
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1" --include='*.c' --include='*.h' |
        sed -E 's/^([^:]*):[0-9]+:[^"]*"([^"]*)".*/\1 \2/' |
        while read -r file header; do
            room=${file#"$1"/}
            room=${room%%/*}
            target=${header%%/*}
            [ "$header" = parsrec.h ] && continue
            [ "$target" = "$room" ] && continue
            permitted=no
            for a in $(allowed "$room"); do
                case $a in
                */*) [ "$header" = "$a" ] && permitted=yes ;;
                *) [ "$target" = "$a" ] && permitted=yes ;;
                esac
            done
            [ $permitted = yes ] || echo "$file: $header"
        done
}

found=$(violations src)
same "$found" "" "upward includes"

# The test itself can fail: an arrow from base to data is seen.
mkdir -p "$folder/bad/base"
echo '#include "data/dataset.h"' >"$folder/bad/base/x.c"
same "$(violations "$folder/bad" | wc -l)" 1 "a planted upward include"

same "$(find src include -name '*.[ch]' | sed 's,.*/,,' | sort | uniq -d)" "" "repeated file names"
