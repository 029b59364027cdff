/* The layer that most families share: attention, then a feed-forward part or a mixture of experts; or both in parallel.
 * struct decoder has its options. */
#include "builder.h"
#include "fwd/model/family.h"

static const char *or(const char *name, const char *usual)
{
	return name ? name : usual;
}

/* The branches that mix positions, all made from x. Attention must be last, because in the last layer it leaves only
 * the wanted rows. */
static void mix(struct builder *b, struct packed *x)
{
	static const struct {
		enum mixer mixer;
		struct packed *(*build)(struct builder *b, struct packed *x);
		const char *out;
	} recurrent[] = {
		{ MIXER_CONVOLUTION, build_convolution, "shortconv.out_proj" }, { MIXER_DELTA, build_delta, "ssm_out" },
		{ MIXER_KDA, build_kda, "attn_output" }, { MIXER_MAMBA, build_mamba, "ssm_out" },
		{ MIXER_MAMBA2, build_mamba2, "ssm_out" }, { MIXER_PLAMO2, build_mamba_plamo2, "ssm_out" },
	};
	const struct decoder *d = &b->model->family->decoder;

	for (size_t i = 0; i < sizeof recurrent / sizeof *recurrent; i++)
		if (b->layer->mixers & recurrent[i].mixer)
			build_branch(b, recurrent[i].build(b, x), recurrent[i].out);
	if (b->layer->mixers & MIXER_PRODUCT) {
		build_branch(b, x, "attn_output");
		build_unmixed(b);
	}
	if (b->layer->mixers & MIXER_ATTENTION && b->model->compressed.rank_q)
		build_branch(b, build_compressed_attention(b, x), "attn_output_b");
	else if (b->layer->mixers & MIXER_ATTENTION && b->layer->latent.rank)
		build_branch(b, build_latent_attention(b, x), "attn_output");
	else if (b->layer->mixers & MIXER_ATTENTION) {
		if (b->layer->sparse)
			build_index_groups(b, x);
		build_qkv(b, x);
		build_branch(b, build_attention(b, d->heads), "attn_output");
		build_branch_scale(b, b->model->attn_out_scale);
	}
	if (d->post_norms)
		build_post_norm(b, "post_attention_norm");
}

static void feed_forward(struct builder *b, struct packed *x)
{
	const struct decoder *d = &b->model->family->decoder;

	if (b->layer->experts)
		build_experts(b, x, d->f);
	else
		build_branch(b, d->ungated ? build_ungated(b, x, d->f) : build_gated(b, x, d->f), "ffn_down");
	if (d->post_norms)
		build_post_norm(b, "post_ffw_norm");
}

static void parallel_layer(struct builder *b, const char *attn_norm, const char *ffn_norm)
{
	struct packed *x = build_norm(b, build_has(b, ffn_norm) ? ffn_norm : attn_norm);

	feed_forward(b, x);
	if (build_has(b, ffn_norm))
		x = build_norm_beside(b, attn_norm);
	else if (build_has(b, "attn_norm_2"))
		x = build_norm_beside(b, "attn_norm_2");
	mix(b, x);
}

void decoder_layer(struct builder *b, size_t il)
{
	const struct decoder *d = &b->model->family->decoder;
	const char *attn_norm = or(d->attn_norm, "attn_norm"), *ffn_norm = or(d->ffn_norm, "ffn_norm");

	if (b->model->parallel || (d->parallel && !build_has(b, ffn_norm))) {
		parallel_layer(b, attn_norm, ffn_norm);
		return;
	}
	if (d->routes_input && b->layer->experts)
		build_router(b, build_norm(b, ""));
	if (b->layer->mixers)
		mix(b, build_norm(b, attn_norm));
	else
		build_unmixed(b);
	if (b->layer->n_ff || b->layer->experts)
		feed_forward(b, build_norm(b, ffn_norm));
}
