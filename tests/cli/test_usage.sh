# What a person meets first: help, a wrong word, a wrong option, and a man page that tells the truth.
ok "$PARSREC" --help
says "usage: parsrec COMMAND"
ok "$PARSREC" --version
fails 2 "usage: parsrec COMMAND" "$PARSREC"
fails 2 "there is no command 'trian'" "$PARSREC" trian
fails 2 "(did you mean 'train'?)" "$PARSREC" trian
fails 2 "(did you mean '--epochs'?)" "$PARSREC" train --epoch 3
fails 2 "(did you mean 'remaining'?)" "$PARSREC" eval m d --protocol remainin
ok "$PARSREC" help train
says "usage: parsrec train"
fails 2 "unknown option --nonsense" "$PARSREC" info --nonsense
fails 2 "a whole number from" "$PARSREC" synth -o x.st --users -5
fails 2 "--seed needs a value" "$PARSREC" synth --seed
fails 2 "unexpected argument" "$PARSREC" info a b
fails 2 "something is missing" "$PARSREC" check

# No default that means something else, every kind of model named.
for command in $("$PARSREC" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
    "$PARSREC" "$command" --help >help.txt
    same "$(grep -E '0 (as|never|for|all|those|the) .*\[0\]' help.txt)" "" "$command: a [0] that is not 0"
    ok grep -q '^examples:' help.txt
done
kinds=$("$PARSREC" train --model nothing --print-config 2>&1 | sed 's/.*there are: //; s/,//g')
for kind in $kinds; do
    "$PARSREC" train --help | grep -qw "$kind" && grep -qw "$kind" "$PARSREC_SOURCE/docs/man/parsrec.1"
    same "$?" 0 "the kind $kind is named in train --help and in the man page"
done
ok test "$(echo "$kinds" | wc -w)" -gt 5

# Each command and each of its options stands in parsrec(1), and parsrec(1) names no other.
man=$PARSREC_SOURCE/docs/man/parsrec.1
"$PARSREC" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' >commands
ok test -s commands
while read -r command; do
    "$PARSREC" "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z0-9-]+' | grep -oE '[-][-][a-z0-9-]+' |
        sed "s/^/$command /"
done <commands | grep -v -- ' --help$' | sort >in_help
awk '/^\.SS / {command = $2; next}
     /^\.SH / {command = ""}
     command != "" && /^\.B/ {
         line = $0; gsub(/\\-/, "-", line)
         while (match(line, /--[a-z0-9-]+/)) {
             print command, substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
         }
     }' "$man" | sort -u >in_man
ok diff in_help in_man
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$man" >lint 2>&1
    same "$(cat lint)" "" "man page"
fi
