# Mistakes that people make, each with the sentence on standard error, the exit status, and every file
# as it was before.
. "$PARSREC_SOURCE/tests/cli/serve_lib.sh"

# mistake CODE SENTENCE COMMAND...: the command exits with CODE and standard error is the sentence alone.
# Files beside it stay as they were, and none is added but the log of a training.
files() { find . -type f ! -name stdout ! -name stderr ! -name 'server.*' \
    ! -name '*.log' -exec cksum {} + | sort -k 3; }
mistake() {
    expected=$1 sentence=$2
    shift 2
    before=$(files)
    "$@" >stdout 2>stderr </dev/null
    code=$?
    same "$code" "$expected" "exit status of $*"
    same "$(cat stderr)" "$sentence" "sentence of $*"
    same "$(cat stdout)" "" "standard output of $*"
    same "$(files)" "$before" "files after $*"
}
import() { "$PARSREC" import -o out.st "$@"; }

# A shop to begin with.
cp "$PARSREC_SOURCE/examples/corner_shop.csv" shop.csv
ok "$PARSREC" import -o shop.st shop.csv
ok "$PARSREC" train -o shop.model shop.st --model pop

# What is near to a wrong word is offered; a kind may come before its file; nothing found is said.
mistake 1 "parsrec train: there is no model 'parsrek' (did you mean 'parsrec'?)" \
    "$PARSREC" train -o out.model shop.st --model parsrek
mistake 1 "parsrec train: there is no preset 'papr' (did you mean 'paper'?); there are: default, paper" \
    "$PARSREC" train -o out.model shop.st --preset papr
ok "$PARSREC" list shop.st users -n 3
cp stdout file_first
ok "$PARSREC" list users shop.st -n 3
same "$(cat stdout)" "$(cat file_first)" "a list of users, kind first"
ok "$PARSREC" list users shop.st nobody
same "$(cat stderr)" "note: none of the users of shop.st contains 'nobody'" "a text without a hit"
ok "$PARSREC" list shop.st users K01
same "$(cat stderr)" "" "a text with a hit"
# Small and capital letters are alike, also those with accents, of Greek and of Cyrillic.
printf 'item,name,category\nk1,Äpfel,Früchte\nk2,Σίτος,Früchte\nk3,Борщ,Küche\n' >letters.csv
printf 'user,session,item\nu,1,k1\nu,1,k2\nu,2,k3\nu,3,k1\nu,4,k2\n' >letters_sales.csv
ok "$PARSREC" import -o letters.st letters_sales.csv --items letters.csv
for word in äPFEL ΣΊΤΟΣ БОРЩ; do
    ok "$PARSREC" list letters.st items "$word"
    same "$(cat stderr)" "" "items for $word"
done
ok "$PARSREC" train -o letters.model letters.st --model pop
ok "$PARSREC" recommend letters.model --category KÜCHE
says "Борщ"
rm letters*
for help in "compare --seeds" "size --dim"; do
    "$PARSREC" "${help%% *}" --help >stdout
    same "$(grep -A3 -- "${help#* } " stdout | tr -s ' \n' ' ' | grep -c -- "${help#* } N [^[]*(default: ")" 1 "the default of $help"
done

# 1. Wrong columns.
printf 'Asiakas,Kuitti,Tuote\nu,1,a\n' >columns.csv
mistake 1 "parsrec import: columns.csv: no column is recognised as the user or the item among Asiakas, Kuitti, Tuote; name them with --user COL and --item COL; the session and the time were not recognised either (--session COL, --time COL)" \
    import columns.csv
mistake 1 "parsrec import: shop.csv: there is no column 'shopper', only user, session, time, item; name yours with --user" \
    import shop.csv --user shopper

# 2. Semicolons are read. 3. So are decimal commas, unless they may be thousands.
printf 'user;session;item\nu;1;a\nu;1;b\n' >semicolon.csv
printf 'item;price\na;1,50\nb;2,75\n' >commas.csv
ok "$PARSREC" import -o semicolon.st semicolon.csv --items commas.csv
says "numbers: price (decimal comma)"
same "$(cat stderr)" "" "semicolons and decimal commas"
printf 'item,price\na,"1,500"\n' >thousands.csv
mistake 1 "parsrec import: thousands.csv: column 'price': is the comma in '1,500' a decimal comma or does it part thousands? write the numbers with a decimal point, or add --categorical 'price'" \
    import semicolon.csv --items thousands.csv

# 4. An Excel workbook. 5. A Parquet file, and others of their kind, in any place.
printf 'PK\003\004\024\000\006\000\010\000\000\000!\000[Content_Types].xml\000\001xl/workbook.xml\000' >book.xlsx
printf 'PAR1\025\004\025\014\025' >table.parquet
printf 'PK\003\004\024\000\006\000\010\000\000\000!\000orders.csv\000\001' >orders.zip
gzip -c orders.zip >orders.zip.gz
printf '%%PDF-1.7\n%%\342\343\317\323\n' >report.pdf
printf 'SQLite format 3\000\020\000' >shop.db
: >empty
mkdir folder
as_csv="export the table as CSV, then run parsrec import -o DATA FILE.csv"
sheet="save the sheet as CSV, then run parsrec import -o DATA FILE.csv"
mistake 1 "parsrec import: book.xlsx: is an Excel workbook (.xlsx), which import does not read; $sheet" import book.xlsx
mistake 1 "parsrec train: book.xlsx: is an Excel workbook (.xlsx), not a data set or model; $sheet" \
    "$PARSREC" train -o out.model book.xlsx
mistake 1 "parsrec import: book.xlsx: is an Excel workbook (.xlsx), which import does not read; $sheet" \
    import shop.csv --items book.xlsx
cp table.parquet table
parquet="name it with its prefix: parsrec import -o DATA parquet:"
mistake 1 "parsrec import: table: is a Parquet file, which import does not read; ${parquet}table" import table
mistake 1 "parsrec info: table.parquet: is a Parquet file, not a data set or model; ${parquet}table.parquet" \
    "$PARSREC" info table.parquet
for file in orders.zip orders.zip.gz; do
    mistake 1 "parsrec import: $file: is a zip archive, which import does not read; unpack it, then run parsrec import -o DATA on the table inside" \
        import $file
done
mistake 1 "parsrec import: report.pdf: is a PDF document, which import does not read; $as_csv" import report.pdf
mistake 1 "parsrec import: shop.db: is an SQLite database, which import does not read; name it with its prefix: parsrec import -o DATA sqlite:shop.db --table NAME" \
    import shop.db
mistake 1 "parsrec import: empty: is empty; the first line must name the columns" import empty
mistake 1 "parsrec eval: empty: is empty (0 bytes); make it again, or take another copy" \
    "$PARSREC" eval empty shop.st
mistake 1 "parsrec check: folder: is a directory, but not a data set that parsrec import --shards wrote: it has no manifest.st" "$PARSREC" check folder

# 6. UTF-16, with and without its mark.
iconv -f UTF-8 -t UTF-16 shop.csv >wide.csv
iconv -f UTF-8 -t UTF-16LE shop.csv >unmarked.csv
for file in wide.csv unmarked.csv; do
    mistake 1 "parsrec import: $file: is UTF-16 text, which import does not read; save it as UTF-8, then run parsrec import -o DATA $file" \
        import $file
done

# 7. and 8. Dates of other forms: the format that is offered works.
printf 'user,session,time,item\nu,1,12/31/2024 2:05 PM,a\nu,1,12/31/2024 2:05 PM,b\n' >american.csv
mistake 1 "parsrec import: american.csv:2:3: the date '12/31/2024 2:05 PM' has another form; add --time-format '%m/%d/%Y %I:%M %p'" \
    import american.csv
printf 'user,session,time,item\nu,1,31.12.2024 14:05,a\nu,1,31.12.2024 14:05,b\n' >german.csv
mistake 1 "parsrec import: german.csv:2:3: the date '31.12.2024 14:05' has another form; add --time-format '%d.%m.%Y %H:%M'" \
    import german.csv
ok "$PARSREC" import -o american.st american.csv --time-format '%m/%d/%Y %I:%M %p'
ok "$PARSREC" import -o german.st german.csv --time-format '%d.%m.%Y %H:%M'
same "$("$PARSREC" info german.st | grep ' first ')" "$("$PARSREC" info american.st | grep ' first ')" "one moment"

# 9. No header. 10. A wrong path.
tail -n +2 shop.csv | head -n 3 >headless.csv
mistake 1 "parsrec import: headless.csv: the first line is a row, not the names of columns ($(head -n 1 headless.csv | sed 's/,/, /g')); put a line such as user,session,time,item above it" \
    import headless.csv
mistake 1 "parsrec import: shops.csv: cannot open for reading: No such file or directory" import shops.csv
mistake 1 "parsrec train: nowhere/shop.st: cannot open for reading: No such file or directory" \
    "$PARSREC" train -o out.model nowhere/shop.st
mistake 1 "parsrec import: nowhere/out.st: cannot be written: No such file or directory" \
    "$PARSREC" import -o nowhere/out.st shop.csv

# 11. Model and data swapped; a data set to import.
mistake 1 "parsrec eval: shop.model: is a model, not a data set; the model comes first and the data set second, as in parsrec eval MODEL DATA" \
    "$PARSREC" eval shop.st shop.model
mistake 1 "parsrec recommend: shop.st: is a data set, not a model; train one with parsrec train -o MODEL DATA, or swap the two names" \
    "$PARSREC" recommend shop.st --user K01
needs_data="is a model, not a data set; name the data set that it was trained on"
mistake 1 "parsrec train: shop.model: $needs_data" "$PARSREC" train -o out.model shop.model
mistake 1 "parsrec export: shop.model: $needs_data" "$PARSREC" export -o out.csv shop.model
mistake 1 "parsrec compare: shop.model: $needs_data" "$PARSREC" compare --models pop -o out.folder shop.model
mistake 1 "parsrec import: shop.st: is a parsrec data set already; continue with parsrec train -o MODEL shop.st" \
    import shop.st

# 12. An unknown user gets an answer, and a word; where nothing can be done for one, it is a mistake.
ok "$PARSREC" recommend shop.model --user nobody
same "$(cat stderr)" "note: nothing is known of user 'nobody', who gets the best sellers" "sentence for an unknown user"
mistake 1 "parsrec forget: shop.model: there is no user 'nobody' in this model" \
    "$PARSREC" forget shop.model -o out.model --user nobody

# 13. A port in use. 14. One that is not a port.
start_server shop.model
port=${url##*:}
mistake 1 "parsrec serve: cannot listen on 127.0.0.1:${port%/}: Address already in use" \
    "$PARSREC" serve shop.model --listen "127.0.0.1:${port%/}"
stop_server
mistake 1 "parsrec serve: cannot listen on 127.0.0.1:99999: ports go from 1 to 65535, and 0 takes a free one" \
    "$PARSREC" serve shop.model --listen 127.0.0.1:99999

# 15. A folder that may not be written in. Root may write everywhere, so then it is somebody else who tries.
mkdir closed
chmod 555 closed
anybody=
if [ "$(id -u)" = 0 ]; then
    chmod 755 .
    anybody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    # shellcheck disable=SC2086
    $anybody test -x "$PARSREC" 2>/dev/null || anybody=none
fi
if [ "$anybody" != none ]; then
    # shellcheck disable=SC2086
    mistake 1 "parsrec import: closed/out.st: cannot be written: Permission denied" \
        $anybody "$PARSREC" import -o closed/out.st shop.csv
    # shellcheck disable=SC2086
    mistake 1 "parsrec train: closed/out.model: cannot be written: Permission denied" \
        $anybody "$PARSREC" train -o closed/out.model shop.st --model pop
fi

# 16. A full disk: a limit on the size of files, which needs no rights, and the device that always is full.
cat >limited <<'X'
ulimit -f 8
exec "$@"
X
mistake 1 "parsrec import: out.st: writing failed: File too large" \
    sh limited "$PARSREC" import -o out.st shop.csv
cp shop.model kept.model
mistake 1 "parsrec train: $PWD/kept.model: writing failed: File too large" \
    sh limited "$PARSREC" train -o kept.model shop.st --model pop
if [ -w /dev/full ]; then
    mistake 1 "parsrec import: /dev/full: writing failed (make room or write to another disk): No space left on device" \
        "$PARSREC" import -o /dev/full shop.csv
fi

# 17. Ctrl-C. 18. SIGTERM. 19. kill -9. A run is stopped once its checkpoint is there, which follows every
# batch, and its epochs are more than anybody waits for; the model of the run before stays.
cp shop.model run.model
kept=$(cksum <run.model)
data=$(cksum <shop.st)
for signal in INT TERM KILL; do
    rm -f run.model.ckpt
    env --default-signal=INT "$PARSREC" train -o run.model shop.st --epochs 1000 --set dim.user=4 \
        --set dim.item=4 --checkpoint-minutes 0 >stdout 2>stderr </dev/null &
    run_id=$!
    while kill -0 $run_id 2>/dev/null && ! [ -s run.model.ckpt ]; do sleep 0.02; done
    kill -$signal $run_id
    wait $run_id 2>/dev/null
    code=$?
    if [ $signal = KILL ]; then
        same $code 137 "exit status after kill -9"
    else
        same $code 1 "exit status after SIG$signal"
        stopped=$(grep -c "^parsrec train: stopped in epoch [0-9]* after [0-9]* of [0-9]* batches; resume with:$" stderr)
        same "$stopped" 1 "sentence after SIG$signal"
        same "$(tail -n 1 stderr)" "  parsrec train -o run.model shop.st --resume run.model.ckpt" "how to go on"
    fi
    same "$(cksum <run.model)" "$kept" "the old model after SIG$signal"
    same "$(cksum <shop.st)" "$data" "the data set after SIG$signal"
    ok "$PARSREC" check run.model.ckpt
done
mistake 1 "parsrec eval: run.model.ckpt: is a checkpoint of a training run, not a model; finish it with parsrec train -o MODEL DATA --resume CHECKPOINT" \
    "$PARSREC" eval run.model.ckpt shop.st
rm -f run.model.*.tmp

# 20. A model of a newer program, and a damaged one.
ok "$PARSREC_BUILD/tests/set_version" shop.model newer.model 99
newest=$("$PARSREC" check shop.model | sed 's/.*version \([0-9]*\).*/\1/')
mistake 1 "parsrec recommend: newer.model: parsrec.model version 99, this parsrec reads up to $newest; take a newer parsrec" \
    "$PARSREC" recommend newer.model --user K01
size=$(wc -c <shop.model)
{ head -c $((size - 9)) shop.model; printf x; tail -c 8 shop.model; } >damaged.model
"$PARSREC" recommend damaged.model --user K01 >stdout 2>stderr
same $? 1 "exit status for a damaged model"
same "$(sed 's/checksum [0-9a-f]*, but the file says [0-9a-f]*/checksum A, but the file says B/' stderr)" \
    "parsrec recommend: damaged.model: checksum A, but the file says B; it was damaged or edited: take another copy" \
    "sentence for a damaged model"
head -c $((size / 2)) shop.model >half.model
"$PARSREC" recommend half.model --user K01 >stdout 2>stderr
same $? 1 "exit status for half a model"
same "$(grep -c "^parsrec recommend: half.model: .*the file is cut short$" stderr)" 1 "sentence for half a model"

# 21. A table given to train, plain and compressed.
gzip -kc shop.csv >shop.csv.gz
mistake 1 "parsrec train: shop.csv: is a text table, not a data set or model; make a data set of it with parsrec import -o DATA shop.csv" \
    "$PARSREC" train -o out.model shop.csv
mistake 1 "parsrec train: shop.csv.gz: is gzip-compressed, not a data set or model; make a data set of it with parsrec import -o DATA shop.csv.gz" \
    "$PARSREC" train -o out.model shop.csv.gz
absent out.st out.model

# 22. An output that is one of the inputs, however its name is written: somebody's only copy.
ln -s shop.csv link.csv
printf 'item,name\n' >names.csv
replaced="which is read; name another file"
for words in "import -o shop.csv ./shop.csv" "import -o shop.csv link.csv" "import -o link.csv shop.csv" \
    "import -o names.csv shop.csv --items names.csv" "train -o shop.st shop.st" "export shop.st -o shop.st" \
    "recommend shop.model --all -o shop.model" "eval shop.model shop.st --dump-scores shop.st"; do
    before=$(files)
    # shellcheck disable=SC2086 # the words of a command
    fails 2 "$replaced" "$PARSREC" $words
    same "$(files)" "$before" "files after $words"
done
ok "$PARSREC" forget shop.model -o shop.model --user K02
