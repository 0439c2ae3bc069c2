/* kern_avx512.c - AVX-512: 32 registers of 16, tiles of at most 14 rows and 32 columns. */
#include "kern/v16_avx512.h"

/* Sanitizers check every access: with all the tiles that is minutes of compiling. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define KERN_MR        2
#define TILE_SHAPES(X) X(1, 1) X(1, 2) X(1, 4) X(2, 1) X(2, 2)
#else
#define KERN_MR 14
/* clang-format off */
#define TILE_SHAPES(X) X(1, 1) X(1, 2) X(1, 4) X(2, 1) X(2, 2) X(2, 4)                            \
	X(3, 1) X(3, 2) X(4, 1) X(4, 2) X(5, 1) X(5, 2) X(6, 1) X(6, 2) X(7, 1) X(7, 2)           \
	X(8, 1) X(8, 2) X(9, 1) X(9, 2) X(10, 1) X(10, 2) X(11, 1) X(11, 2) X(12, 1) X(12, 2)     \
	X(13, 1) X(13, 2) X(14, 1) X(14, 2)
/* clang-format on */
#endif
#define KERN_NAME avx512

#include "kern/kern_t.h"
