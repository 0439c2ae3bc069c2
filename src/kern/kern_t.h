/* kern_t.h - template: the table of one vector width. The including file has defined v16,
 * KERN_MR, TILE_SHAPES and KERN_NAME; it is compiled with the flags of its width.
 */
#include "kern/kern_t_attn.h"
#include "kern/kern_t_gemm.h"
#include "kern/kern_t_row.h"

#define KERN_STR2(x) #x
#define KERN_STR(x)  KERN_STR2(x)
#define KERN_CAT2(x) kern_##x
#define KERN_CAT(x)  KERN_CAT2(x)

const struct kern KERN_CAT(KERN_NAME) = {
	.name = KERN_STR(KERN_NAME),
	.pack = pack,
	.pack_t = pack_t,
	.gemm = gemm,
	.gemm_dw = gemm_dw,
	.rmsnorm = rmsnorm,
	.rmsnorm_again = rmsnorm_again,
	.rmsnorm_bwd = rmsnorm_bwd,
	.rope = rope,
	.attn = attn,
	.attn_bwd = attn_bwd,
	.attn_paged = attn_paged,
	.kv_put = kv_put,
	.silu_mul = silu_mul,
	.silu_mul_bwd = silu_mul_bwd,
	.head = head,
	.head_bwd = head_bwd,
	.add = add,
	.adamw = adamw,
	.sum_sq = sum_sq,
	.exp = exp_row,
};
