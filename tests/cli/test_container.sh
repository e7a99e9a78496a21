# Files go both ways between us and an independent reader and writer; info and check tell the truth
# about whole and about damaged files.
PYTHONPATH=$PARSREC_SOURCE/tests/cli
export PYTHONPATH
python="/usr/bin/python3 -B"
$python -c 'import numpy' 2>/dev/null || missing "/usr/bin/python3 has no numpy (Debian: python3-numpy)"

# Ours, read by the peer.
ok "$PARSREC_BUILD/tests/write_sample" ours.st
cat >read.py <<'END'
import json
import numpy as np
from safetensors_peer import read

meta, t, place = read("ours.st")
assert meta["format"] == "parsrec.data" and meta["version"] == "1", meta
assert meta["time_kind"] == "unix" and json.loads(meta["source"]) == {"command": "test"}, meta
assert all(at % 64 == 0 for name, at in place.items() if not name.startswith("pad.")), place
names = lambda n: [bytes(t[n + ".bytes"][a:b]).decode() for a, b in
                   zip(t[n + ".offsets"][:-1], t[n + ".offsets"][1:])]
assert names("user_keys") == ["ann", "bob", "cy"]
assert names("item_keys") == ["milk", "bread", "eggs", "Té"]
assert names("item_names") == ["Milk 1.5l", "", "Eggs", "Tea bags"]
assert names("category_names") == ["FOOD", "DAIRY", "DRINK"]
assert names("session_feature.channel.values") == ["shop", "web"]
assert t["user_offsets"].tolist() == [0, 3, 3, 5]
assert t["session_offsets"].tolist() == [0, 2, 4, 7, 8, 9]
assert t["items"].tolist() == [0, 1, 0, 2, 1, 2, 3, 0, 3]
assert t["times"].tolist() == [1700000000, 1700000000, 1700086400, 0, 1800000000]
assert t["category_parent"].tolist() == [-1, 0, -1]
assert t["item_category"].tolist() == [1, 0, -1, 2]
assert t["session_feature.channel"].tolist() == [0, 1, -1, 1, 0]
assert t["user_feature.age"][0] == 31.5 and np.isnan(t["user_feature.age"][1])
assert t["truth.weights"].tolist() == [[0.5, -1], [2, 3]]
END
ok $python read.py
ok "$PARSREC" check ours.st
says "ours.st: parsrec.data version 1, $($python -c '
from safetensors_peer import read
print(sum(not n.startswith("pad.") for n in read("ours.st")[1]))') tensors"
says "bytes, checksum matches"

# Written by the peer, read by us: no padding, no checksum, nothing aligned.
cat >write.py <<'END'
import sys
import numpy as np
from safetensors_peer import write

def names(table, words):
    ends = np.cumsum([0] + [len(w.encode()) for w in words]).astype("<i8")
    return {table + ".bytes": np.frombuffer("".join(words).encode(), "u1"), table + ".offsets": ends}

version, path = sys.argv[1:]
i4 = lambda *v: np.array(v, "<i4")
i8 = lambda *v: np.array(v, "<i8")
write(path, {"format": "parsrec.data", "version": version, "time_kind": "ordinal"}, {
    **names("user_keys", ["u1", "u2"]), **names("item_keys", ["a", "bé", "c"]),
    "user_offsets": i8(0, 3, 4), "session_offsets": i8(0, 2, 3, 4, 6),
    "items": i4(0, 1, 1, 2, 2, 0), "times": i8(1, 2, 2, -5),
    "item_feature.weight": np.array([1, 2, 3], "<f4")})
END
ok $python write.py 1 peer.st
ok "$PARSREC" check peer.st
says "peer.st: parsrec.data version 1, 9 tensors"
says "no checksum"
ok "$PARSREC" info peer.st
says "density"
says "checksum    none"
ok "$PARSREC" info --json peer.st
same "$($python -c '
import json
d = json.load(open("stdout"))
print(d["users"], d["sessions"], d["items"], d["actions"], d["first_time"], d["last_time"],
      d["first_date"], d["basket_median"], round(d["repeat_share"], 3), d["density"],
      d["item_features"], d["checksum"], d["synthetic"])')" \
    "2 4 3 6 -5 2 None 1 0.167 0.8333333333333334 1 None False" "info --json"

ok "$PARSREC" info ours.st
says "1970-01-01T00:00:00Z"
says "2027-01-15T08:00:00Z"
says "with its ground truth"
ok "$PARSREC" info ours.st --json
says '"first_date": "1970-01-01T00:00:00Z"'
says '"synthetic": true'

# Damage gets one sentence and exit 1.
cut() { head -c "$1" ours.st >cut.st; }
size=$(wc -c <ours.st)
cut $((size - 1))
fails 1 "cut.st: " "$PARSREC" check cut.st
cut 7
fails 1 "7 bytes are too few" "$PARSREC" info cut.st
: >empty.st
fails 1 "is empty (0 bytes)" "$PARSREC" check empty.st
$python -c '
d = bytearray(open("ours.st", "rb").read()); d[-1] ^= 4; open("flip.st", "wb").write(d)'
fails 1 "checksum" "$PARSREC" check flip.st
fails 1 "checksum" "$PARSREC" info flip.st
fails 1 "flip.st" "$PARSREC" check --json flip.st
says '"status": "E_CHECKSUM"'
ok $python write.py 2 newer.st
fails 1 "version 2, this parsrec reads up to 1" "$PARSREC" check newer.st
$python -c 'from safetensors_peer import write; write("model.st", {"format": "other"}, {})'
fails 1 "this parsrec cannot check the format 'other'" "$PARSREC" check model.st
fails 1 "is 'other', not parsrec.data" "$PARSREC" info model.st
$python -c 'from safetensors_peer import write; write("bare.st", {}, {})'
fails 1 "without the metadata 'format'" "$PARSREC" check bare.st
echo 'user,item' >text.csv
fails 1 "text.csv: is a text table, not a data set or model; make a data set of it with parsrec import -o DATA text.csv" \
    "$PARSREC" check text.csv
fails 1 "is a directory" "$PARSREC" check .
fails 1 "No such file" "$PARSREC" info missing.st
odd=$(printf 'odd\377.st')
cp ours.st "$odd" && ok "$PARSREC" check --json "$odd" && says '"file": "odd?.st"'
"$PARSREC" info ours.st >/dev/full 2>stderr
same "$?" 1 "exit status on a full disk"

# The specification: its reader is as short as it says, its example is valid, and it names every
# tensor that we write.
format=$PARSREC_SOURCE/docs/format.md
ok test "$(wc -l <"$PARSREC_SOURCE/tests/cli/safetensors_peer.py")" -lt 30
mkdir seeds
ok $python "$PARSREC_SOURCE/tests/fuzz/container_seeds.py" seeds ours.st
ok "$PARSREC" check seeds/least
ok "$PARSREC" synth -o synth.st --users 4 --sessions 3
ok "$PARSREC" check synth.st
cat >tensors.py <<'END'
import re
from safetensors_peer import read

for path in "ours.st", "synth.st":
    for name in read(path)[1]:
        name = re.sub(r"\.(bytes|offsets)$", "", name)
        name = re.sub(r"_feature\..*", "_feature.NAME", name)
        if not re.match(r"pad\.|truth\.weights$", name): # made up in write_sample
            print(name)
END
ok $python tensors.py
sort -u stdout >names
ok test "$(wc -l <names)" -gt 15
while read -r name; do
    if grep -qF "| \`$name\` |" "$format"; then pass; else fail "docs/format.md lacks $name"; fi
done <names
