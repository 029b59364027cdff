/* table: the kernels of one instruction set. Compiled once for each, with ISA as its name (isa/NAME.c). */
#include "acts.h"
#include "attend.h"
#include "chain.h"
#include "elementwise.h"
#include "pack.h"
#include "peak_loops.h"
#include "product.h"
#include "score.h"

#ifndef BF16_DOT_NEEDS  /* avx512_emulated.c says that it needs less */
#define BF16_DOT_NEEDS SYSTEM_BF16
#endif

static int vector_takes(enum acts_kind kind)
{
	if (kind == ACTS_BF16_TILES)
		return BF16_TILES && system_has(SYSTEM_AMX);
	return kind != ACTS_BF16_DOT || (BF16_DOT && system_has(BF16_DOT_NEEDS));
}

/* Intel's products of pairs are half as fast as two FMAs. */
static enum acts_kind vector_acts_kind(const struct format *format, int wide)
{
	if (format->id == FORMAT_BF16 && vector_takes(ACTS_BF16_TILES))
		return ACTS_BF16_TILES;
	if (format->id == FORMAT_BF16)
		return vector_takes(ACTS_BF16_DOT) && system_has(SYSTEM_ONE_STREAM) ? ACTS_BF16_DOT : ACTS_BF16;
	if (format->widen)
		return ACTS_F32;
	if (wide)
		return ACTS_Q16;
	return tile_kernel(format) >= 0 ? ACTS_Q8 : ACTS_Q8_I16;
}

static void vector_product(const struct product_job *job)
{
	const struct acts *x = job->x;

	if (BF16_DOT && x->kind == ACTS_BF16_DOT)
		product_bf16(1)(job);
	else if (BF16_TILES && x->kind == ACTS_BF16_TILES && !acts_few(x->kind, x->k, x->n))
		product_bf16_tiles(job);
	else if (acts_bf16(x->kind))
		product_bf16(0)(job);
	else if (!acts_few(x->kind, x->k, x->n))
		product_many(job);
	else if (x->kind == ACTS_F32)
		product_floats(job);
	else
		(acts_planes(x->kind) == 2 ? product_few(2) : product_few(1))(job);
}

#define STRING(isa) #isa
#define ISA_STRING(isa) STRING(isa)

#ifndef NEEDS   /* avx512_emulated.c says that it needs less */
#define NEEDS_OF(isa, feature) needs_##isa = feature,
enum { KERNELS_ISAS(NEEDS_OF) };
#define NEEDS (enum system_feature)ISA_NAME(needs, ISA)
#endif

const struct kernels ISA_NAME(kernels, ISA) = {
	.name = ISA_STRING(ISA), .needs = NEEDS,
	.acts_columns = ACTS_COLUMNS, .acts_together = vector_acts_together,
	.acts_kind = vector_acts_kind, .takes = vector_takes, .acts_bytes = vector_acts_bytes,
	.acts_pack = vector_acts_pack,
	.product_scratch = product_many_scratch, .product = vector_product,
	.norm = vector_norm, .add = vector_add,
	.add_scaled = vector_add_scaled, .scale = vector_scale, .multiply = vector_multiply, .clamp = vector_clamp,
	.cap = vector_cap, .sparsify = vector_sparsify, .xielu = vector_xielu,
	.glu = vector_glu, .unary = vector_unary, .rope = vector_rope,
	.taps = vector_taps, .chain = vector_chain, .dots = vector_dots, .score = vector_score,
	.kv_store = vector_kv_store, .attend_rows = 64, .attend_scratch = vector_attend_scratch,
	.attend = vector_attend, .attend_partial = vector_attend_partial,
	.attend_blocks = vector_attend_blocks, .attend_join = vector_attend_join,
};

const struct peaks ISA_NAME(peaks, ISA) = PEAKS;
