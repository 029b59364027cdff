/* Families with layers that mix positions by other means than attention. */
#include "families.h"
#include "layers.h"

/* LFM2 (Liquid AI 2025): short convolutions, and now and then attention. */
static int lfm2(struct model *m, struct why *w)
{
	return layers_slide(m, 0, w);
}

const struct family families_recurrent[] = {
	{ .arch = "lfm2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = lfm2, .mixer = MIXER_CONVOLUTION,
	  .final_norm = "token_embd_norm", .decoder = { .heads = HEADS_NORMED } },
	{ .arch = "lfm2moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = lfm2, .mixer = MIXER_CONVOLUTION,
	  .final_norm = "token_embd_norm", .decoder = { .heads = HEADS_NORMED }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .normalise = 1 } },
	{ .arch = NULL },
};
