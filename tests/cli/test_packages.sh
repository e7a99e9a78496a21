# What the Debian packages say agrees with the build: version, exported functions, the unit, the files.
# scripts/build_deb.sh builds them and asks lintian, scripts/test_deb.sh tries them in a bare Debian.
debian=$PARSREC_SOURCE/debian
ok "$PARSREC" --version
version=$(sed 's/parsrec //' stdout)
same "$(sed -n '1s/parsrec (\(.*\)) .*/\1/p' "$debian/changelog")" "$version" "version of debian/changelog"
same "$(sed -n 's/__version__ = "\(.*\)"/\1/p' "$PARSREC_SOURCE/python/parsrec/_version.py")" "$version" "version of the Python package"
same "$(nm -D --defined-only "$PARSREC_BUILD/src/libparsrec.so" | sed -n 's/.* T \(parsrec_\)/\1/p' | LC_ALL=C sort)" \
    "$(sed -n 's/^ \(parsrec_.*\)@Base.*/\1/p' "$debian/libparsrec0.symbols")" \
    "debian/libparsrec0.symbols (scripts/python_abi.py writes it)"
# Every file that the packages take from the source is there.
missing=$(cd "$PARSREC_SOURCE" && cat debian/*.docs debian/*.examples | while read -r named; do
    # shellcheck disable=SC2086 # patterns
    ls $named >/dev/null 2>&1 || echo "$named"
done)
same "$missing" "" "files of debian/*.docs and debian/*.examples that do not exist"
for script in "$debian/tests/program" "$debian/tests/library" "$PARSREC_SOURCE"/scripts/*.sh "$PARSREC_SOURCE"/contrib/*/*.sh; do
    [ -e "$script" ] || continue
    ok sh -n "$script"
done
ok /usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$debian/tests/python"
for test in $(sed -n 's/^Tests: //p' "$debian/tests/control"); do ok test -x "$debian/tests/$test"; done
# The unit of the package is made from ours by these two changes.
unit=$PARSREC_SOURCE/contrib/systemd/parsrec.service
same "$(grep -c '^DynamicUser=yes$' "$unit")" 1 "DynamicUser in the unit"
same "$(grep -c '/usr/local/bin/' "$unit")" 1 "path of the program in the unit"

# The bill of materials: valid JSON, every package once, what the page contains among them, the same bytes twice.
sbom() { /usr/bin/python3 "$PARSREC_SOURCE/scripts/sbom.py" "$PARSREC_SOURCE" "$version" 1700000000 "$(printf 'x' | sha256sum | cut -d ' ' -f 1)"; }
ok sbom
cp stdout sbom.json
ok /usr/bin/python3 -c '
import json
d = json.load(open("sbom.json"))
ids = [p["SPDXID"] for p in d["packages"]]
assert len(ids) == len(set(ids)) and "SPDXRef-npm--observablehq-plot" in ids and "SPDXRef-parsrec" in ids, ids
assert all(r["relatedSpdxElement"] in ids for r in d["relationships"])
assert not any("esbuild" in i or "playwright" in i for i in ids)
'
ok sbom
same "$(cksum <stdout)" "$(cksum <sbom.json)" "two bills of materials"
