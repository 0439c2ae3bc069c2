#!/bin/sh
# replays the corpus of fuzz_safetensors
exec "$BUILD/tests/fuzz_safetensors" tests/fuzz/corpus/safetensors/*
