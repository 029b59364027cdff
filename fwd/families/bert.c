/* BERT and its descendants: encoders, whose rows see the whole text. Each part of a layer norms the sum of its input
 * and its result (Devlin et al. 2018); ModernBERT, NeoBERT and EuroBERT norm a part's input instead. GELU is the tanh
 * form everywhere, as in llama.cpp. */
#include "fwd/builder/builder.h"
#include "fwd/model/embedder.h"
#include "fwd/model/keys.h"
#include "fwd/model/layers.h"

static int require(struct model *m, const char *name, struct why *w)
{
	return gguf_tensor(m->gguf, name) ? 0 : why(w, "tensor %s: missing", name);
}

static int normed_embedding(struct model *m, struct why *w)
{
	return require(m, "token_embd_norm.weight", w);
}

static int nomic_bert(struct model *m, struct why *w)
{
	return normed_embedding(m, w) < 0 ? -1 : embedder_read_types(m, w);
}

static int bert(struct model *m, struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "position_embd.weight");

	if (t && t->dim[1] < m->n_ctx_train)
		return why(w, "tensor position_embd.weight: %llu rows, but a context of %zu",
			(unsigned long long)t->dim[1], m->n_ctx_train);
	return nomic_bert(m, w);
}

/* Every so many layers one has experts: the second of each group. */
static int nomic_bert_moe(struct model *m, struct why *w)
{
	size_t every = 0;

	if (key_required(m, "moe_every_n_layers", 1, m->n_layer + 1, &every, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		if ((m->layer[il].experts != NULL) != (il % every == 1))
			return why(w, "%s: %zu: layer %zu must%s have experts", key_name(m, "moe_every_n_layers").s,
				every, il, il % every == 1 ? "" : " not");
	return nomic_bert(m, w);
}

/* ALiBi instead of positions, in both directions. */
static int jina_bert_v2(struct model *m, struct why *w)
{
	return require(m, "token_types.weight", w) < 0 || layers_alibi(m, 8, w) < 0 ? -1 : nomic_bert(m, w);
}

/* The activation of ModernBERT's gates. */
static enum unary *gates_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(enum unary));
}

/* Some models made from ModernBERT, such as Granite Embedding R2, have another activation than it. */
static int read_gates(struct model *m, struct why *w)
{
	static const struct {
		const char *name;
		enum unary f;
	} names[] = {
		{ "gelu", UNARY_GELU }, { "geglu", UNARY_GELU }, { "gelu_new", UNARY_GELU },
		{ "gelu_pytorch_tanh", UNARY_GELU }, { "silu", UNARY_SILU }, { "swish", UNARY_SILU },
		{ "swiglu", UNARY_SILU }, { "reglu", UNARY_RELU },
	};
	struct key_name key = key_name(m, "hidden_activation");
	struct gguf_string name = { "gelu", 4 };

	if (gguf_text(m->gguf, key.s, &name, w) < 0)
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (gguf_is(name, names[i].name)) {
			*gates_of(m) = names[i].f;
			return 0;
		}
	return why(w, "%s: %.*s is not supported", key.s, GGUF_SHOWN(name));
}

static int modern_bert(struct model *m, struct why *w)
{
	if (normed_embedding(m, w) < 0 || read_gates(m, w) < 0 || layers_slide_late(m, 3, w) < 0)
		return -1;
	layers_center_windows(m);
	return layers_sliding_rope(m, SLIDING_BASE, w);
}

static void add_and_norm(struct builder *b, struct value *branch, const char *name)
{
	build_add(b, branch, (struct sum){ .norm = NULL });
	b->x = build_norm(b, b->x, name);
}

/* The code model of jina-bert-v2 adds the layer's input a second time. */
static void attend(struct builder *b)
{
	struct value *x = build_has(b, "attn_norm_2") ? build_copy(b, "layer_input", b->x) : NULL;
	struct value *branch = build_attention(b, build_qkv(b, b->x), b->model->family->decoder.heads);

	add_and_norm(b, build_branch(b, branch, "attn_output"), "attn_output_norm");
	if (x)
		add_and_norm(b, x, "attn_norm_2");
}

static void bert_layer(struct builder *b, size_t il)
{
	attend(b);
	add_and_norm(b, b->layer->experts ? build_experts(b, b->x, NULL, UNARY_GELU)
		: build_branch(b, build_ungated(b, b->x, UNARY_GELU), "ffn_down"), "layer_output_norm");
}

static void nomic_bert_layer(struct builder *b, size_t il)
{
	attend(b);
	add_and_norm(b, build_branch(b, build_gated(b, b->x, UNARY_SILU), "ffn_down"), "layer_output_norm");
}

/* ffn_up alone may have the rows of the gate and of up. */
static void jina_bert_v2_layer(struct builder *b, size_t il)
{
	struct value *x;

	attend(b);
	x = build_has(b, "ffn_gate") || build_n_rows(b, "ffn_up") == 2 * b->layer->n_ff
		? build_gated(b, b->x, UNARY_GELU) : build_ungated(b, b->x, UNARY_GELU);
	add_and_norm(b, build_branch(b, x, "ffn_down"), "layer_output_norm");
}

/* The first layer reads the normed embedding as it is. */
static void modern_bert_layer(struct builder *b, size_t il)
{
	const struct sum sum = { .norm = NULL };
	struct value *x = il || build_has(b, "attn_norm") ? build_norm(b, b->x, "attn_norm") : b->x;

	build_add(b, build_branch(b, build_attention(b, build_qkv(b, x), HEADS_PLAIN), "attn_output"), sum);
	x = build_gated(b, build_norm(b, b->x, "ffn_norm"), *gates_of(b->model));
	build_add(b, build_branch(b, x, "ffn_down"), sum);
}

#define ENCODER .headless = 1, .sees_all = 1
#define POST_NORMED .norm = NORM_LAYER, .final_norm = "", ENCODER

const struct family families_bert[] = {
	/* Devlin et al. 2018; BGE, E5, GTE, MiniLM, and with XLM-R's vocabulary BGE-M3 and its rerankers */
	{ .arch = "bert", POST_NORMED, .unrotated = 1, .positions = POSITIONS_LEARNED, .ranks = RANKS_FIRST,
	  .read = bert, .layer = bert_layer },
	/* Nussbaum et al. 2024, 2025 */
	{ .arch = "nomic-bert", POST_NORMED, .pairs = ROPE_HALVES, .read = nomic_bert, .layer = nomic_bert_layer },
	{ .arch = "nomic-bert-moe", POST_NORMED, .pairs = ROPE_HALVES, .read = nomic_bert_moe, .layer = bert_layer,
	  .decoder = { .ungated = 1 }, .has_experts = 1 },
	/* Günther et al. 2023; Sturua et al. 2024 */
	{ .arch = "jina-bert-v2", POST_NORMED, .unrotated = 1, .ranks = RANKS_FIRST, .read = jina_bert_v2,
	  .layer = jina_bert_v2_layer, .decoder = { .heads = HEADS_NORMED_TOGETHER } },
	{ .arch = "jina-bert-v3", POST_NORMED, .pairs = ROPE_HALVES, .read = nomic_bert, .layer = bert_layer },
	/* Warner et al. 2024; Le Breton et al. 2025; Boizard et al. 2025 */
	{ .arch = "modern-bert", .norm = NORM_LAYER, ENCODER, .pairs = ROPE_HALVES, .ranks = RANKS_MEAN,
	  .window = NO_WINDOW, .read = modern_bert, .layer = modern_bert_layer },
	{ .arch = "neo-bert", .norm = NORM_RMS, ENCODER, .ranks = RANKS_FIRST, .final_norm = "enc.output_norm" },
	{ .arch = "eurobert", .norm = NORM_RMS, ENCODER, .pairs = ROPE_HALVES },
	{ .arch = NULL },
};
