# Helpers of the CLI tests. Every call counts; `finish` reports and sets the exit status.
passed=0
failed=0

# printed FILE: of a long one the beginning and the end, where most programs say why they failed.
printed() {
    awk -v name="$1" '{ line[NR] = $0 }
        END { for (i = 1; i <= NR; i++) if (i <= 20 || i > NR - 40) print "  " name ": " line[i] }' "$1"
}

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    for stream in stdout stderr; do
        if [ -s $stream ]; then printed $stream; fi
    done
}

# ok COMMAND...: must exit 0. Output stays in the files stdout and stderr.
ok() {
    "$@" >stdout 2>stderr </dev/null
    code=$?
    if [ $code -eq 0 ]; then pass; else fail "exit $code: $*"; fi
}

# fails CODE TEXT COMMAND...: must exit with CODE, say TEXT on stderr, in one line.
fails() {
    expected=$1 text=$2
    shift 2
    "$@" >stdout 2>stderr </dev/null
    code=$?
    if [ $code -ne "$expected" ]; then
        fail "exit $code, expected $expected: $*"
    elif ! grep -qF -- "$text" stderr; then
        fail "stderr lacks '$text': $*"
    elif [ "$expected" -eq 1 ] && [ "$(wc -l <stderr)" -ne 1 ]; then
        fail "stderr is not one line: $*"
    else
        pass
    fi
}

# says TEXT: the last command's stdout holds TEXT.
says() { if grep -qF -- "$1" stdout; then pass; else fail "stdout lacks '$1'"; fi; }
# warns TEXT: its stderr does.
warns() { if grep -qF -- "$1" stderr; then pass; else fail "stderr lacks '$1'"; fi; }
# absent FILE...: none of the files exists, nor a temporary one beside it.
absent() {
    for f in "$@"; do
        if [ -e "$f" ] || ls "$f".*.tmp >/dev/null 2>&1; then fail "$f was left behind"; else pass; fi
    done
}
# same A B WHAT: two texts are equal.
same() { if [ "$1" = "$2" ]; then pass; else fail "${3:-values}: '$1' is not '$2'"; fi; }

# missing WHAT: a tool that ./check installs is not there. The test is skipped; in ./check, which sets
# PARSREC_COMPLETE, it fails.
missing() {
    if [ -n "${PARSREC_COMPLETE:-}" ]; then
        echo "FAILED: $*"
        exit 1
    fi
    echo "skipped: $*"
    exit 77
}
# left_out WHAT: a part of the test that cannot be done here; ./check repeats the words at its end.
left_out() { echo "left out: $*"; }

# wait_for COMMAND...: until it succeeds. Only the time limit of the whole test ends it: on a busy machine everything
# comes in the end.
wait_for() { until "$@"; do sleep 0.05; done; }

# stop_when SIGNAL CONDITION UNDO COMMAND...: runs the command and sends it SIGNAL once CONDITION, a shell expression, is
# true; it must still be true when the command is gone. A run that came to its end first shows nothing: UNDO removes what it
# made and another begins. Output stays in stdout and stderr, the exit status in $code.
stop_when() {
    signal=$1 condition=$2 undo=$3 attempts=0
    shift 3
    while [ $attempts -lt 100 ]; do
        # env makes the shell's ignored SIGINT of background jobs the default again.
        env --default-signal=INT "$@" >stdout 2>stderr </dev/null &
        victim=$!
        until eval "$condition" || ! kill -0 $victim 2>/dev/null; do sleep 0.01; done
        kill -"$signal" $victim 2>/dev/null
        wait $victim 2>/dev/null
        code=$?
        if eval "$condition"; then
            pass
            return
        fi
        eval "$undo"
        attempts=$((attempts + 1))
    done
    fail "in $attempts runs it was never so that $condition: $*"
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}
