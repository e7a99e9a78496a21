# Several processes train one model: the same bytes at any number of ranks and threads, and whatever
# happens to one of them ends all, with a checkpoint that any number resumes from.
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

# same_at NAME RANKS SETTINGS...: a model of one process, and of so many ranks.
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
        rm -f many.model many.model.ckpt
    done
}
same_at "full loss" "2 3" --preset paper
same_at "eight chunks" "2 3 4 8" --set batch=900
same_at "sampled loss" "2 3 4 8" --set loss=sampled --set batch=900
same_at "sasrec" "2 3" --model sasrec
same_at "gru4rec" "2" --model gru4rec
same_at "bpr" "2" --model bpr
ok ranks 2 -o many.model shop.data --set dim.user=8 --set dim.item=8 --epochs 2 --threads 3 --model bpr
same "$(sum many.model)" "$(sum one.model)" "two ranks of three threads"

# ---- what is refused ----

said() { # said TEXT COMMAND...: it fails, and its stderr has exactly one line of ours, with TEXT
    text=$1
    shift
    "$@" >stdout 2>stderr </dev/null && fail "succeeded: $*"
    same "$(grep -c '^parsrec train: ' stderr)" 1 "sentences of: $*"
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
absent x.model x.model.ckpt

# ---- a rank is lost ----

# shellcheck disable=SC2086
ok "$PARSREC" train -o one.model shop.data $small --epochs 40 --preset paper --keep-checkpoint
# lose N SIGNAL RANK: N ranks train, and once there is a checkpoint one gets the signal. All must end.
lose() {
    rm -f lost.model lost.model.ckpt
    # shellcheck disable=SC2086
    mpirun -n "$1" --quiet "$PARSREC" train -o lost.model shop.data $small --epochs 40 --preset paper --checkpoint-minutes 0 \
        --peer-time 3 >stdout 2>stderr </dev/null &
    launcher=$!
    while [ ! -e lost.model.ckpt ] && kill -0 $launcher 2>/dev/null; do sleep 0.02; done
    # Ranks are started in order.
    victims=$(pgrep -P $launcher | sort -n)
    kill -"$2" "$(echo "$victims" | sed -n "$(($3 + 1))p")" 2>/dev/null || fail "rank $3 had ended"
    if wait $launcher; then fail "a run without rank $3 succeeded"; else pass; fi
    for pid in $victims; do
        while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    done
    absent lost.model
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
lose 3 KILL 1 && resumed 2
lose 2 KILL 0 && resumed 3
lose 3 STOP 2 # as a machine whose cable is pulled: it says nothing any more
warns "rank 2 of 3 was not heard of for"
warns "resume with any number of ranks"
warns "parsrec train -o lost.model shop.data --resume lost.model.ckpt"
same "$(grep -c '^parsrec train: ' stderr)" 1 "sentences about a lost rank"
resumed 1
