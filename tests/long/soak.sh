#!/bin/sh
# 100,000 programs of all kinds through one judge: memory, descriptors, processes and cgroups stay
# flat, and every verdict is right. N=programs.
[ "${B:-release}" = release ] || { echo "1..0 # SKIP only for the release build"; exit 0; }
exec /usr/bin/python3 tests/long/soak.py "${CUPEL:-build/release/cupel}" "${N:-100000}"
