/* bench_text.h - scripts of the benchmarks, compiled in: src/cli/<name>.py. */
#ifndef CLI_BENCH_TEXT_H
#define CLI_BENCH_TEXT_H

extern const char bench_floor_text[];

#endif
