# No identifier is declared in two headers, and pr_X and parsrec_X never mean different things: a pair with the
# same stem is listed here, once somebody has looked at it.
cd "$PARSREC_SOURCE" || exit 1

# declared FOLDERS: prints "identifier header" for every function, type, macro and enumerator that a header
# declares. A guard is no identifier; a type may be announced (struct pr_x;) in many headers.
declared() {
    find "$@" -name '*.h' | sort | while read -r header; do
        perl -0777 -ne '
            s{/\*.*?\*/}{ }gs; s{//[^\n]*}{}g; s/"(\\.|[^"\\])*"/""/g;
            my %seen; my $guard = /^\s*#\s*ifndef\s+(\w+)/m ? $1 : "";
            while (/^[ \t]*#[ \t]*define[ \t]+(\w+)/mg) { $seen{$1} = 1 if $1 ne $guard }
            s/^[ \t]*#([^\n\\]|\\\n|\\.)*//mg;                         # the preprocessor is done with
            s/extern "" \{//g;                                         # of C++, closed at the end
            while (/\benum\b[^{;]*\{([^}]*)\}/g) {                      # enumerators
                my $list = $1;
                $seen{$1} = 1 while $list =~ /(?:^|,)\s*([A-Za-z_]\w*)/g;
            }
            1 while s/\{[^{}]*\}/ BODY /gs;                             # bodies of structs and functions
            for (split /;|\bBODY\b(?!\s*\w+\s*[;,])/) {
                s/\s+/ /g; s/^ //;
                s/__attribute__ ?\(\(.*?\)\) ?//g;
                if (/\btypedef\b.*\(\* ?(\w+) ?\)/) { $seen{$1} = 1 }
                elsif (/\btypedef\b.*?(\w+) ?$/) { $seen{$1} = 1 }
                elsif (/\bextern\b.* \*?(\w+)(\[.*)?$/ && !/\(/) { $seen{$1} = 1 }
                elsif (/^[A-Za-z_][\w \*]*?[ \*](\w+) ?\(/) { $seen{$1} = 1 }
            }
            print "$_\n" for sort keys %seen;
        ' "$header" | while read -r name; do echo "$name $header"; done
    done
}

# twice LIST: identifiers that two headers declare.
twice() { awk '{ print $1 }' "$1" | LC_ALL=C sort | uniq -d; }

# pairs LIST: stems of the names that have both prefixes, in small letters or in capitals.
pairs() {
    sed -nE 's/^(parsrec|PARSREC)_([A-Za-z0-9_]+) .*/\1 \2/p; s/^(pr|PR)_([A-Za-z0-9_]+) .*/\1 \2/p' "$1" |
        awk '{ low = ($1 ~ /^p/); public = (tolower($1) == "parsrec"); seen[low " " $2, public] = 1; stem[low " " $2] = $2 }
             END { for (s in stem) if (seen[s, 0] && seen[s, 1]) print stem[s] }' | sort -u
}

# The public function or type X and the private one that does its work, or is what it shows.
alike="ablate baselines baselines_json bench_train compare config_text curves_text eval_json explain explanation
live_add live_cart live_find live_forget live_forget_hash live_forgotten live_free live_new model model_free
model_load name progress ranks recommend step_part time_kind train tune whatif"

declared src include >"$folder/names"
[ "$(grep -c '^pr_' "$folder/names")" -gt 800 ] || fail "few private names were found"
[ "$(grep -c '^parsrec_' "$folder/names")" -gt 100 ] || fail "few public names were found"
for name in pr_gemm pr_config PR_TILE PR_HISTORY_MEAN parsrec_train parsrec_hit PARSREC_USER pr_model_kinds; do
    grep -q "^$name " "$folder/names" || fail "$name was not found"
done
same "$(twice "$folder/names")" "" "identifiers of two headers"
same "$(pairs "$folder/names" | grep -vxF "$(printf '%s\n' $alike)")" "" "unlisted pairs pr_X and parsrec_X"

# The test itself can fail: planted headers declare each kind of identifier a second time.
mkdir -p "$folder/planted"
cat >"$folder/planted/a.h" <<'END'
#ifndef A_H
#define A_H
#define PR_MACRO 1
typedef struct pr_type { int x; } pr_type;
typedef enum pr_kind { PR_FIRST, PR_SECOND = 2 } pr_kind;
static inline int pr_inline(int x) { return x; }
int pr_function(const pr_type *type, /* pr_comment( */
                int n);
struct pr_announced;
int parsrec_stem(void);
#endif
END
sed 's/A_H/B_H/; s/parsrec_stem/pr_stem/' "$folder/planted/a.h" >"$folder/planted/b.h"
declared "$folder/planted" >"$folder/planted/names"
same "$(twice "$folder/planted/names" | tr '\n' ' ')" \
    "PR_FIRST PR_MACRO PR_SECOND pr_function pr_inline pr_kind pr_type " "planted identifiers"
same "$(pairs "$folder/planted/names")" "stem" "a planted pair"
