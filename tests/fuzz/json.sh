#!/bin/sh
# replays the corpus of fuzz_json
exec "$BUILD/tests/fuzz_json" tests/fuzz/corpus/json/*
