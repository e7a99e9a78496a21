# ./demo to its end with the program of this build, in a smaller shop: all steps succeed, the reports are there, the
# server answers.
command -v curl >/dev/null || missing "curl is not installed"
ok env OUT="$folder/demo" USERS=128 "$PARSREC_SOURCE/demo" --once
says "# What if category C18 left the shelf?"
says '"name":"Coffee filters"'
says "Done. Files and reports are in $folder/demo"
for report in comparison maps whatif; do ok test -s "demo/$report/report.html"; done
