/* The options of running. */
#include "fwd_opts.h"

const struct opt fwd_opts[] = {
	{ OPT_BACKEND, "backend", "NAME", "multicore: the best instruction set, on all cores; simd: the same, on one unless -t is given;\n"
		"scalar: the reference code, on one unless -t is given; or avx2, avx512, neon, auto (default: multicore)" },
	{ 't', "threads", "N", "threads (default: one for each physical core; 1 for simd and scalar)" },
	{ 'c', "ctx-size", "N", "positions of the context (default: the model's, 4096 at most)" },
	{ 'b', "batch-size", "N", "ids evaluated at once (default: 512)" },
	{ OPT_KV, "kv", "NAME", "keep K and V in the segment NAME, and go on from what is there (see kv)" },
	{ OPT_KV_TYPE, "kv-type", "TYPE", "of K and V: f16, f32, q8_0 (half of f16) or auto: f32 for models of floats, f16 for quantised ones\n(default: auto)" },
	{ 0 }
};
