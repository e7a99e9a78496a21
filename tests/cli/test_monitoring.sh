# The alert rules and the dashboard ask for numbers that /metrics has; promtool tests the rules.
contrib=$PARSREC_SOURCE/contrib
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
ok "$PARSREC" train -o pop.model shop.st --model pop
start_server pop.model --store none
ask 200 POST /v1/recommend '{"user":"K01"}'
ask 200 GET /metrics
sed -n 's/^# TYPE \(parsrec_[a-z_]*\) .*/\1/p' stdout | sort -u >offered
stop_server
ok test "$(wc -l <offered)" -gt 10
for file in monitoring/alerts.yml monitoring/alerts_test.yml monitoring/grafana.json; do
    grep -oE 'parsrec_[a-z_]+' "$contrib/$file" | sed -E 's/_(bucket|count|sum)$//' | sort -u >wanted
    ok test "$(wc -l <wanted)" -gt 4
    same "$(comm -13 offered wanted)" "" "numbers in $file that /metrics does not have"
done
ok /usr/bin/python3 -c 'import json, sys; b = json.load(open(sys.argv[1])); assert len({p["id"] for p in b["panels"]}) == len(b["panels"]) > 5' \
    "$contrib/monitoring/grafana.json"

promtool=$(command -v promtool || echo "$PARSREC_SOURCE/build/promtool/promtool")
if [ -x "$promtool" ]; then
    cp "$contrib"/monitoring/*.yml "$contrib"/compose/prometheus.yml .
    ok "$promtool" check rules alerts.yml
    ok "$promtool" test rules alerts_test.yml
    ok "$promtool" check config --syntax-only prometheus.yml
    # The test itself can fail: with another limit an alert is missing.
    sed 's/> 0.05$/> 0.5/' alerts.yml >changed && mv changed alerts.yml
    "$promtool" test rules alerts_test.yml >stdout 2>stderr
    same "$?" 1 "promtool on a rule with another limit"
else
    left_out "promtool is not there (scripts/get_promtool.sh fetches it): the rules were not run"
fi
