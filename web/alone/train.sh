#!/bin/sh
# Trains the model inside the page without a server: train.sh PARSREC EXAMPLES MODEL
set -eu
parsrec=$1 examples=$2 model=$3
log=$model.txt
rm -f "$model" "$model.ckpt"
{
    "$parsrec" import -o "$model.data" "$examples/corner_shop.csv" --items "$examples/corner_shop_items.csv" --ordered &&
        "$parsrec" train -o "$model" "$model.data" --threads 1 --epochs 12 \
            --set dim.user=32 --set dim.item=32 --set batch=32
} >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
