# What a person meets first: help, a wrong word, a wrong option, and a man page that tells the truth.
ok "$PARSREC" --help
says "usage: parsrec COMMAND"
ok "$PARSREC" --version
fails 2 "usage: parsrec COMMAND" "$PARSREC"
fails 2 "there is no command 'trian'" "$PARSREC" trian
fails 2 "(did you mean 'train'?)" "$PARSREC" trian
fails 2 "(did you mean '--epochs'?)" "$PARSREC" train --epoch 3
fails 2 "(did you mean 'remaining'?)" "$PARSREC" eval m d --protocol remainin
fails 2 "unknown option --nonsense" "$PARSREC" info --nonsense
fails 2 "a whole number from" "$PARSREC" synth -o x.st --users -5
fails 2 "--seed needs a value" "$PARSREC" synth --seed
fails 2 "unexpected argument" "$PARSREC" info a b
fails 2 "an argument is missing" "$PARSREC" check

# No default that means something else, every kind of model named.
commands_of() { "$PARSREC" --help | sed -n '/help TOPIC/,$d; s/^  \([a-z][a-z-]*\) .*/\1/p'; }
topics_of() { "$PARSREC" --help | sed -n '1,/help TOPIC/d; s/^  \([a-z]*\) .*/\1/p'; }
for command in $(commands_of); do
    ok "$PARSREC" help "$command"
    says "usage: parsrec $command"
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

# Topics: a page each, no line over 100 columns; that of models has every kind, that of files and variables what
# the source reads.
ok test "$(topics_of | wc -l)" -gt 4
for topic in $(topics_of); do
    ok "$PARSREC" help "$topic"
    "$PARSREC" help "$topic" >page
    ok test "$(wc -l <page)" -gt 5
    same "$(awk 'length > 100' page)" "" "long lines in the topic $topic"
    for name in $(grep -o 'docs/[a-z]*\.md' page); do ok test -e "$PARSREC_SOURCE/$name"; done
done
"$PARSREC" help models >page
for kind in $kinds; do ok grep -qw "$kind" page; done
"$PARSREC" help environment >page
for variable in $(grep -rhoE '"PARSREC_[A-Z]+"' "$PARSREC_SOURCE/src" | tr -d '"' | sort -u); do ok grep -qw "$variable" page; done
fails 2 "there is no command or topic 'modles' (did you mean 'models'?)" "$PARSREC" help modles

# A password in the address of a database is in no message, wherever the address stands by mistake.
address='postgresql://tester:hush@/shop?host=/nowhere'
keeps_quiet() {
    "$PARSREC" "$@" >stdout 2>stderr </dev/null
    code=$?
    if [ $code -ne 0 ] && ! grep -q hush stdout stderr; then pass; else fail "exit $code, or the password is shown: $*"; fi
}
keeps_quiet "$address"
keeps_quiet help "$address"
for command in $(commands_of); do
    keeps_quiet "$command" "$address"
    keeps_quiet "$command" "$address" "$address" "$address"
    keeps_quiet "$command" no.st -o "$address"
    keeps_quiet "$command" no.st --threads="$address"
    keeps_quiet "$command" --"$address"
    keeps_quiet "$command" "sqlite:$address"
    keeps_quiet "$command" no.st --store="sqlite:$address"
done
keeps_quiet import -o no.st mysql://tester:hush@nowhere/shop --table sales
keeps_quiet import -o no.st "POSTGRESQL${address#postgresql}" --table sales

# parsrec(1) and the completions are what the program prints from its option tables:
#   parsrec help --man >docs/man/parsrec.1
#   parsrec help --completion bash >contrib/completions/parsrec.bash (zsh: _parsrec, fish: parsrec.fish)
man=$PARSREC_SOURCE/docs/man/parsrec.1
completions=$PARSREC_SOURCE/contrib/completions
"$PARSREC" help --man >made
ok cmp made "$man"
"$PARSREC" help --completion bash >made
ok cmp made "$completions/parsrec.bash"
"$PARSREC" help --completion zsh >made
ok cmp made "$completions/_parsrec"
"$PARSREC" help --completion fish >made
ok cmp made "$completions/parsrec.fish"
fails 2 "no completion for 'tcsh'" "$PARSREC" help --completion tcsh
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$man" >lint 2>&1
    same "$(cat lint)" "" "man page"
fi

# Completion in bash: commands, options of a command, choices of an option.
if command -v bash >/dev/null; then
    cat >complete.bash <<'B'
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_parsrec
echo "${COMPREPLY[*]}"
B
    same "$(bash complete.bash "$completions/parsrec.bash" parsrec exp)" "explain export export-events" "commands"
    same "$(bash complete.bash "$completions/parsrec.bash" parsrec eval --prot)" "--protocol" "options"
    same "$(bash complete.bash "$completions/parsrec.bash" parsrec eval --protocol ba)" "basket" "choices"
    same "$(bash complete.bash "$completions/parsrec.bash" parsrec help mod)" "models" "topics"
fi
# The same in fish and zsh where they are installed; zsh needs a terminal to complete, so it only reads it.
if command -v fish >/dev/null; then
    fish_completes() { fish -N -c "source '$completions/parsrec.fish'; complete -C '$1'" | cut -f1 | tr '\n' ' '; }
    same "$(fish_completes 'parsrec exp')" "explain export export-events " "commands in fish"
    same "$(fish_completes 'parsrec info --')" "--help --json " "options in fish"
    same "$(fish_completes 'parsrec eval --protocol ba')" "basket " "choices in fish"
    same "$(fish_completes 'parsrec help tr')" "train " "help in fish"
    same "$(fish_completes 'parsrec help envi')" "environment " "topics in fish"
fi
if command -v zsh >/dev/null; then
    ok zsh -n "$completions/_parsrec"
    ok zsh -f -c 'fpath=("$0" $fpath); autoload -Uz compinit; compinit -u -D; [ "$_comps[parsrec]" = _parsrec ]' "$completions"
fi
