# Our data are distributed as those the paper's authors published.
sample=${PARSREC_DATA:-$PARSREC_SOURCE/../shared/data}/parsrec_synthetic/actions.csv.gz
if [ ! -r "$sample" ] || ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "skipped: needs $sample (set PARSREC_DATA) and numpy for /usr/bin/python3"
    exit 77
fi
ok "$PARSREC" synth --csv ours.csv
ok /usr/bin/python3 "$PARSREC_SOURCE/tests/cli/synth_sample.py" ours.csv "$sample"
cat stdout

# The comparison can tell: every category under the name of the next.
awk -F, -v OFS=, 'NR > 1 {$4 = ($4 + 100) % 2000} {print}' ours.csv >moved.csv
if /usr/bin/python3 "$PARSREC_SOURCE/tests/cli/synth_sample.py" moved.csv "$sample" >stdout; then
    fail "the comparison does not see categories that changed their names"
else
    pass
fi
