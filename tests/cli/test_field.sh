# Learnt models of the field: train, resume, threads, answers, evaluation, what they cannot do; groups of kinds.
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"
trap clean_up EXIT
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
kinds="sasrec tisasrec bert4rec gru4rec narm stamp caser dream bpr fpmc ncf hrm transrec"
[ -z "${PARSREC_SANITIZE:-}" ] || kinds="tisasrec bert4rec gru4rec caser ncf transrec" # unit.train has the others
for kind in $kinds; do
    small="--model $kind --set dim.item=8 --set batch=32"
    ok "$PARSREC" train -o $kind.st shop.st $small --epochs 2
    if [ -z "${PARSREC_SANITIZE:-}" ]; then # the bits are the same there, and unit.train has stops and threads
        ok "$PARSREC" train -o again.st shop.st $small --epochs 2 --threads 2 --keep-checkpoint --checkpoint-minutes 0
        ok cmp $kind.st again.st
        ok "$PARSREC" check again.st
        ok "$PARSREC" train -o short.st shop.st --model $kind --set dim.item=8 --set batch=32 --set rate.final=1 \
            --set rate.warmup=0 --epochs 1 --keep-checkpoint
        ok "$PARSREC" train -o short.st shop.st --resume short.st.ckpt --epochs 2
        ok "$PARSREC" train -o long.st shop.st --model $kind --set dim.item=8 --set batch=32 --set rate.final=1 \
            --set rate.warmup=0 --epochs 2
        ok cmp short.st long.st
    fi
    ok "$PARSREC" recommend $kind.st --user K01 --basket 1000 -k 3
    ok "$PARSREC" recommend $kind.st --guest -k 3
    ok "$PARSREC" eval $kind.st shop.st
    ok "$PARSREC" forget $kind.st -o less.st --user K07
    ok "$PARSREC" check less.st
    ok "$PARSREC" explain $kind.st shop.st --map drop --by item --top 5 -o maps
    fails 1 "$kind has no attention of parsrec's form, so it has no such map; take --map drop" \
        "$PARSREC" explain $kind.st shop.st --map attention --by item -o maps
    set -- "$PARSREC" whatif $kind.st shop.st --drop item=1000 --draws 20 --resamples 20 -o whatif
    case $kind in
    bpr | fpmc | ncf | hrm | transrec) fails 1 "ranks items but gives no probabilities" "$@" ;;
    *) ok "$@" ;;
    esac
    [ -z "${PARSREC_SANITIZE:-}" ] || continue # the server asks what recommend asked
    start_server $kind.st
    ask 200 POST /v1/recommend '{"user":"K01","basket":["1000"],"k":3}'
    tells 'len(a["items"]) == 3'
    stop_server
done
# Kinds that count rank and are explained and served as well; they give no probabilities.
counts="pop personal recent markov mix tifuknn upcf pernir sknn vsknn rules seqrules itemknn ease random"
[ -z "${PARSREC_SANITIZE:-}" ] || counts="recent mix tifuknn pernir vsknn seqrules ease" # cli.counting has others
for kind in $counts; do
    ok "$PARSREC" train -o $kind.st shop.st --model $kind
    ok "$PARSREC" recommend $kind.st --user K01 --basket 1000 -k 3
    ok "$PARSREC" explain $kind.st shop.st --map drop --by item --top 5 -o maps
    fails 1 "a model of kind $kind ranks items but gives no probabilities" \
        "$PARSREC" whatif $kind.st shop.st --drop item=1000 -o whatif
    [ -z "${PARSREC_SANITIZE:-}" ] || continue # the server asks what recommend asked
    start_server $kind.st
    ask 200 POST /v1/recommend '{"user":"K01","basket":["1000"],"k":3}'
    tells 'len(a["items"]) == 3'
    stop_server
done
# A catalogue of one item; unit.train has it under sanitizers.
{
    echo user,session,item
    for user in a b c d e; do for session in 1 2 3 4; do echo $user,$session,x; done; done
} >one.csv
ok "$PARSREC" import -o one.st one.csv
kinds="parsrec sasrec tisasrec bert4rec gru4rec narm stamp caser dream bpr fpmc ncf hrm transrec"
[ -z "${PARSREC_SANITIZE:-}" ] || kinds=parsrec
for kind in $kinds; do
    ok "$PARSREC" train -o one.$kind.st one.st --model $kind --epochs 2
    ok "$PARSREC" check one.$kind.st
    ok "$PARSREC" recommend one.$kind.st --user a -k 3
done
for loss in sampled bpr-max top1-max; do
    ok "$PARSREC" train -o $loss.st shop.st --model gru4rec --set dim.item=8 --set loss=$loss --set negatives=20 --epochs 1
done
losses() { grep -o '"loss": *[0-9.]*' "$1.log"; }
if [ -z "${PARSREC_SANITIZE:-}" ]; then
    for kind in bpr fpmc ncf hrm transrec; do # sampled by popularity: another model, the same at any number of threads
        small="--model $kind --set dim.item=8 --set batch=32 --set negatives.power=0.75 --epochs 2"
        ok "$PARSREC" train -o popular.st shop.st $small
        ok "$PARSREC" train -o again.st shop.st $small --threads 2
        ok cmp popular.st again.st
        if [ "$(losses popular.st)" != "$(losses $kind.st)" ]; then pass; else fail "$kind: negatives.power changes nothing"; fi
    done
fi
fails 1 "negatives.power" "$PARSREC" train -o x.st shop.st --model bpr --set negatives.power=-1
fails 1 "a model of windows (caser, stamp, narm, dream) learns with loss" "$PARSREC" train -o x.st shop.st --model stamp --set loss=bpr
fails 1 "gru4rec learns with loss" "$PARSREC" train -o x.st shop.st --model gru4rec --set loss=bce
fails 1 "learn with loss = bpr" "$PARSREC" train -o x.st shop.st --model fpmc --set loss=ce
fails 1 "transrec learns with loss = bpr" "$PARSREC" train -o x.st shop.st --model transrec --set loss=bce
fails 1 "hrm learns with loss = bce or bpr" "$PARSREC" train -o x.st shop.st --model hrm --set loss=ce
fails 1 "ncf learns with loss" "$PARSREC" train -o x.st shop.st --model ncf --set loss=ce
fails 1 "parsrec learns with loss" "$PARSREC" train -o x.st shop.st --set loss=bpr-max

ok "$PARSREC" compare shop.st --models neighbours,counts -o out --only-listed
for kind in itemknn ease sknn vsknn tifuknn upcf pernir pop markov rules seqrules; do says "$kind"; done
