# Several processes work on one task: the same bytes at any number of ranks and threads, and whatever
# happens to one of them ends all; training leaves a checkpoint that any number resumes from.
command -v mpirun >/dev/null || missing "mpirun is not installed (Debian: openmpi-bin)"
command -v pgrep >/dev/null || missing "pgrep is not installed (Debian: procps)"
[ -e "$PARSREC_BUILD/src/libparsrec-mpi.so" ] || missing "the build found no MPI (Debian: libopenmpi-dev)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers may forbid it
# What MPI keeps until the end is not ours to free.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

ok "$PARSREC" synth -o shop.data --users 160 --sessions 8 --seed 3
small='--set dim.user=8 --set dim.item=8 --threads 1'
sum() { sha256sum <"$1" | cut -d' ' -f1; }
# ranks N ARGUMENTS...: train in N processes. What mpirun itself says is left out.
ranks() {
    n=$1
    shift
    mpirun -n "$n" --quiet "$PARSREC" train "$@"
}

# ---- the same bytes ----

# same_at NAME RANKS SETTINGS...: a model of one process, and of this many ranks.
same_at() {
    name=$1 numbers=$2
    shift 2
    # shellcheck disable=SC2086 # words
    ok "$PARSREC" train -o one.model shop.data $small --epochs 2 --keep-checkpoint "$@"
    for n in $numbers; do
        # shellcheck disable=SC2086
        ok ranks "$n" -o many.model shop.data $small --epochs 2 --keep-checkpoint "$@"
        same "$(sum many.model)" "$(sum one.model)" "$name on $n ranks"
        same "$(sum many.model.ckpt)" "$(sum one.model.ckpt)" "the end of $name on $n ranks"
        same "$(grep -c '^many.model: epoch' stdout)" 1 "only rank 0 prints"
        cp stderr many.stderr
        rm -f many.model many.model.ckpt
    done
}
same_at "full loss" "3" --preset paper
same "$(grep -c 'every rank holds the rows of all 160 users' many.stderr)" 1 "few users on all ranks"
export PARSREC_DIVIDE=always # from here on rows of users are divided, however few they are
same_at "eight chunks" "2 8" --set batch=900
# 5 blocks of 8 numbers per user, and the row of unknown users on all.
same "$(sed -n 's/.*8 ranks: rank 0 holds/holds/p' many.stderr)" \
    "holds the rows of 20 of 160 users, 0.003 of 0.026 MB with moments" "what a rank of eight holds"
same_at "sampled loss" "4" --set loss=sampled --set batch=900
same_at "one chunk" "3" --set loss=sampled --set batch=64
same_at "sasrec" "3" --model sasrec
same_at "gru4rec" "2" --model gru4rec
same_at "ncf" "2" --model ncf
same_at "bpr" "2" --model bpr
ok ranks 2 -o many.model shop.data --set dim.user=8 --set dim.item=8 --epochs 2 --threads 3 --model bpr
same "$(sum many.model)" "$(sum one.model)" "two ranks of three threads"

# ---- other commands ----

# divided N COMMAND...: the command in N processes
divided() {
    n=$1
    shift
    mpirun -n "$n" --quiet "$PARSREC" "$@"
}
timeless() { sed -E 's/"seconds": [0-9.]+//' stdout >"$1"; } # what was printed, but for how long it took

# shellcheck disable=SC2086 # words
ok "$PARSREC" train -o one.model shop.data $small --epochs 1 --seed 2
mv one.model other.model
# shellcheck disable=SC2086
ok "$PARSREC" train -o one.model shop.data $small --epochs 1
ok "$PARSREC" eval one.model shop.data --json
timeless one.json
ok "$PARSREC" recommend one.model --all -o one.csv
ok "$PARSREC" explain one.model shop.data -o one.maps --group everybody --group user:1
ok divided 3 eval one.model shop.data --json --threads 1
timeless many.json
ok cmp one.json many.json
ok divided 3 recommend one.model --all -o many.csv
ok cmp one.csv many.csv
absent many.csv.part many.csv.mark
ok divided 3 explain one.model shop.data -o many.maps --group everybody --group user:1
for file in one.maps/*.csv; do ok cmp "$file" "many.maps/${file#one.maps/}"; done
ok "$PARSREC" eval pop shop.data --json
timeless one.json
ok divided 2 eval pop shop.data --json
timeless many.json
ok cmp one.json many.json

# Trials and models are trained by one rank each, and all ranks know of all.
tiny='--set dim.user=4 --set dim.item=4,8 --trials 3 --epochs 2 --cut 2 --jobs 1 --threads 1'
# shellcheck disable=SC2086
ok "$PARSREC" tune shop.data -o one.search $tiny
# shellcheck disable=SC2086
ok divided 2 tune shop.data -o many.search $tiny
for file in one.search/*.st one.search/best.conf one.search/report.csv; do
    ok cmp "$file" "many.search/${file#one.search/}"
done
models='--models a=parsrec:dim.item=4:dim.user=4,b=sasrec:dim.item=4,pop --seeds 2 --epochs 1 --jobs 1'
# shellcheck disable=SC2086
ok "$PARSREC" compare shop.data -o one.study $models
# shellcheck disable=SC2086
ok divided 3 compare shop.data -o many.study $models
for file in one.study/*.st; do ok cmp "$file" "many.study/${file#one.study/}"; done
ok cmp one.study/report.csv many.study/report.csv

# ---- what is refused ----

said() { # said TEXT COMMAND...: it fails, and its stderr has exactly one line of ours, with TEXT
    text=$1
    shift
    "$@" >stdout 2>stderr </dev/null && fail "succeeded: $*"
    same "$(grep -c '^parsrec [a-z]*: ' stderr)" 1 "sentences of: $*"
    warns "$text"
}
said "counts in one pass" ranks 2 -o x.model shop.data --model pop
said "cannot open for reading" ranks 2 -o x.model nothing.data
said "rank 1 has another model or settings than rank 0" mpirun --quiet -n 1 "$PARSREC" train \
    -o x.model shop.data --seed 1 : -n 1 "$PARSREC" train -o x.model shop.data --seed 2
PARSREC_MPI=nothing.so OMPI_COMM_WORLD_SIZE=2 "$PARSREC" train -o x.model shop.data >stdout 2>stderr &&
    fail "a missing plug-in was not noticed"
warns "need libparsrec-mpi.so"
same "$(wc -l <stderr)" 1 "sentences about a missing plug-in"
OMPI_COMM_WORLD_SIZE=2 fails 2 "info works in one process" "$PARSREC" info shop.data
OMPI_COMM_WORLD_SIZE=2 fails 2 "without --all it works in one process" "$PARSREC" recommend one.model
said "cannot open for reading" mpirun -n 2 --quiet "$PARSREC" eval nothing.model shop.data
said "rankings are written by one process" mpirun -n 2 --quiet "$PARSREC" eval one.model shop.data \
    --dump-scores scores
said "train it with last=9" mpirun -n 2 --quiet "$PARSREC" eval one.model shop.data --last 9
said "rank 1 has another weights" mpirun --quiet -n 1 "$PARSREC" eval one.model shop.data : \
    -n 1 "$PARSREC" eval other.model shop.data
said "user 'nobody' is not in the data set" mpirun -n 2 --quiet "$PARSREC" explain one.model shop.data -o x.maps \
    --group user:nobody
absent x.model x.model.ckpt x.maps scores

# ---- a rank is lost ----

# shellcheck disable=SC2086
ok "$PARSREC" train -o one.model shop.data $small --epochs 24 --preset paper --keep-checkpoint
# lose N SIGNAL RANK PEER-TIME: N ranks train, and once there is a checkpoint one gets the signal. All must end. A run
# that ended before the signal came is repeated: it shows nothing.
lose() {
    again=0
    until lose_once "$@" || [ $again -ge 10 ]; do again=$((again + 1)); done
    if [ "$ended" -ne 0 ]; then pass; else fail "a run without rank $3 succeeded"; fi
    # A killed rank 0 may leave a checkpoint half written, under a temporary name.
    if [ -e lost.model ]; then fail "a run without rank $3 left a model"; else pass; fi
}
lose_once() {
    rm -f lost.model lost.model.ckpt
    # shellcheck disable=SC2086
    mpirun -n "$1" --quiet "$PARSREC" train -o lost.model shop.data $small --epochs 24 --preset paper --checkpoint-minutes 0 \
        --peer-time "$4" >stdout 2>stderr </dev/null &
    launcher=$!
    while [ ! -e lost.model.ckpt ] && kill -0 $launcher 2>/dev/null; do sleep 0.02; done
    # Ranks are started in order.
    victims=$(pgrep -P $launcher | sort -n)
    kill -"$2" "$(echo "$victims" | sed -n "$(($3 + 1))p")" 2>/dev/null
    sent=$?
    wait $launcher
    ended=$?
    for pid in $victims; do
        while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    done
    [ $sent -eq 0 ] && [ -e lost.model.ckpt ] && [ ! -e lost.model ]
}
# resumed N: what was lost is finished by N ranks, and equals the run that nobody disturbed.
resumed() {
    if [ "$1" = 1 ]; then
        ok "$PARSREC" train -o lost.model shop.data --resume lost.model.ckpt --threads 2 --keep-checkpoint
    else
        ok ranks "$1" -o lost.model shop.data --resume lost.model.ckpt --threads 1 --keep-checkpoint
    fi
    same "$(sum lost.model)" "$(sum one.model)" "resumed on $1 ranks"
    same "$(sum lost.model.ckpt)" "$(sum one.model.ckpt)" "the end of what was resumed on $1 ranks"
}
# The launcher notices a death. Only a rank that says nothing any more, as when its cable is pulled, is noticed by
# the time that passes: longer than a busy machine keeps a living one from its turn or from the disk.
lose 3 KILL 1 120 && resumed 2
lose 2 KILL 0 120 && resumed 3
lose 3 STOP 2 12
warns "rank 2 of 3 was not heard of for"
warns "resume with any number of ranks"
warns "parsrec train -o lost.model shop.data --resume lost.model.ckpt"
same "$(grep -c '^parsrec train: ' stderr)" 1 "sentences about a lost rank"
resumed 1
