# Helpers of tests that talk to a server.
server_pid=
url=

# start_server ARGUMENTS...: the server runs on a free port of this machine when it returns, its address in
# $url, its process in $server_pid. A busy machine may take its time for an answer of relations; a test that
# means that limit sets it.
start_server() {
    : >server.out
    "$PARSREC" serve --work-time 30m "$@" --listen 127.0.0.1:0 >server.out 2>server.err &
    server_pid=$!
    while ! [ -s server.out ] && kill -0 $server_pid 2>/dev/null; do sleep 0.05; done
    url=$(head -n 1 server.out)
    if [ -n "$url" ]; then pass; else fail "the server did not start: $(cat server.err)"; fi
}

# stop_server: ends it as a service manager does; it must end well.
stop_server() {
    kill -TERM $server_pid
    wait $server_pid
    same $? 0 "exit status of the server"
    server_pid=
}

clean_up() { [ -z "$server_pid" ] || kill -9 "$server_pid" 2>/dev/null; }

# web ARGUMENTS...: curl, with $token where there is one.
web() {
    if [ -n "${token:-}" ]; then
        curl -s -H "Authorization: Bearer $token" "$@"
    else
        curl -s "$@"
    fi
}

# ask STATUS METHOD PATH [BODY]: the body of the answer is in the file stdout, the headers in headers, and both are kept
# for `described`.
asked=0
ask() {
    expected=$1 method=$2 path=$3 asked=$((asked + 1))
    if [ $# -gt 3 ]; then
        web -o stdout -D headers -w '%{http_code}' -X "$method" --data-binary "$4" "$url$path" >code
    elif [ "$method" = HEAD ]; then
        web -o stdout -D headers -w '%{http_code}' -I "$url$path" >code
    else
        web -o stdout -D headers -w '%{http_code}' -X "$method" "$url$path" >code
    fi
    same "$(cat code)" "$expected" "status of $method $path"
    mkdir -p answers
    cp stdout answers/$asked
    printf '%s\n' "$method" "$path" "$(cat code)" >answers/$asked.told
}

# described: docs/openapi.json says of every answer so far that it may be so.
described() {
    same "$(python3 "$PARSREC_SOURCE/tests/cli/described.py" "$PARSREC_SOURCE/docs/openapi.json" answers 2>&1)" "" \
        "answers that docs/openapi.json does not describe"
}

# answers STATUS COMMAND...: the command prints that status.
answers() {
    expected=$1
    shift
    [ "$("$@")" = "$expected" ]
}

# tells PYTHON: an expression about `a`, the JSON of the last answer, is true.
tells() {
    if python3 -c 'import json, sys
a = json.load(open("stdout"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1"; then pass; else fail "not so: $1"; fi
}
