#!/bin/sh
# replays the corpus of fuzz_wire
exec "$BUILD/tests/fuzz_wire" tests/fuzz/corpus/wire/*
