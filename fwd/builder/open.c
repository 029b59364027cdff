/* Opens a plan: its buffers, the ops of all its layers, and the memory that the ops need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "fwd/model/family.h"
#include "fwd/model/mixers.h"
#include "fwd/plan/split.h"
#include "build.h"

/* ---- buffers ---- */

static struct buffer buffer(struct plan *p, size_t width)
{
	return (struct buffer){ .at = plan_memory(p, p->setup.batch, width * sizeof(float)), .stride = width };
}

static int no_room(const struct plan *p, struct why *w)
{
	return why(w, "out of memory for a batch of %zu rows", p->setup.batch);
}

static int open_buffers(struct plan *p, struct why *w)
{
	size_t n_embd = p->model->n_embd, n_streams = p->model->n_streams, h = n_embd, wide = 0;
	size_t rank = size_max(p->model->hyper.rank, p->model->norm_rank);
	size_t modes = (2 + (p->model->hyper.rounds ? n_streams : 0)) * n_streams;

	for (const struct layer *l = p->model->layer + p->setup.first; l < p->model->layer + p->setup.last; l++) {
		h = size_max(h, mixers_h(p->model, l));
		wide = size_max(wide, size_max(mixers_wide(p->model, l), 2 * size_max(l->n_ff, p->model->n_per_layer)));
		if (l->experts)
			wide = size_max(wide, 2 * size_max(l->expert_sizes.n_ff_shared, l->experts->n_latent));
	}
	if (rank)
		wide = size_max(wide, size_max(rank, n_streams * n_embd));
	p->x = buffer(p, n_streams * n_embd);
	p->branch = buffer(p, n_embd);
	p->h = buffer(p, h);
	p->wide = buffer(p, wide);
	p->per_layer = buffer(p, p->model->n_per_layer * p->model->n_layer);
	p->per_layer_ids = buffer(p, p->model->n_per_layer * p->model->n_layer);
	p->carried = buffer(p, p->model->family->mixer == MIXER_RWKV7 || p->model->embedding_carried ? n_embd : 0);
	p->predicted = buffer(p, p->model->family->streams ? p->x.stride : 0);
	p->modes = buffer(p, p->model->family->streams ? modes : 0);
	p->runs = plan_memory(p, p->setup.batch, sizeof *p->runs);
	p->step.pos = p->pos = plan_memory(p, p->setup.batch, sizeof *p->pos);
	p->step.first_item = plan_memory(p, p->setup.batch, sizeof *p->step.first_item);
	if (!p->x.at || !p->branch.at || !p->h.at || !p->wide.at || !p->runs || !p->pos || !p->step.first_item
	    || !p->per_layer.at || !p->per_layer_ids.at || !p->carried.at || !p->predicted.at || !p->modes.at)
		return no_room(p, w);
	return 0;
}

static void *slots(struct plan *p, size_t used, size_t size)
{
	return plan_memory(p, p->setup.batch, used * size);
}

static int open_lens(struct plan *p, struct why *w)
{
	size_t n = p->model->n_layer;

	if (!p->setup.lens)
		return 0;
	p->lens = plan_memory(p, n, sizeof *p->lens);
	for (size_t il = 0; p->lens && il < n; il++)
		if (!(p->lens[il] = buffer(p, p->model->n_embd * p->model->n_streams)).at)
			p->lens = NULL;
	return p->lens ? 0 : why(w, "out of memory for a batch of %zu rows after each of %zu layers (-b)",
		p->setup.batch, n);
}

/* Allocates the buffers of latent attention. */
static int open_latent(struct plan *p, struct why *w)
{
	size_t q_low = 0, q = 0, low = 0, kv = 0;
	struct latent_buffers *b = &p->latent;

	for (const struct layer *y = p->model->layer + p->setup.first; y < p->model->layer + p->setup.last; y++) {
		const struct latent *l = &y->latent;

		q_low = size_max(q_low, l->rank_q);
		q = size_max(q, y->n_head * (l->dim_nope + l->dim_rope));
		low = size_max(low, l->rank + l->dim_rope);
		kv = size_max(kv, y->n_head * (l->dim_nope + l->dim_v));
	}
	b->q_low = buffer(p, q_low);
	b->q = buffer(p, q);
	b->low = buffer(p, low);
	b->kv = buffer(p, kv);
	return b->q_low.at && b->q.at && b->low.at && b->kv.at ? 0 : no_room(p, w);
}

/* Allocates the buffers of compressed attention. */
static int open_compressed(struct plan *p, struct why *w)
{
	const struct compressed *c = &p->model->compressed;
	struct compressed_buffers *b = &p->compressed;
	size_t dim = p->model->indexer.dim;

	if (!c->rank_q)
		return 0;
	for (size_t il = 0; il < p->model->n_layer; il++)
		dim = size_max(dim, p->model->layer[il].dim_k);
	b->q_low = buffer(p, c->rank_q);
	b->rows = buffer(p, 4 * dim);
	b->made = buffer(p, dim);
	b->low = buffer(p, c->groups * c->rank_out);
	return b->q_low.at && b->rows.at && b->made.at && b->low.at ? 0 : no_room(p, w);
}

static int open_indexer(struct plan *p, struct why *w)
{
	const struct indexer *i = &p->model->indexer;
	struct indexer_buffers *b = &p->indexer;

	if (!i->top)
		return 0;
	b->q = buffer(p, i->heads * i->dim);
	b->weight = buffer(p, i->heads);
	b->key = buffer(p, i->dim);
	b->rows = buffer(p, i->groups ? 2 * i->dim : 0);
	b->chosen = buffer(p, i->top * (i->local ? i->heads : 1));
	if (!b->q.at || !b->weight.at || !b->key.at || !b->rows.at || !b->chosen.at)
		return no_room(p, w);
	memset(b->rows.at, 0, p->setup.batch * b->rows.stride * sizeof(float));
	for (size_t k = 0; i->groups && k < p->setup.batch * i->heads; k++)
		b->weight.at[k] = 1;
	return 0;
}

static struct routing routing(struct plan *p, size_t n, size_t used)
{
	return (struct routing){ .n = n, .used = used, .expert = slots(p, used, sizeof(uint16_t)),
		.weight = slots(p, used, sizeof(float)), .place = slots(p, used, sizeof(uint32_t)),
		.slot = slots(p, used, sizeof(uint32_t)), .first = plan_memory(p, n + 1, sizeof(uint32_t)),
		.active = plan_memory(p, n, sizeof(uint16_t)), .group = slots(p, used, sizeof(struct expert_group)) };
}

static int is_open(const struct routing *r)
{
	return r->expert && r->weight && r->place && r->slot && r->first && r->active && r->group;
}

/* Allocates the buffers of mixtures of experts, which all layers share. */
static int open_experts(struct plan *p, struct why *w)
{
	const struct experts *e = &p->model->experts;
	size_t n = p->model->n_embd, wide = 2 * size_max(e->most.n_ff, p->model->adjugates.most.n_ff);
	size_t out = size_max(n, e->n_latent);
	struct mixture *m = &p->mixture;

	if (!e->n)
		return 0;
	m->logits = buffer(p, e->n);
	m->shared = buffer(p, n);
	m->gate = buffer(p, 1);
	m->wide = (struct buffer){ .at = slots(p, e->most.used, wide * sizeof(float)), .stride = wide };
	m->out = (struct buffer){ .at = slots(p, e->most.used, out * sizeof(float)), .stride = out };
	m->routing = routing(p, e->n, e->most.used);
	m->adjugates = routing(p, p->model->adjugates.n, p->model->adjugates.most.used);
	return m->logits.at && m->shared.at && m->gate.at && m->wide.at && m->out.at && is_open(&m->routing)
		&& is_open(&m->adjugates) ? 0 : no_room(p, w);
}

/* Allocates the buffers of adapters, which all layers share. A delta is as wide as the widest product. */
static int open_adapters(struct plan *p, struct why *w)
{
	const struct adapters *a = &p->model->adapters;
	struct adapter_buffers *b = &p->adapters;

	if (!a->n)
		return 0;
	b->switched = plan_memory(p, p->model->n_vocab, sizeof *b->switched);
	b->routing = routing(p, 1 + a->n, 1);
	b->low = buffer(p, 3 * a->rank);
	b->out = buffer(p, size_max(p->wide.stride, p->model->n_embd));
	if (!b->switched || !is_open(&b->routing) || !b->low.at || !b->out.at)
		return no_room(p, w);
	memset(b->switched, 0, p->model->n_vocab * sizeof *b->switched);
	for (size_t i = 0; i < a->n; i++) {
		if (size_max(a->id[i], a->substitute[i]) >= p->model->n_vocab)
			return why(w, "adapter %zu: an id is outside the vocabulary of %zu", i, p->model->n_vocab);
		b->switched[a->id[i]] = (uint16_t)(1 + i);
	}
	return 0;
}

/* Buffers for models whose texts are evaluated as a whole. */
static int open_texts(struct plan *p, struct why *w)
{
	const struct encoder *e = &p->model->encoder;
	struct text_buffers *d = &p->texts;

	if (!e->n_layer && !p->model->diffusion)
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

/* Computes the per-layer inputs of all layers from the ids and the embedding. */
static void build_per_layer_inputs(struct builder *b)
{
	const struct model *m = b->model;
	size_t n = m->n_per_layer, all = n * m->n_layer;
	struct op_per_layer o = { .layers = m->n_layer, .n = n, .scale = sqrtf((float)n),
		.root = sqrtf((float)m->n_embd), .p = b->plan->per_layer, .spare = b->plan->per_layer_ids };

	build_product(b, build_norm(b, ""), "per_layer_model_proj", NARROW, all, o.p);
	build_matrix(b, "per_layer_token_embd", m->n_vocab, all, &o.ids);
	o.norm = build_norm_of(b, "per_layer_proj_norm", n);
	build_append(b, &op_per_layer, NULL, &o, sizeof o);
}

/* The table [n_vocab] of the id that is embedded in place of each; NULL if none is replaced. */
static const int32_t *substitutes(struct builder *b)
{
	const struct adapters *a = &b->model->adapters;
	int32_t *substitute = build_allocate(b, b->model->n_vocab * sizeof *substitute);

	for (size_t i = 0; substitute && i < b->model->n_vocab; i++)
		substitute[i] = (int32_t)i;
	for (size_t i = 0; substitute && i < a->n; i++)
		substitute[a->id[i]] = (int32_t)a->substitute[i];
	return substitute;
}

void build_embed(struct builder *b)
{
	const struct model *m = b->model;
	struct op_embed e = { .x = b->plan->x, .spare = buffer_with(b->plan->h, m->n_embd),
		.scale = m->embedding_scale };
	struct op_rows norm = { .n = m->n_embd, .in = e.x, .out = e.x };

	build_matrix(b, m->family->embeds_output && !build_has(b, "token_embd") ? "output" : "token_embd", m->n_vocab,
		m->n_embd, &e.ids);
	if (m->adapters.n)
		e.substitute = substitutes(b);
	if (m->family->positions == POSITIONS_LEARNED
	    || (m->family->positions == POSITIONS_OPTIONAL && model_has(m, "position_embd.weight")))
		build_matrix(b, "position_embd", m->n_ctx_max, m->n_embd, &e.positions);
	build_output(build_append(b, &op_embed, NULL, &e, sizeof e), 0, "", e.x, m->n_embd);
	if (m->embedding_normed)
		norm.norm = (struct norm){ .kind = m->norm, .eps = m->eps };
	else if (build_has(b, "token_embd_norm") && !m->family->final_norm)
		norm.norm = build_norm_of(b, "token_embd_norm", m->n_embd);
	if (norm.norm.kind != NORM_NONE)
		build_append(b, &op_rows, "token_embd_norm", &norm, sizeof norm);
	if (m->embedding_carried)
		build_copy(b, "embed_carried", e.x, b->plan->carried, m->n_embd);
	if (m->n_per_layer)
		build_per_layer_inputs(b);
	if (b->streams->open)
		b->streams->open(b);
}

/* The final norm and the output product; a file without `output` uses token_embd again. */
static void build_head(struct builder *b)
{
	const struct model *m = b->model;
	struct op_product o = { .x = build_norm(b, m->family->final_norm ? m->family->final_norm : "output_norm") };
	struct op_logits logits = { .n = m->n_vocab, .scale = m->logit_scale, .cap = m->logit_cap,
		.from = m->ruled_out.from, .to = m->ruled_out.to };

	build_add_product(b, &o, build_has(b, "output") ? "output" : "token_embd", NARROW, m->n_vocab,
		(struct buffer){ .at = NULL });
	build_products(b, "output", &o);
	if (logits.scale < 1 || logits.scale > 1 || logits.cap > 0 || logits.to)
		build_append(b, &op_logits, NULL, &logits, sizeof logits);
}

/* Keeps x after this layer, for --lens. */
static void build_lens(struct builder *b)
{
	struct plan *p = b->plan;
	size_t il = b->il;

	build_add_branch(b);
	build_copy(b, "lens", p->x, p->lens[il], p->model->n_embd * p->model->n_streams);
	if (b->streams->unite) {
		b->il = OP_NO_LAYER;
		b->streams->unite(b, p->lens[il]);
		b->il = il;
	}
}

/* Appends all ops of the plan's layers. */
static int append_all(struct plan *p, struct why *w)
{
	static const struct stream_kind single = { .open = NULL };
	struct builder b = { .plan = p, .model = p->model, .w = w, .il = OP_NO_LAYER, .stack = "",
		.streams = p->model->family->streams ? p->model->family->streams : &single,
		.sight = p->model->diffusion ? SIGHT_ALL : SIGHT_PAST };

	b.kv_offsets = build_allocate(&b, (2 * p->model->n_layer + 1) * sizeof *b.kv_offsets);
	if (p->model->encoder.n_layer)
		build_encoder(&b);
	p->n_encoder = p->n_ops;
	if (p->setup.first == 0)
		build_embed(&b);
	for (b.il = p->setup.first; b.il < p->setup.last; b.il++) {
		b.layer = &p->model->layer[b.il];
		(p->model->family->layer ? p->model->family->layer : decoder_layer)(&b, b.il);
		if (p->lens)
			build_lens(&b);
	}
	b.il = OP_NO_LAYER;
	build_lay_out_groups(&b);
	/* Add the last branch here, not in the head, because the head may run several times, over some of the rows each
	 * time. */
	build_add_branch(&b);
	if (p->setup.last == p->model->n_layer && b.streams->unite)
		b.streams->unite(&b, p->x);
	p->n_body = p->n_ops;
	if (p->setup.last == p->model->n_layer)
		build_head(&b);
	return b.failed;
}

/* ---- memory of the ops ---- */

static size_t acts_bytes(const struct plan *p, const struct packed *a, enum acts_kind kind)
{
	const struct kernels *k = p->step.k;

	return a->experts ? expert_acts_bytes(k, kind, a->k, p->setup.batch * a->used)
		: k->acts_bytes(kind, a->k, p->setup.batch);
}

/* Allocates the packed rows of a slot and kind of activations: all share the memory of the largest. */
static int open_acts(struct plan *p, enum slot slot, enum acts_kind kind, struct why *w)
{
	size_t bytes = 0;
	void *data;

	for (const struct packed *a = p->packed; a; a = a->next)
		if (a->slot == slot && a->wants[kind])
			bytes = size_max(bytes, acts_bytes(p, a, kind));
	data = plan_memory(p, bytes, 1);
	for (struct packed *a = p->packed; a; a = a->next)
		if (a->slot == slot)
			a->acts[kind] = (struct acts){ .kind = kind, .k = a->k, .data = data };
	return data ? 0 : no_room(p, w);
}

/* Allocates the scratch memory of the threads, and packed rows. */
static int open_rest(struct plan *p, struct why *w)
{
	size_t scratch = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		scratch = size_max(scratch, op->scratch);
	p->step.scratch_bytes = size_divide_up(scratch, PLAN_ALIGN) * PLAN_ALIGN;
	p->step.scratch = plan_memory(p, p->step.threads, p->step.scratch_bytes);
	for (int i = 0; i < SLOTS * ACTS_KINDS; i++)
		if (open_acts(p, i / ACTS_KINDS, i % ACTS_KINDS, w) < 0)
			return -1;
	return p->step.scratch ? 0 : why(w, "out of memory for %zu threads", p->step.threads);
}

/* The most rows that a batch may have. */
static size_t most_rows(const struct model *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
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
	p->setup.batch = size_min(setup->batch, most_rows(m));
	p->step.k = setup->kernels;
	p->step.one_stream = system_has(SYSTEM_ONE_STREAM);
	p->step.threads = pool_threads(setup->pool);
	if (split_check(m, setup->first, setup->last, w) < 0 || open_buffers(p, w) < 0
	    || open_experts(p, w) < 0 || open_latent(p, w) < 0 || open_compressed(p, w) < 0 || open_indexer(p, w) < 0
	    || open_adapters(p, w) < 0 || open_texts(p, w) < 0 || open_lens(p, w) < 0 || append_all(p, w) < 0
	    || model_all_used(m, setup->first, setup->last, w) < 0 || open_rest(p, w) < 0) {
		why_in(w, m->gguf->path);
		plan_close(p);
		return NULL;
	}
	split_state(p);
	return p;
}
