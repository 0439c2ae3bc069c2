#!/bin/sh
# replays the corpus of fuzz_tokenizer
exec "$BUILD/tests/fuzz_tokenizer" tests/fuzz/corpus/tokenizer/*
