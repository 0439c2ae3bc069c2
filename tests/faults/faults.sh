#!/bin/sh
# A part of our own cases of what graders get wrong, and all of the shared ones where they are; one
# line a case. tests/long/faults.sh runs all of them in every tier.
"$CUPEL" box -- /bin/true </dev/null 2>/dev/null
[ $? = 3 ] && { echo "1..0 # SKIP no isolation"; exit 0; }
shared=../shared/data/faults/cases.jsonl
[ -r "$shared" ] || { shared=; echo "# the shared cases are not here"; }
# shellcheck disable=SC2086
exec /usr/bin/python3 tests/faults/run --tap --jobs=4 ${EVERY:+--every=$EVERY} $shared tests/faults/cases.jsonl
