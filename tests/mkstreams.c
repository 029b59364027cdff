/* mkstreams: layers' own inputs, and several residual streams. */
#include "mkparts.h"

#include <math.h>
#include <stdio.h>

#include "lib/gguf/formats.h"

enum { LOW_RANK = 64 };         /* of the branch beside attention */

void mkstreams_whole(struct mkweights *k)
{
	uint32_t n = k->s.n_embd, all = k->family->per_layer * k->s.n_layer, others = (uint32_t)k->family->streams - 1;

	part_matrix(k, "per_layer_token_embd.weight", 'm', all, k->s.n_vocab, 1);
	part_matrix(k, "per_layer_model_proj.weight", 'm', n, all, 1);
	part_vector(k, "per_layer_proj_norm.weight", k->family->per_layer, 1, 0.1f);
	if (!k->family->streams)
		return;
	part_matrices(k, "altup_proj.weight", 'm', (uint64_t[3]){ n, n, others }, 1);
	part_matrices(k, "altup_unembd_proj.weight", 'm', (uint64_t[3]){ n, n, others }, 1);
}

static void streams(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, count = (uint32_t)k->family->streams;

	part_tensor(k, part_name(il, "altup_router", "weight"), FORMAT_F32, (uint64_t[3]){ n, count }, 0, 4);
	part_vector(k, part_name(il, "altup_router_norm", "weight"), n, 1, 0.1f);
	part_tensor(k, part_name(il, "altup_predict_coef", "weight"), FORMAT_F32,
		(uint64_t[3]){ count, count * count }, 0, 0.1f);
	part_tensor(k, part_name(il, "altup_correct_coef", "weight"), FORMAT_F32,
		(uint64_t[3]){ count, count }, 0, 0.1f);
	part_vector(k, part_name(il, "altup_correct_scale", "weight"), n, 1, 0.1f);
	part_matrix(k, part_name(il, "laurel_l", "weight"), 'm', n, LOW_RANK, 1);
	part_matrix(k, part_name(il, "laurel_r", "weight"), 'm', LOW_RANK, n, 1);
	part_norm(k, il, "laurel_post_norm");
}

void mkstreams_layer(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, own = k->family->per_layer;

	part_matrix(k, part_name(il, "inp_gate", "weight"), 'm', n, own, 1);
	part_matrix(k, part_name(il, "proj", "weight"), 'm', own, n, 1);
	part_norm(k, il, "post_norm");
	if (k->family->streams)
		streams(k, il);
}

void mkstreams_hyper(struct mkweights *k, uint32_t il, const char *part, uint32_t shares)
{
	uint32_t n = k->s.n_embd, count = (uint32_t)k->family->hyper;
	uint32_t mixes = (shares > 2 ? 2 + count : shares) * count;
	char name[64];
	int prefix = il == UINT32_MAX ? 0 : snprintf(name, sizeof name, "blk.%u.", il);
	size_t room = sizeof name - (size_t)prefix;

	snprintf(name + prefix, room, "%s_fn.weight", part);
	part_tensor(k, name, FORMAT_F32, (uint64_t[3]){ count * n, mixes }, 0, 1 / sqrtf((float)(count * n)));
	snprintf(name + prefix, room, "%s_scale.weight", part);
	part_vector(k, name, shares, 1, 0.2f);
	snprintf(name + prefix, room, "%s_base.weight", part);
	part_vector(k, name, mixes, -1, 0.5f);
}
