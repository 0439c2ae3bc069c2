#!/bin/sh
# replays the corpus of fuzz_task
exec "$BUILD/tests/fuzz_task" tests/fuzz/corpus/task/*
