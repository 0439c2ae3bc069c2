#!/bin/sh
# What a program may send to the trusted process of a pair: mutated and random frames end in a value,
# an exception of the program, or the end of the job, and never in a failure of ours.
exec /usr/bin/python3 tests/fuzz/call_protocol.py "${1:-3000}"
