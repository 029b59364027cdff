/* Opens a plan: records the ops of all layers, and gives memory to those of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/size.h"
#include "fwd/plan/split.h"
#include "fwd/model/diffusion.h"
#include "fwd/model/embedder.h"
#include "fwd/model/encoder.h"
#include "compressed.h"
#include "per_layer.h"

static int no_room(const struct plan *p, struct why *w)
{
	return why(w, "out of memory for a batch of %zu rows", p->setup.batch);
}

/* What a step needs besides the values that flow between ops. */
static int open_step(struct plan *p, struct why *w)
{
	p->runs = plan_memory(p, p->setup.batch, sizeof *p->runs);
	p->step.pos = p->pos = plan_memory(p, p->setup.batch, sizeof *p->pos);
	p->step.first_item = plan_memory(p, p->setup.batch, sizeof *p->step.first_item);
	return p->runs && p->pos && p->step.first_item ? 0 : no_room(p, w);
}

/* Buffers for models whose texts are evaluated as a whole. */
static int open_texts(struct plan *p, struct why *w)
{
	const struct encoder *e = encoder_of(p->model);
	struct text_buffers *d = &p->texts;

	if (!e->n_layer && !plan_takes_whole_texts(p))
		return 0;
	if (e->n_layer && size_max(e->start, e->end) >= p->model->n_vocab)
		return why(w, "the decoder's first id, %zu, or a text's last, %zu, is outside the vocabulary of %zu",
			e->start, e->end, p->model->n_vocab);
	d->whole = plan_memory(p, p->setup.batch, sizeof *d->whole);
	d->decoder = plan_memory(p, p->setup.batch, sizeof *d->decoder);
	d->runs = plan_memory(p, p->setup.batch, sizeof *d->runs);
	return d->whole && d->decoder && d->runs ? 0 : no_room(p, w);
}

/* ---- ops ---- */

/* Adds the embedding of the type of a text's tokens; all of a text are of the first. */
static void add_type(struct builder *b)
{
	size_t types = embedder_of(b->model)->types, n = b->x->n;
	struct op_rows o = { .branch = build_constant(b, n, 0), .scale = 1 };
	struct value *sum = build_part(b, b->x, 0, n);
	const float *rows;

	if (!types || !(rows = build_table(b, "token_types", "weight", types, n)) || !o.branch.at)
		return;
	memcpy(o.branch.at, rows, n * sizeof *rows);
	o.x = rows_of(sum);
	b->x = build_rows(b, "token_types", o, sum, sum);
}

/* Norms the embedding, in place, if the model does. */
static void norm_embedding(struct builder *b)
{
	const struct model *m = b->model;
	struct op_rows o = { .norm = { .kind = NORM_NONE } };

	if (m->embedding_normed)
		o.norm = (struct norm){ .kind = m->norm, .eps = m->eps };
	else if (build_has(b, "token_embd_norm")
	    && !(m->family->final_norm && !strcmp(m->family->final_norm, "token_embd_norm")))
		o.norm = build_norm_of(b, "token_embd_norm", m->n_embd);
	if (o.norm.kind != NORM_NONE)
		b->x = build_rows(b, "token_embd_norm", o, b->x, build_part(b, b->x, 0, b->x->n));
}

void build_embed(struct builder *b)
{
	const struct model *m = b->model;
	struct op_embed e = { .scale = m->embedding_scale };

	b->x = build_part(b, build_value(b, m->n_streams * m->n_embd), 0, m->n_embd);
	e.x = rows_of(b->x);
	build_matrices(b, m->family->embeds_output && !build_has(b, "token_embd") ? "output" : "token_embd", 1,
		m->n_vocab, m->n_embd, &e.ids);
	e.substitute = build_substitutes(b);
	if (m->family->positions == POSITIONS_LEARNED
	    || (m->family->positions == POSITIONS_OPTIONAL && model_has(m, "position_embd.weight"))) {
		build_matrices(b, "position_embd", 1, m->n_ctx_max, m->n_embd, &e.positions);
		e.spare = rows_of(build_value(b, m->n_embd));
	}
	build_output(b, build_append(b, &op_embed, NULL, &e, sizeof e), 0, "", b->x, m->n_embd);
	build_lora_of_embedding(b, e.scale);
	add_type(b);
	norm_embedding(b);
	if (m->embedding_carried)
		b->carried = build_copy(b, "embed_carried", b->x);
	build_per_layer_inputs(b);
	if (b->streams->open)
		b->streams->open(b);
}

/* The final norm and the output product; a file without `output` uses token_embd again. */
static void build_head(struct builder *b)
{
	const struct model *m = b->model;
	struct op_logits logits = { .n = m->n_vocab, .scale = m->logit_scale, .cap = m->logit_cap,
		.from = m->ruled_out.from, .to = m->ruled_out.to };
	struct op_product o = build_products_of(b, build_norm(b, b->x,
		m->family->final_norm ? m->family->final_norm : "output_norm"));

	build_add_logits(b, &o, build_has(b, "output") ? "output" : "token_embd", m->n_vocab);
	build_products(b, "output", &o);
	build_ignore_heads(b);
	if (logits.scale < 1 || logits.scale > 1 || logits.cap > 0 || logits.to)
		build_append(b, &op_logits, NULL, &logits, sizeof logits);
}

/* What the head reads; the streams stay what they are. */
static struct value *unite(struct builder *b)
{
	size_t il = b->il;
	struct value *x;

	if (!b->streams->unite)
		return b->x;
	b->il = OP_NO_LAYER;
	x = b->streams->unite(b, build_streams(b));
	b->il = il;
	return x;
}

/* Keeps what the head would read after this layer, for --lens. */
static void build_lens(struct builder *b)
{
	b->plan->lens[b->il] = rows_of(b->streams->unite ? unite(b) : build_copy(b, "lens", b->x));
}

/* A place between two layers where the model is divided: the number of ops before it, and the stream that passes. */
struct cut {
	int ops;
	struct value *x;
};

static struct cut cut_here(struct builder *b)
{
	b->apart = (int)b->plan->n_ops;
	return (struct cut){ b->apart, b->x };
}

/* Finds out what passes between plans before this layer. */
static void pass_on(struct builder *b, const struct cut *cut, size_t layer, struct plan_parts *parts)
{
	char prefix[64];

	if (!cut->x || build_failed(b))
		return;
	graph_cut(&b->graph, cut->ops, cut->x, parts);
	snprintf(prefix, sizeof prefix, "cannot be divided before layer %zu", layer);
	if (build_failed(b))
		why_in(b->w, prefix);
}

/* Appends the ops of all layers, and notes where those of the plan begin and end. */
static void build_layers(struct builder *b, struct cut *first, struct cut *last)
{
	struct plan *p = b->plan;
	const struct plan_setup *setup = &p->setup;
	size_t n_layer = b->model->n_layer;

	for (size_t il = 0; il < n_layer; il++) {
		if (il && il == setup->first)
			*first = cut_here(b);
		if (il == setup->last)
			*last = cut_here(b);
		b->graph.now_absent = il < setup->first || il >= setup->last;
		b->il = il;
		b->layer = &b->model->layer[il];
		(b->model->family->layer ? b->model->family->layer : decoder_layer)(b, il);
		if (b->model->control[il])
			build_add_vector(b, b->model->control[il]);
		if (p->lens)
			build_lens(b);
	}
	b->il = OP_NO_LAYER;
}

/* Declares what is read at the end of a step. */
static void read_results(struct builder *b)
{
	struct plan *p = b->plan;
	size_t n = b->model->n_embd;

	for (size_t il = 0; p->lens && il < b->model->n_layer; il++)
		graph_read(&b->graph, &p->lens[il], n, il + 1 < b->model->n_layer);
	if (p->setup.last == b->model->n_layer)
		graph_read(&b->graph, &p->x, n, 0);
	if (p->setup.embeds)
		graph_read(&b->graph, &p->embedding, p->n_embedding, 0);
}

/* Records the ops of the whole model. */
static void build_all(struct builder *b)
{
	struct plan *p = b->plan;
	size_t n_layer = b->model->n_layer;
	struct cut first = { 0, NULL }, last = { 0, NULL };

	b->kv_offsets = build_allocate(b, (2 * n_layer + 1) * sizeof *b->kv_offsets);
	if (encoder_of(b->model)->n_layer)
		build_encoder(b);
	p->n_encoder = p->n_ops;
	b->graph.now_absent = p->setup.first > 0;
	build_embed(b);
	build_layers(b, &first, &last);
	build_lay_out_groups(b);
	b->graph.now_absent = p->setup.last < n_layer;
	b->x = unite(b);
	p->x = rows_of(b->x);
	/* The head may run several times, over some of the rows each time, so it is set apart. */
	p->n_body = (size_t)cut_here(b).ops;
	(p->setup.embeds ? build_pooled : build_head)(b);
	p->n_pooled = p->n_pooled ? p->n_pooled : p->n_ops;
	pass_on(b, &first, p->setup.first, &p->in);
	pass_on(b, &last, p->setup.last, &p->out);
	read_results(b);
}

/* Raises a size to `least`, for something that the model has but no layer of this plan. */
static void at_least(size_t *n, size_t least)
{
	*n = size_max(*n, least);
}

/* The positions from which a state can continue depend on its layers. This makes the states of a plan of some layers
 * follow the rules of the whole model, so that all its plans can continue from the same positions. */
static void follow_model(struct builder *b)
{
	struct plan *p = b->plan;
	const size_t range[] = { p->setup.first, p->setup.last };

	if (p->setup.last - p->setup.first == b->model->n_layer)
		return;
	p->layout = hash_data(range, sizeof range, p->layout);
	p->window = b->window;
	for (int type = 0; p->window && type < KV_TYPES; type++)
		at_least(&p->recent_bytes[type], 64);
	if (b->elsewhere & KEPT_STATE)
		at_least(&p->state_floats, 64 / sizeof(float));
	if (b->elsewhere & KEPT_RING)
		at_least(&p->row_bytes, 1);
}

/* Whether the K and V of all layers have the same sizes, and are read in their layer alone. */
static int have_equal_heads(struct model *m)
{
	for (const struct layer *l = m->layer; l < m->layer + m->n_layer; l++)
		if (!l->attends || l->kv || l->latent || l->sparse || l->ratio || l->n_head_kv != m->layer->n_head_kv
		    || l->dim_k != m->layer->dim_k || l->dim_v != m->layer->dim_v)
			return 0;
	return !encoder_of(m)->n_layer && !compressed_of(m)->rank_q;
}

static int record(struct plan *p, struct why *w)
{
	static const struct stream_kind single = { .open = NULL };
	struct builder b = { .plan = p, .model = p->model, .w = w, .il = OP_NO_LAYER,
		.stack = p->model->family->stack ? p->model->family->stack : "",
		.streams = p->model->family->streams ? p->model->family->streams : &single,
		.sight = diffusion_of(p->model)->on || embedder_of(p->model)->whole ? SIGHT_ALL : SIGHT_PAST,
		.one_place = p->setup.embeds && have_equal_heads(p->model) };
	int status;

	graph_open(&b.graph, p, w);
	build_all(&b);
	follow_model(&b);
	status = build_failed(&b) || model_all_used(p->model, p->setup.first, p->setup.last, w) < 0
		|| lora_all_used(p->model, w) < 0 ? -1 : graph_place(&b.graph);
	graph_close(&b.graph);
	return status;
}

/* Allocates the table of rows after each layer. */
static int open_lens(struct plan *p, struct why *w)
{
	if (!p->setup.lens)
		return 0;
	p->lens = plan_memory(p, p->model->n_layer, sizeof *p->lens);
	return p->lens ? 0 : no_room(p, w);
}

/* Allocates the scratch memory of the threads. */
static int open_scratch(struct plan *p, struct why *w)
{
	size_t scratch = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		scratch = size_max(scratch, op->scratch);
	p->step.scratch_bytes = size_divide_up(scratch, PLAN_ALIGN) * PLAN_ALIGN;
	p->step.scratch = plan_memory(p, p->step.threads, p->step.scratch_bytes);
	return p->step.scratch ? 0 : why(w, "out of memory for %zu threads", p->step.threads);
}

/* The most rows that a batch may have. */
static size_t most_rows(const struct model *m, const struct plan_setup *setup)
{
	for (size_t il = 0; il < m->n_layer && !setup->embeds; il++)
		if (layer_window(&m->layer[il]))
			return SEGMENT_BATCH;
	return SIZE_MAX;
}

struct plan *build_plan(struct model *m, const struct plan_setup *setup, struct why *w)
{
	struct plan *p = calloc(1, sizeof *p);

	if (!p) {
		why(w, "%s: out of memory", m->gguf->path);
		return NULL;
	}
	p->model = m;
	p->setup = *setup;
	p->setup.batch = size_min(setup->batch, most_rows(m, setup));
	p->step.k = setup->kernels;
	p->step.one_stream = system_has(SYSTEM_ONE_STREAM);
	p->step.threads = pool_threads(setup->pool);
	if (split_check(m, setup->first, setup->last, w) < 0 || open_step(p, w) < 0 || open_texts(p, w) < 0
	    || open_lens(p, w) < 0 || record(p, w) < 0 || open_scratch(p, w) < 0) {
		why_in(w, m->gguf->path);
		plan_close(p);
		return NULL;
	}
	return p;
}
