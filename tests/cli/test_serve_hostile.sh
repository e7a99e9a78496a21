# Hostile clients: each gets the right status or is cut off, and the server stays up, with a clean end.
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
example=$PARSREC_SOURCE/examples
ok "$PARSREC" import -o shop.st "$example/corner_shop.csv" --items "$example/corner_shop_items.csv"
ok "$PARSREC" train -o shop.model shop.st --set dim.user=8 --set dim.item=8 --epochs 1
start_server shop.model --request-time 5s --work-time 20s --connections 1100 --no-quality
ok timeout 600 python3 "$PARSREC_SOURCE/tests/cli/hostile_clients.py" "${url##*:}" 5 1100
stop_server
same "$(grep -c -i -E 'sanitizer|runtime error' server.err)" 0 "sanitizers"
