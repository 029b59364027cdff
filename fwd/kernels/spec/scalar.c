/* scalar: the table of the specification. */
#include "scalar.h"

const struct kernels kernels_scalar = {
	.name = "scalar", .needs = SYSTEM_ANY,
	.acts_columns = 1, .acts_together = scalar_acts_together, .acts_kind = scalar_acts_kind,
	.takes = scalar_takes, .acts_bytes = scalar_acts_bytes,
	.acts_pack = scalar_acts_pack,
	.product_scratch = scalar_product_scratch, .product = scalar_product,
	.norm = scalar_norm, .add = scalar_add,
	.add_scaled = scalar_add_scaled, .scale = scalar_scale, .multiply = scalar_multiply, .clamp = scalar_clamp,
	.cap = scalar_cap, .sparsify = scalar_sparsify, .xielu = scalar_xielu,
	.glu = scalar_glu, .unary = scalar_unary, .rope = scalar_rope,
	.taps = scalar_taps, .chain = scalar_chain, .dots = scalar_dots, .score = score_part,
	.kv_store = scalar_kv_store, .attend_rows = 1, .attend_scratch = scalar_attend_scratch, .attend = scalar_attend,
	.attend_partial = scalar_attend_partial, .attend_blocks = scalar_attend_blocks,
	.attend_join = scalar_attend_join,
};
