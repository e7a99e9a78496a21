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
