/* The layer that most families share: attention, then a feed-forward part or a mixture of experts; or both in parallel.
 * struct decoder has its options. */
#include "builder.h"
#include "compressed.h"

static const char *or(const char *name, const char *usual)
{
	return name ? name : usual;
}

/* Attention's branch, of the kind that the model has. */
static struct value *attend(struct builder *b, struct value *x)
{
	if (compressed_of(b->model)->rank_q)
		return build_branch(b, build_compressed_attention(b, x), "attn_output_b");
	if (b->layer->latent)
		return build_branch(b, build_latent_attention(b, x), "attn_output");
	if (b->layer->sparse)
		build_index_groups(b, x);
	return build_branch(b, build_attention(b, build_qkv(b, x), b->model->family->decoder.heads), "attn_output");
}

/* Adds the branches that mix positions, all made from x. If the family norms branches, it is the last one. */
static void mix(struct builder *b, struct value *x)
{
	const struct layer *l = b->layer;
	struct sum sum = { .norm = b->model->family->decoder.post_norms ? "post_attention_norm" : NULL };

	if (l->mixer)
		build_add(b, l->mixer->build(b, x), l->attends ? (struct sum){ .norm = NULL } : sum);
	if (!l->attends)
		return;
	sum.scale = b->model->attn_out_scale;
	build_add(b, attend(b, x), sum);
}

static struct value *feed_forward(struct builder *b, struct value *x, struct value *logits)
{
	const struct decoder *d = &b->model->family->decoder;

	if (b->layer->experts)
		return build_experts(b, x, logits, d->f);
	return build_branch(b, d->ungated ? build_ungated(b, x, d->f) : build_gated(b, x, d->f), "ffn_down");
}

/* How the result of the feed-forward part is added. */
static struct sum of_feed_forward(const struct builder *b)
{
	return (struct sum){ .norm = b->model->family->decoder.post_norms ? "post_ffw_norm" : NULL };
}

/* Both parts read the stream as it is before the layer. */
static void parallel_layer(struct builder *b, const char *attn_norm, const char *ffn_norm)
{
	struct value *x = build_norm(b, b->x, build_has(b, ffn_norm) ? ffn_norm : attn_norm);
	struct value *branch = feed_forward(b, x, NULL);

	if (build_has(b, ffn_norm))
		x = build_norm(b, b->x, attn_norm);
	else if (build_has(b, "attn_norm_2"))
		x = build_norm(b, b->x, "attn_norm_2");
	build_add(b, branch, of_feed_forward(b));
	mix(b, x);
}

void decoder_layer(struct builder *b, size_t il)
{
	const struct decoder *d = &b->model->family->decoder;
	const char *attn_norm = or(d->attn_norm, "attn_norm"), *ffn_norm = or(d->ffn_norm, "ffn_norm");
	struct value *logits = NULL;

	if (b->model->parallel || (d->parallel && !build_has(b, ffn_norm))) {
		parallel_layer(b, attn_norm, ffn_norm);
		return;
	}
	if (d->routes_input && b->layer->experts)
		logits = build_router(b, b->x);
	if (b->layer->mixer || b->layer->attends)
		mix(b, build_read(b, attn_norm));
	if (b->layer->n_ff || b->layer->experts)
		build_add(b, feed_forward(b, build_read(b, ffn_norm), logits), of_feed_forward(b));
}
