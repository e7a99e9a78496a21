# The rooms of the house keep their directions (CONTRIBUTING.md has the table): what a room calls, as the
# linker sees it, and what it includes. No file name is used twice (test_identifiers.sh: identifiers).
cd "$PARSREC_SOURCE" || exit 1

# The rooms that each room may use.
allowed() {
    case $1 in
    base) echo "" ;;
    math | report | ranks) echo "base" ;;
    data) echo "base" ;;
    import) echo "base data" ;;
    synth) echo "base math data" ;;
    model) echo "base math data synth ranks" ;;
    recommend) echo "base math data model ranks" ;;
    eval) echo "base math data import synth model ranks" ;;
    train) echo "base math data model eval report ranks" ;;
    compare) echo "base math data synth model eval train report ranks" ;;
    explain | whatif) echo "base math data synth model eval report ranks" ;;
    cli) echo "base serve/serve.h" ;;
    serve) echo "base" ;;
    esac
}

# may_use ROOM TARGET HEADER: whether the table has that arrow.
may_use() {
    [ "$1" = "$2" ] && return 0
    for a in $(allowed "$1"); do
        [ "$a" = "$2" ] && return 0
        [ "$a" = "$3" ] && return 0
    done
    return 1
}

# includes FOLDER: prints "file: include" for every arrow that is not in the table.
includes() {
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1" --include='*.c' --include='*.h' |
        sed -E 's/^([^:]*):[0-9]+:[^"]*"([^"]*)".*/\1 \2/' |
        while read -r file header; do
            room=${file#"$1"/}
            [ "$header" = parsrec.h ] || may_use "${room%%/*}" "${header%%/*}" "$header" ||
                echo "$file: $header"
        done
}

# calls LIST: of lines "room U|D symbol", prints "room -> room symbol" for every call that is not in the
# table. The program may call the library by its public functions only, whichever room defines them.
calls() {
    awk '$2 == "D" { home[$3] = $1 } $2 == "U" { use[NR] = $1 " " $3 }
         END { for (n in use) { split(use[n], u, " "); if (u[2] in home && home[u[2]] != u[1])
                                    print u[1], home[u[2]], u[2] } }' "$1" | sort -u |
        while read -r room target symbol; do
            case $room:$symbol in
            cli:parsrec_* | serve:parsrec_*) continue ;;
            cli:*) [ "$target" = serve ] && continue ;;
            esac
            may_use "$room" "$target" - || echo "$room -> $target $symbol"
        done
}

same "$(includes src)" "" "includes against the table"

# The objects of the sources that are there now: a build folder keeps those of files that moved.
for room in $(cd src && ls -d */); do
    room=${room%/}
    (cd src && find "$room" -name '*.c') | while read -r source; do
        ls "$PARSREC_BUILD"/src/CMakeFiles/*.dir/"$source.o" 2>/dev/null
    done | xargs nm -g 2>/dev/null |
        awk -v room="$room" 'NF == 2 && $1 == "U" { print room, "U", $2 }
                             NF == 3 && $2 ~ /[TDBRVW]/ { print room, "D", $3 }'
done >"$folder/symbols"
[ "$(grep -c ' D pr_' "$folder/symbols")" -gt 500 ] || fail "nm found the library's symbols"
same "$(calls "$folder/symbols")" "" "calls against the table"

# The test itself can fail: an arrow from base to data is seen, by include and by call.
mkdir -p "$folder/bad/base"
echo '#include "data/dataset.h"' >"$folder/bad/base/x.c"
same "$(includes "$folder/bad" | wc -l)" 1 "a planted include"
printf 'base U pr_x\ndata D pr_x\ncli U parsrec_y\ndata D parsrec_y\n' >"$folder/planted"
same "$(calls "$folder/planted")" "base -> data pr_x" "a planted call"

# The drawing in docs is of the rooms as they are.
/usr/bin/python3 scripts/rooms_svg.py "$PARSREC_BUILD" >"$folder/rooms.svg"
same "$(cmp "$folder/rooms.svg" docs/rooms.svg 2>&1)" "" "docs/rooms.svg (scripts/rooms_svg.py makes it)"

same "$(find src include -name '*.[ch]' | sed 's,.*/,,' | sort | uniq -d)" "" "repeated file names"

# Files that documents, scripts and comments name exist.
missing=$(grep -ohE '\b(src|tests|bench|scripts|examples|cmake)/[A-Za-z0-9_/]+\.(c|h|sh|py|csv|json)\b' \
    README.md CONTRIBUTING.md docs/*.md docs/adr/*.md web/README.md | sort -u |
    grep -v -e _hello -e NAME | while read -r named; do [ -e "$named" ] || echo "$named"; done)
same "$missing" "" "files named in documents that do not exist"
