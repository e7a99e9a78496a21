# The long trial of bench/serve_soak.sh, made short: load, new models and events together, kill -9, restart.
command -v wrk >/dev/null || missing "wrk is not installed"
TRAIN="--set dim.user=8 --set dim.item=8" USERS=40 SESSIONS=5 PATIENCE=900
export PATIENCE PARSREC TRAIN USERS SESSIONS
ok sh "$PARSREC_SOURCE/bench/serve_soak.sh" 4
says "== sqlite"
says " 0 lost"
says "passed"
