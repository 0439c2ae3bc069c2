#!/bin/sh
# replays the corpus of fuzz_hf_config
exec "$BUILD/tests/fuzz_hf_config" tests/fuzz/corpus/hf_config/*
