#!/bin/sh
# replays the corpus of fuzz_traj
exec "$BUILD/tests/fuzz_traj" tests/fuzz/corpus/traj/*
