# A PostgreSQL server that lives as long as the test: to be read into a test, which then has $url, the
# password in PGPASSWORD, and restart_postgres. It skips the test where the server is not installed.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb || echo /nowhere/initdb)")
if [ ! -x "$bin/initdb" ]; then
    missing "PostgreSQL's initdb is not installed (Debian: postgresql)"
fi

# A folder that is short, as the path of a socket must be, and that every user may enter, which the test's own may not
# be: the server refuses to run as root and then runs as the user that Debian's package made.
socket=$(mktemp -d /tmp/parsrec-pg.XXXXXX) || exit 1
chmod 777 "$socket"
server=$socket/server
mkdir "$server"
if [ "$(id -u)" -eq 0 ]; then
    if ! id postgres >/dev/null 2>&1; then
        rm -rf -- "$socket"
        missing "root cannot start a server and there is no user postgres"
    fi
    chown postgres "$server"
    as_server() { (cd "$server" && setpriv --reuid postgres --regid postgres --clear-groups -- "$@"); }
else
    as_server() { (cd "$server" && "$@"); }
fi
stop_postgres() {
    as_server "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
    rm -rf -- "$socket"
}
clean_up() { stop_postgres; }
echo secret >"$socket/password"
chmod 644 "$socket/password"
as_server "$bin/initdb" -D "$server/data" -U tester -A scram-sha-256 --pwfile="$socket/password" \
    -E UTF8 --no-sync >initdb.log 2>&1 || fail "initdb: $(tail -n 3 initdb.log)"
# Tests do not wait for the disk; a measurement sets postgres_fsync=on before it reads this file.
start_postgres() {
    as_server "$bin/pg_ctl" -D "$server/data" -l "$server/log" -w -t 1800 \
        -o "-c listen_addresses='' -c unix_socket_directories='$socket' -c fsync=${postgres_fsync:-off}" start >start.log 2>&1 ||
        fail "pg_ctl: $(tail -n 3 start.log; tail -n 3 "$server/log")"
}
# As if the machine's power had gone, as far as one program can tell.
restart_postgres() {
    as_server "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
    start_postgres
}
start_postgres
PGPASSWORD=secret
export PGPASSWORD
url="postgresql://tester@/postgres?host=$socket"
