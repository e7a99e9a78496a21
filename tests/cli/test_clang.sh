# clang reads every source file of library and program without a warning, by the flags that the build has for it.
command -v clang >/dev/null || missing "clang is not installed"
/usr/bin/python3 - "$PARSREC_BUILD/compile_commands.json" >commands <<'EOF'
import json, shlex, sys
seen = set()
for entry in json.load(open(sys.argv[1])):
    words = shlex.split(entry["command"])
    words = words[next(i for i, w in enumerate(words) if w.startswith("-")):]  # without the compiler and a cache before it
    if "/src/" in entry["file"] and entry["file"].endswith(".c") and entry["file"] not in seen:
        at = words.index("-o")
        del words[at:at + 2]
        print(shlex.join(["clang", "-fsyntax-only", "-Werror"] + words))
        seen.add(entry["file"])
EOF
cd "$PARSREC_BUILD" || exit 1
tr '\n' '\0' <"$folder/commands" | xargs -0 -P2 -I{} sh -c '{}' >"$folder/said" 2>&1
same "$?" 0 "status of clang: $(grep -m3 'error:' "$folder/said")"
same "$(grep -c 'error:\|warning:' "$folder/said")" 0 "warnings of clang"
[ "$(wc -l <"$folder/commands")" -gt 200 ] || fail "only $(wc -l <"$folder/commands") files were read"
