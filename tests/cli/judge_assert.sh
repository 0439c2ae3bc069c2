#!/bin/sh
# Assertions as they are judged: what crosses between a test and a program, and what a program may try
# to pass without being right. The cases are in tests/data/judge_assert.txt.
exec /usr/bin/python3 tests/cli/judge_assert.py tests/data/judge_assert.txt
