#!/bin/sh
# The paper's figures (a) to (i) from a fresh run: synthetic data, a model, its maps.
#   bench/figures.sh DIR [SEED]           takes data and model that are there, as bench/explain.sh leaves them
set -eu
dir=${1:?usage: bench/figures.sh DIR [SEED]}
seed=${2:-1}
parsrec=${PARSREC:-build/release/src/parsrec}
data=$dir/data-$seed.st model=$dir/model-$seed.st
mkdir -p "$dir/figures"
[ -e "$data" ] || "$parsrec" synth -o "$data" --users 1024 --sessions 100 --seed "$seed" >/dev/null
[ -e "$model" ] || "$parsrec" train -o "$model" "$data" --seed "$seed" >/dev/null
"$parsrec" explain "$model" "$data" --group everybody --group truth --difference A,B -o "$dir/groups" >/dev/null
copy() { cp "$dir/groups/$1.svg" "$dir/figures/$2.svg"; cp "$dir/groups/$1.png" "$dir/figures/$2.png"; }
copy truth-everybody a_covariance
copy truth-A b_covariance_A
copy truth-B c_covariance_B
copy truth-difference d_covariance_difference
copy embedding e_embedding
copy attention-everybody f_attention
copy attention-A g_attention_A
copy attention-B h_attention_B
copy attention-difference i_attention_difference
copy drop-everybody f2_drop
copy drop-A g2_drop_A
copy drop-B h2_drop_B
copy drop-difference i2_drop_difference
ls "$dir/figures"
