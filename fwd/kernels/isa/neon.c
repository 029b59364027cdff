/* neon: the skeletons in the vocabulary of NEON, and their tables. */
#include "v_neon.h"

enum { ATTEND_RESIDUES = 1, ATTEND_VECTORS = 1 };

#include "fwd/kernels/simd/attend.h"
#include "fwd/kernels/simd/peak_loops.h"
#include "fwd/kernels/simd/product.h"

const struct kernels kernels_neon = {
	.name = "neon",
	.acts_columns = ACTS_COLUMNS, .acts_kind = vector_acts_kind, .acts_bytes = vector_acts_bytes, .acts_pack = vector_acts_pack,
	.product_scratch = vector_product_scratch, .product = vector_product,
	.norm = vector_norm, .add = vector_add, .glu = vector_glu, .unary = vector_unary, .rope = vector_rope, .argmax = vector_argmax,
	.kv_store = vector_kv_store, .attend_rows = 64, .attend_scratch = vector_attend_scratch, .attend = vector_attend,
	.attend_part = vector_attend_part, .attend_blocks = vector_attend_blocks, .attend_join = vector_attend_join,
};

const struct peaks peaks_neon = PEAKS;
