/* kern_avx2.c - AVX2 and FMA: 16 registers of 8, tiles of at most 6 rows and 16 columns. */
#include "kern/v16_avx2.h"

#define KERN_NAME avx2
#define KERN_MR   6
/* clang-format off */
#define TILE_SHAPES(X) X(1, 1) X(1, 2) X(1, 4) X(2, 1) X(2, 2) X(3, 1) X(3, 2)                    \
	X(4, 1) X(5, 1) X(6, 1)
/* clang-format on */

#include "kern/kern_t.h"
