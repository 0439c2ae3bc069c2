#!/bin/sh
# replays the corpus of fuzz_extract
exec "$BUILD/tests/fuzz_extract" tests/fuzz/corpus/extract/*
