/* kern_scalar.c - the reference: any CPU. */
#include "kern/v16_scalar.h"

#define KERN_NAME      scalar
#define KERN_MR        2
#define TILE_SHAPES(X) X(1, 1) X(2, 1)

#include "kern/kern_t.h"
