# bash completion, printed by: parsrec help --completion bash
_parsrec() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} list=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        list="synth import info list check train recommend eval compare ablate tune explain whatif serve forget export export-events fold-events bench size doctor help"
    else
        case "${COMP_WORDS[1]} $before" in
        "synth --size-rule") list="reference paper" ;;
        "synth --features") list="none signal noise all" ;;
        "import --format") list="auto csv tsv reference" ;;
        "import --encoding") list="utf-8 latin1" ;;
        "import --session-by") list="column day week month" ;;
        "train --split-by") list="auto users sessions time" ;;
        "recommend --format") list="auto csv jsonl" ;;
        "eval --split") list="test valid" ;;
        "eval --protocol") list="all remaining next basket" ;;
        "eval --split-by") list="auto users sessions time" ;;
        "compare --split") list="test valid" ;;
        "compare --protocol") list="all remaining next basket" ;;
        "compare --split-by") list="auto users sessions time" ;;
        "ablate --split") list="test valid" ;;
        "ablate --protocol") list="all remaining next basket" ;;
        "ablate --split-by") list="auto users sessions time" ;;
        "tune --split-by") list="auto users sessions time" ;;
        "explain --by") list="auto category item" ;;
        "explain --map") list="all attention drop lift embedding" ;;
        "explain --order") list="catalogue cluster" ;;
        "whatif --question") list="rechoice selection both" ;;
        "whatif --estimator") list="rollout expected top10 counted" ;;
        "whatif --missing") list="refill leave" ;;
        *)
            case "${COMP_WORDS[1]} $word" in
            "help "*) list="synth import info list check train recommend eval compare ablate tune explain whatif serve forget export export-events fold-events bench size doctor models data evaluation explanations files environment" ;;
            "synth -"*) list="--output --users --sessions --categories --products --size-rule --groups --outside --features --csv --seed --threads --json --help" ;;
            "import -"*) list="--output --user --session --time --item --quantity --time-format --items --users --sessions --number --categorical --table --query --events --store-file --name --format --encoding --session-gap --session-by --sort --ordered --min-actions --max-bad --max-memory --shards --dictionary --shard --json --help" ;;
            "info -"*) list="--json --help" ;;
            "list -"*) list="--most --json --help" ;;
            "check -"*) list="--json --help" ;;
            "train -"*) list="--output --model --preset --config --set --print-config --epochs --patience --resume --checkpoint-minutes --keep-checkpoint --seed --split-at --test-days --split-by --test-users --threads --max-memory --peer-time --json --help" ;;
            "recommend -"*) list="--user --guest --basket --k --exclude --only --category --exclude-category --feature --time --max-per-category --explain --strict --json --all --output --format --threads --peer-time --help" ;;
            "eval -"*) list="--split --protocol --negatives --full --candidates --exclude-seen --users --most-users --count-users --last --k --place-k --set --seed --split-at --test-days --split-by --test-users --threads --dump-scores --peer-time --json --help" ;;
            "compare -"*) list="--output --models --preset --epochs --patience --seed --seeds --jobs --retrain --measure --split --protocol --negatives --full --candidates --exclude-seen --users --most-users --count-users --last --k --place-k --candidate-seed --threads --peer-time --split-at --test-days --split-by --test-users --only-listed --json --help" ;;
            "ablate -"*) list="--output --preset --rows --row --base --epochs --patience --seed --seeds --jobs --retrain --measure --split --protocol --negatives --full --candidates --exclude-seen --users --most-users --count-users --last --k --place-k --candidate-seed --threads --peer-time --split-at --test-days --split-by --test-users --json --help" ;;
            "tune -"*) list="--output --model --preset --config --set --trials --epochs --cut --measure --seed --jobs --retrain --threads --peer-time --split-at --test-days --split-by --test-users --json --help" ;;
            "explain -"*) list="--output --by --map --group --difference --level --top --show --basket --baskets --order --threads --peer-time --json --help" ;;
            "whatif -"*) list="--output --drop --only --add --each --group --watch --question --estimator --missing --raw --level --draws --interval --resamples --truth-sets --preset --users --sessions --outside --models --epochs --seed --threads --json --help" ;;
            "serve -"*) list="--listen --store --store-file --token-file --tls-cert --tls-key --host --access-log --log-targets --no-quality --body-most --basket-most --k-most --connections --request-time --work-time --stop-time --threads --help" ;;
            "forget -"*) list="--output --user --help" ;;
            "export -"*) list="--output --help" ;;
            "export-events -"*) list="--output --types --store-file --help" ;;
            "fold-events -"*) list="--store --store-file --help" ;;
            "bench -"*) list="--model --preset --seconds --basket --k --threads --set --json --help" ;;
            "size -"*) list="--users --items --actions --basket --dim --sample --undated --max-memory --threads --json --help" ;;
            "doctor -"*) list="--store --store-file --server --json --help" ;;
            esac ;;
        esac
    fi
    [ -z "$list" ] || mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
}
complete -o default -F _parsrec parsrec
