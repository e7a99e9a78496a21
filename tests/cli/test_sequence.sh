# Sequence models from the command line: trained, stopped, evaluated, asked.
ok "$PARSREC" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
run="--set dim.item=8 --set length=12 --set batch=16 --epochs 3"
for model in sasrec bert4rec; do
    ok "$PARSREC" train -o $model.st shop.st --model $model $run --threads 2
    ok "$PARSREC" train -o again.st shop.st --model $model $run --threads 1
    ok cmp $model.st again.st
    ok "$PARSREC" check $model.st
    ok "$PARSREC" info $model.st
    says "$model"
    ok "$PARSREC" eval $model.st shop.st
    says "HR@10"
    ok "$PARSREC" recommend $model.st --guest -k 3 --json
    same "$(python3 -c 'import json; print(len(json.load(open("stdout"))["items"]))')" 3 "answers for a guest"
done
ok "$PARSREC" train -o binary.st shop.st --model sasrec $run --set loss=bce --set negatives=2
ok "$PARSREC" eval binary.st shop.st
fails 1 "loss = ce only" "$PARSREC" train -o x.st shop.st --model bert4rec --set loss=bce
fails 1 "does not divide dim.item" "$PARSREC" train -o x.st shop.st --model sasrec --set dim.item=9
absent x.st x.st.ckpt
