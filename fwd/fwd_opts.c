/* The options for running a model. */
#include "fwd_opts.h"

#include "fwd/kernels/kernels.h"
#include "fwd/kernels/kv_type.h"

const struct opt fwd_opts[] = {
	{ OPT_BACKEND, "backend", "multicore|simd|scalar|" KERNELS_NAMES "auto",
		"multicore: the best instruction set, on all cores; simd: the same, on one core\n"
		"without -t; scalar: the reference code, likewise; or an instruction set by name\n"
		"(default: multicore)" },
	{ 't', "threads", "N", "threads (default: -1: one for each fast physical core; 1 for simd and scalar)" },
	{ 'c', "ctx-size", "N",
		"tokens of context; 0: what the model was trained for (default: that, but 4096 at most)" },
	{ 'b', "batch-size", "N", "tokens evaluated at once (default: 512)" },
	{ OPT_KV, "kv", "NAME",
		"keep the state in segment NAME (a file if NAME has a '/'), and continue from it" },
	{ OPT_KV_TYPE, "kv-type", KV_TYPE_NAMES "auto",
		"type of K and V; q8_0 takes 53% of the memory of f16, q4_0 28%; auto: f32 for float\n"
		"models, f16 for quantised ones (default: auto)" },
	{ OPT_IGNORE_TENSORS, "ignore-tensors", NULL,
		"ignore tensors that the architecture does not have, such as those of a part that\n"
		"reads images" },
	{ OPT_LORA, "lora", "FILE[=SCALE]",
		"add the products of an adapter (LoRA) to those of the model, times SCALE (default: 1);\n"
		"repeatable" },
	{ OPT_CONTROL, "control-vector", "FILE[=SCALE]",
		"add the directions of a control vector, times SCALE (default: 1), to the rows after\n"
		"their layers; repeatable" },
	{ OPT_CONTROL_LAYERS, "control-vector-layers", "A-B", "only those of layers A to B (default: of all)" },
	{ 0 }
};
