#!/bin/sh
# replays the corpus of fuzz_conf_yaml
exec "$BUILD/tests/fuzz_conf_yaml" tests/fuzz/corpus/conf_yaml/*
