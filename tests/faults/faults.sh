#!/bin/sh
# Judges a corpus of cases of what graders get wrong, one line a case; FILE is the corpus.
# Cases of languages, checkers and kinds of tasks that this version does not know are skipped.
file=${1:-../shared/data/faults/cases.jsonl}
[ -r "$file" ] || { echo "1..0 # SKIP $file is not here"; exit 0; }
exec /usr/bin/python3 tests/faults/faults.py "$file"
