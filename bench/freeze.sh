#!/bin/sh
# Records what a rebuilding of the house must not change, or compares two such records.
#   bench/freeze.sh record PARSREC DIR     files of every kind, --json of every command, HTTP replies, ...
#   bench/freeze.sh compare DIR DIR        what differs; exit status 1 if anything does
#   bench/freeze.sh speed OLD NEW          training share, microseconds per answer, requests per second of
#                                          two programs in turns, as ratios new / old
# A record holds checksums of files whose bytes are promised (data sets, models, checkpoints) and texts
# whose words or keys are (JSON, log lines, config keys, exit codes, exported symbols). Times, speeds,
# memory, paths and ports are taken out. Set SHARED_LIBRARY to list a library's symbols too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../examples

# Numbers that change from run to run, in JSON and in texts.
steady() {
    sed -E 's/"(seconds|load_seconds|items_per_s|answers_per_s|time|elapsed|loaded|uptime|memory|gflops|sgemm_gflops|share_of_sgemm)": *[-0-9.e+]+/"\1":0/g
            s/"(loaded_at|time|started_at)": *"[^"]*"/"\1":""/g; s/[0-9][0-9,.]* (seconds|s|MB|ms|us)\b/N \1/g
            s/127\.0\.0\.1:[0-9]+/ADDRESS/g; s/[0-9,]+\/s/N\/s/g'
}

record() {
    program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    mkdir -p "$2"
    out=$(cd "$2" && pwd)
    work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-freeze.XXXXXX")
    server=
    trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
    cd "$work"
    # say NAME COMMAND...: exit status, stdout and stderr of a command.
    say() {
        name=$1
        shift
        code=0
        "$@" >stdout 2>stderr </dev/null || code=$?
        { echo "exit $code"; cat stdout; echo "-- stderr"; grep -v '[0-9] %' stderr || :; } |
            steady >"$out/$name.txt"
    }
    cp "$examples"/*.csv .
    say synth "$program" synth -o synth.data --users 60 --sessions 12 --seed 3 --json
    say import "$program" import -o shop.data corner_shop.csv --items corner_shop_items.csv --json
    say info "$program" info shop.data --json
    small='--set dim.user=16 --set dim.item=16 --epochs 2 --threads 1'
    for kind in parsrec sasrec bert4rec pop personal recent markov random; do
        # shellcheck disable=SC2086 # words
        say train-$kind "$program" train -o $kind.model shop.data --model $kind $small --keep-checkpoint --json
        say eval-$kind "$program" eval $kind.model shop.data --json
        [ ! -f $kind.model.log ] || steady <$kind.model.log >"$out/log-$kind.txt"
    done
    # shellcheck disable=SC2086
    for set in preset=paper loss=sampled loss=bpr cell=gru cell=lstm order=stored; do
        case $set in
        preset=*) "$program" train -o "$set.model" synth.data --preset paper $small ;;
        *) "$program" train -o "$set.model" shop.data --set $set $small ;;
        esac >stdout 2>stderr
    done
    "$program" train -o oracle.model synth.data --model oracle >stdout 2>stderr
    for protocol in remaining next basket; do
        say eval-$protocol "$program" eval parsrec.model shop.data --protocol $protocol --full --json
    done
    say recommend "$program" recommend parsrec.model --user K02 --basket "Coffee beans" -k 4 --explain --json
    say recommend-text "$program" recommend parsrec.model --user K02 --basket "Coffee beans" -k 4 --explain
    say compare "$program" compare shop.data --models pop,personal,markov -o comparison --json
    say explain "$program" explain parsrec.model shop.data -o maps --json
    say whatif "$program" whatif parsrec.model shop.data --drop category=BAKERY -o answer --json
    say ablate "$program" ablate shop.data -o ablation --row one:heads=1 --epochs 1 --jobs 1 --json
    say tune "$program" tune shop.data -o search --trials 2 --epochs 1 --jobs 1 --json
    say forget "$program" forget parsrec.model -o forgotten.model --user K02
    say check "$program" check parsrec.model --json
    say config "$program" train --print-config
    say missing "$program" info nothing.data
    say usage "$program" info --nonsense
    say swapped "$program" eval shop.data parsrec.model
    sha256sum ./*.data ./*.model ./*.ckpt | sort -k 2 >"$out/bytes.txt"
    find comparison maps answer ablation search -type f | sort >"$out/report-files.txt"

    "$program" serve parsrec.model --listen 127.0.0.1:0 --no-quality >address 2>server.err &
    server=$!
    while [ ! -s address ]; do kill -0 $server && sleep 0.1; done
    url=$(head -n 1 address)
    # ask NAME PATH [BODY]: status and body of an answer.
    ask() {
        if [ $# -gt 2 ]; then set -- "$1" "$2" -d "$3"; fi
        name=$1 path=$2
        shift 2
        curl -s -w '\nstatus %{http_code}\n' "$@" "$url$path" | steady >"$out/http-$name.txt"
    }
    ask recommend /v1/recommend '{"user":"K01","basket":["1000"],"k":3,"explain":true}'
    ask batch /v1/recommend '{"requests":[{"user":"K01","k":1},{"user":"K01","basket":"x"}]}'
    ask events /v1/events '{"user":"K01","session":"till-7","items":["1000","1014"],"time":1700000000}'
    ask user /v1/users/K01
    ask items '/v1/items?q=co&limit=3'
    ask categories /v1/categories
    ask groups /v1/groups
    ask relations '/v1/relations?map=lift&by=category&top=5'
    ask whatif /v1/whatif '{"drop":["category=BAKERY"],"question":"rechoice"}'
    ask model /v1/model
    ask ready /readyz
    ask nothing /v1/nothing
    ask broken /v1/recommend '{"user":'
    curl -s "$url/metrics" | grep '^# ' >"$out/http-metrics.txt"
    kill -TERM $server
    wait $server || :
    server=
    if [ -n "${SHARED_LIBRARY:-}" ]; then
        nm -D --defined-only "$SHARED_LIBRARY" | awk '{print $3}' | sort >"$out/symbols.txt"
    fi
    echo "$(find "$out" -type f | wc -l) records in $out"
}

compare() {
    if diff -r "$1" "$2"; then echo "nothing differs"; else exit 1; fi
}

# field NAME FILE: a number of a JSON text.
field() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"; }

speed() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-freeze.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    for round in 1 2 3 4 5; do
        for which in old new; do
            program=$1
            [ $which = old ] || program=$2
            "$program" bench train --seconds 4 --threads 1 --json >"$work/t" 2>/dev/null
            "$program" bench score --seconds 2 --json >"$work/s" 2>/dev/null
            echo "$(field share "$work/t") $(field median_us "$work/s")" >>"$work/$which"
        done
    done
    /usr/bin/python3 - "$work/old" "$work/new" <<'END'
import statistics, sys
old, new = ([list(map(float, l.split())) for l in open(f)] for f in sys.argv[1:])
for i, name in enumerate(["training share", "microseconds per answer"]):
    a, b = [r[i] for r in old], [r[i] for r in new]
    ratios = sorted(y / x for x, y in zip(a, b))
    print(f"{name}: old {statistics.median(a):.4g}, new {statistics.median(b):.4g}, "
          f"ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
END
    echo "requests per second: bench/serve.sh with PARSREC set to each program in turn"
}

case ${1-} in
record) record "$2" "$3" ;;
compare) compare "$2" "$3" ;;
speed) speed "$2" "$3" ;;
*) sed -n '2,9p' "$0"; exit 2 ;;
esac
