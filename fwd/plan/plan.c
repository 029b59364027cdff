/* Opening a plan: buffers, the family's builder, scratch. Replaying it. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "fwd/model/builder.h"
#include "fwd/model/families.h"

enum { ALIGN = 64 };

struct segment_shape plan_shape(const struct model *m, uint32_t kv_type, size_t n_ctx)
{
	return (struct segment_shape){ .model = m->fingerprint, .arithmetic = ARITHMETIC, .n_ctx = (uint32_t)n_ctx, .n_layer = (uint32_t)m->n_layer,
		.n_head_kv = (uint32_t)m->n_head_kv, .dim_k = (uint32_t)m->dim_k, .dim_v = (uint32_t)m->dim_v, .kv_type = kv_type };
}

/* ---- opening ---- */

static void *aligned(size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size - ALIGN)
		return NULL;
	return posix_memalign(&p, ALIGN, n * size + ALIGN) ? NULL : p;
}

static struct buffer buffer(size_t batch, size_t width)
{
	return (struct buffer){ .at = aligned(batch, width * sizeof(float)), .stride = width };
}

static int open_buffers(struct plan *p, struct why *w)
{
	const struct model *m = p->model;
	size_t qkv = m->n_head * m->dim_k + m->n_head_kv * (m->dim_k + m->dim_v);

	p->x = buffer(p->batch, m->n_embd);
	p->branch = buffer(p->batch, m->n_embd);
	p->h = buffer(p->batch, size_max(m->n_embd, m->n_head * m->dim_v));
	p->wide = buffer(p->batch, size_max(qkv, 2 * m->n_ff));
	if (!p->x.at || !p->branch.at || !p->h.at || !p->wide.at)
		return why(w, "out of memory for a batch of %zu rows", p->batch);
	return 0;
}

/* Bytes for what the ops pack of one kind. */
static size_t most_acts(const struct plan *p, int kind)
{
	size_t bytes = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		if (op->code == OP_ROWS && op->rows.pack[kind])
			bytes = size_max(bytes, p->step.k->acts_bytes(kind, op->rows.n, p->batch));
	return bytes;
}

/* Room for what the ops pack. */
static int open_acts(struct plan *p, struct why *w)
{
	for (int kind = 0; kind < ACTS_KINDS; kind++) {
		p->step.acts[kind] = (struct acts){ .kind = kind, .data = aligned(most_acts(p, kind), 1) };
		if (!p->step.acts[kind].data)
			return why(w, "out of memory for a batch of %zu rows", p->batch);
	}
	return 0;
}

/* What each thread needs: as much as the hungriest op. */
static int open_scratch(struct plan *p, struct why *w)
{
	const struct kernels *k = p->step.k;
	const struct model *m = p->model;
	size_t scratch = k->attend_scratch(m->dim_k, m->dim_v, m->n_head / m->n_head_kv);

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		if (op->code == OP_PRODUCT)
			scratch = size_max(scratch, k->product_scratch(op->product.part[0].w.cols));
	p->step.scratch_bytes = (scratch + ALIGN - 1) / ALIGN * ALIGN;
	p->step.scratch = aligned(pool_threads(p->step.pool), p->step.scratch_bytes);
	return p->step.scratch ? 0 : why(w, "out of memory for %zu threads", pool_threads(p->step.pool));
}

static int open_all(struct plan *p, struct why *w)
{
	struct builder b = { .plan = p, .model = p->model, .w = w, .layer = LABEL_NONE };

	if (open_buffers(p, w) < 0)
		return -1;
	p->model->family->build(&b);
	if (b.failed || model_all_used(p->model, w) < 0)
		return -1;
	return open_acts(p, w) < 0 ? -1 : open_scratch(p, w);
}

struct plan *plan_open(struct model *m, const struct kernels *k, struct pool *pool, size_t batch, struct why *w)
{
	struct plan *p = calloc(1, sizeof *p);

	if (!p) {
		why(w, "%s: out of memory", m->gguf->path);
		return NULL;
	}
	p->model = m;
	p->batch = batch;
	p->step.k = k;
	p->step.pool = pool;
	if (open_all(p, w) < 0) {
		why_in(w, m->gguf->path);
		plan_close(p);
		return NULL;
	}
	return p;
}

int plan_bind(struct plan *p, const struct segment *s, struct why *w)
{
	const struct model *m = p->model;
	struct kv_head *kv = calloc(m->n_layer * m->n_head_kv, sizeof *kv);
	size_t part = p->step.k->attend_part(m->dim_v, ATTEND_FEW * (m->n_head / m->n_head_kv)), blocks = (s->shape.n_ctx + ATTEND_BLOCK - 1) / ATTEND_BLOCK;

	p->kv = kv;
	p->step.parts = aligned(m->n_head_kv * blocks, part);
	if (!kv || !p->step.parts)
		return why(w, "%s: out of memory for a context of %u", m->gguf->path, s->shape.n_ctx);
	for (size_t i = 0; i < p->n_ops; i++)
		if (p->op[i].code == OP_ATTEND) {
			p->op[i].attend.heads.type = s->shape.kv_type;
			p->op[i].attend.kv = kv;
			for (size_t h = 0; h < m->n_head_kv; h++)
				*kv++ = segment_head(s, p->label[i].layer, h);
		}
	return m->rope.n_rot && rope_open(&p->rope, &m->rope, p->batch, s->shape.n_ctx, w) < 0 ? why_in(w, m->gguf->path) : 0;
}

void plan_close(struct plan *p)
{
	if (!p)
		return;
	for (size_t kind = 0; kind < ACTS_KINDS; kind++)
		free(p->step.acts[kind].data);
	free(p->step.scratch);
	free(p->step.parts);
	free(p->x.at);
	free(p->branch.at);
	free(p->h.at);
	free(p->wide.at);
	free(p->kv);
	rope_close(&p->rope);
	free(p->op);
	free(p->label);
	free(p);
}

/* ---- replaying ---- */

static void run(struct plan *p, size_t i, size_t first, size_t n)
{
	struct tally *t = p->step.n > 1 ? &p->label[i].prompt : &p->label[i].decode;
	double start = p->timed ? clock_now() : 0;

	op_run(&p->step, &p->op[i], first, n);
	if (p->timed) {
		t->seconds += clock_now() - start;
		t->runs++;
		op_work(&p->step, &p->op[i], n, &t->work);
	}
	if (p->dump)
		dump_op(p->dump, p, i, first, n);
}

enum { ROPE_ROWS = 16 };        /* of one piece */

static void rope_piece(void *context, size_t piece, size_t thread)
{
	struct plan *p = context;
	size_t from = piece * ROPE_ROWS, to = from + ROPE_ROWS;

	rope_positions(&p->rope, p->step.pos, from, to < p->step.n ? to : p->step.n);
}

int plan_append(struct plan *p, struct segment *s, const int32_t *ids, size_t n, size_t wanted)
{
	p->step.ids = ids;
	p->step.n = n;
	p->step.pos = s->length;
	p->step.wanted = wanted;
	memcpy(s->ids + s->length, ids, n * sizeof *ids);
	if (p->rope.pairs)
		pool_run(p->step.pool, (n + ROPE_ROWS - 1) / ROPE_ROWS, rope_piece, p);
	for (size_t i = 0; i < p->n_body; i++) {
		if (p->enough && p->enough())
			return -1;
		if (!p->op[i].tail)
			run(p, i, 0, n);
		else if (wanted)
			run(p, i, n - wanted, wanted);
	}
	segment_set_length(s, s->length + n);
	return 0;
}

void plan_logits(struct plan *p, size_t row, size_t n, float *logits)
{
	p->step.logits = logits;
	for (size_t i = p->n_body; i < p->n_ops; i++)
		run(p, i, row, n);
}

struct work plan_work(const struct plan *p, size_t pos, size_t n, size_t wanted)
{
	struct step s = p->step;
	struct work all = { .bytes = 0 };
	double floats;
	size_t rows;

	s.pos = pos;
	s.n = n;
	s.wanted = wanted;
	for (const struct op *op = p->op; op < p->op + p->n_ops; op++) {
		rows = op->tail ? wanted : n;
		floats = all.floats;
		if (rows)
			op_work(&s, op, rows, &all);
		if (op->code == OP_ATTEND)
			all.floats = floats;
	}
	return all;
}
