/* The memory of a plan, the shape of its segments, and running it. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/size.h"
#include "lib/stream/arithmetic.h"
#include "fwd/state/ids.h"
#include "fwd/model/diffusion.h"
#include "fwd/model/encoder.h"

/* Hash of the choices besides the file that change K and V: values set in place of the file's, control vectors,
 * and RoPE for this context. */
static uint64_t choices(const struct plan *p, size_t n_ctx)
{
	uint64_t hash = p->model->settings ^ p->model->controlled;

	for (const struct rope *r = p->ropes; r; r = r->next) {
		const struct rope_spec *s = r->spec;
		const float *factors = rope_factors(s, n_ctx);
		const double numbers[] = { (double)s->n_rot, s->base, s->scaling, s->factor, s->n_ctx_orig,
			s->beta_fast, s->beta_slow, s->attn_factor };

		hash = hash_data(numbers, sizeof numbers, hash);
		if (factors)
			hash = hash_data(factors, s->n_rot / 2 * sizeof *factors, hash);
	}
	return hash;
}

struct segment_shape plan_shape(const struct plan *p, size_t n_ctx, uint32_t kv_type)
{
	struct segment_shape shape = { .model = p->model->fingerprint, .arithmetic = ARITHMETIC,
		.choices = choices(p, n_ctx), .layout = p->layout, .bytes = p->extent_bytes[kv_type],
		.recent_bytes = p->recent_bytes[kv_type], .window = p->window,
		.state_bytes = p->state_floats * sizeof(float), .row_bytes = p->row_bytes,
		.keeps_current = (uint32_t)p->keeps_current, .n_layer = (uint32_t)(p->setup.last - p->setup.first),
		.kv_type = kv_type, .extent = KV_EXTENT };

	memcpy(shape.heads, p->heads, sizeof shape.heads);
	return shape;
}

void *plan_memory(struct plan *p, size_t n, size_t size)
{
	void *block;

	if ((size && n > (SIZE_MAX - 2 * PLAN_ALIGN) / size)
	    || posix_memalign(&block, PLAN_ALIGN, n * size + 2 * PLAN_ALIGN))
		return NULL;
	*(void **)block = p->memory;
	p->memory = block;
	return (char *)block + PLAN_ALIGN;
}

int plan_bind(struct plan *p, size_t n_ctx, struct why *w)
{
	size_t block = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		block = size_max(block, op->block_bytes);
	p->step.shared = plan_memory(p, size_divide_up(n_ctx, ATTEND_BLOCK), block);
	if (!p->step.shared)
		return why(w, "%s: out of memory for a context of %zu", p->model->gguf->path, n_ctx);
	for (struct rope *r = p->ropes; r; r = r->next)
		if (rope_open(r, r->spec, p->setup.batch, n_ctx, w) < 0)
			return why_in(w, p->model->gguf->path);
	return 0;
}

void plan_close(struct plan *p)
{
	void *block;

	if (!p)
		return;
	for (struct rope *r = p->ropes; r; r = r->next)
		rope_close(r);
	while ((block = p->memory)) {
		p->memory = *(void **)block;
		free(block);
	}
	free(p->op);
	free(p);
}

/* ---- running ---- */

const struct run *step_run(const struct step *s, size_t item)
{
	size_t low = 0, high = s->n_runs, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		*(s->first_item[middle] <= item ? &low : &high) = middle;
	}
	return s->run + low;
}

/* Fused ops [from, to): a thread runs each item through all of them before it takes the next item. */
struct fused {
	const struct step *s;
	const struct op *from, *to;
};

static void run_item(void *context, size_t item, size_t thread)
{
	const struct fused *ops = context;

	for (const struct op *op = ops->from; op < ops->to; op++)
		op->kind->item(op, ops->s, item, thread);
}

static void add_cost(struct op *op, const struct step *s, size_t rows, double seconds)
{
	struct cost *c = &op->cost[rows > 1];

	c->seconds += seconds;
	c->times++;
	if (op->kind->work)
		op->kind->work(op, s, &c->work);
}

/* The number of rows of all runs, or of their wanted rows. */
static size_t rows_of(const struct step *s, int wanted)
{
	const struct run *last = &s->run[s->n_runs - 1];

	return wanted ? last->first_wanted + last->wanted : last->first + last->n;
}

/* Runs an op and those fused with it. Ops are not fused if they are timed or dumped. Returns the next op to run. */
static struct op *run_op(struct plan *p, struct op *op, const struct op *end)
{
	struct step *s = &p->step;
	struct fused ops = { .s = s, .from = op };
	double start = p->timed ? clock_now() : 0;
	size_t items = op->kind->items(op, s);
	struct op *next = op + 1;

	for (; items && !p->timed && !p->after_op && next < end && next->kind->follows && next->kind->follows(next, s);
	    next++)
		;
	ops.to = next;
	pool_run(p->setup.pool, items, run_item, &ops);
	if (p->timed && items)
		add_cost(op, s, rows_of(s, 0), clock_now() - start);
	if (p->after_op)
		p->after_op(p->after_op_context, p, op);
	return next;
}

static void set_runs(struct step *s, struct run *to, const struct run *from, size_t n)
{
	size_t rows = 0, wanted = 0;

	memcpy(to, from, n * sizeof *to);
	for (struct run *r = to; r < to + n; r++) {
		r->first = rows;
		r->first_wanted = wanted;
		rows += r->n;
		wanted += r->wanted;
	}
	s->run = to;
	s->n_runs = n;
	s->first = 0;
}

/* Runs ops [from, to). Returns 0, or -1 if cancelled. */
static int run_ops(struct plan *p, size_t from, size_t to)
{
	struct step *s = &p->step;
	struct op *op = p->op + from, *end = p->op + to;

	while (op < end) {
		if (p->cancelled && p->cancelled(p->cancel_context))
			return -1;
		s->n = rows_of(s, op->wanted);
		op = s->n ? run_op(p, op, end) : op + 1;
	}
	return 0;
}

/* Prepares to write the rows of a run. */
static void begin(struct plan *p, const struct run *r)
{
	for (size_t i = 0; i < r->n; i++)
		p->pos[r->first + i] = r->pos + i;
	segment_begin(r->state, r->pos, r->n);
}

int plan_takes_whole_texts(const struct plan *p)
{
	return p->setup.embeds || diffusion_of(p->model)->on;
}

/* Evaluates the rows of these ids: from each state's `next` on or, of whole texts, all. */
static int evaluate(struct plan *p, const int32_t *ids, const struct run *run, size_t n_runs)
{
	int status;

	set_runs(&p->step, p->runs, run, n_runs);
	p->step.ids = ids;
	for (struct run *r = p->runs; r < p->runs + n_runs; r++) {
		r->pos = plan_takes_whole_texts(p) ? 0 : r->state->next;
		begin(p, r);
	}
	status = run_ops(p, p->n_encoder, p->n_body);
	for (const struct run *r = p->runs; r < p->runs + n_runs; r++)
		if (status == 0)
			segment_commit(r->state, r->pos, r->n);
		else
			segment_set_length(r->state, r->state->length);
	return status;
}

/* Evaluates the state's rows from `next` up to its length. */
static int evaluate_again(struct plan *p, struct segment *state)
{
	void (*after_op)(void *context, const struct plan *p, const struct op *op) = p->after_op;
	struct run run = { .state = state };
	int status = 0;

	p->after_op = NULL;
	while (status == 0 && state->next < state->length) {
		run.n = size_min(p->setup.batch, size_min(state->length - state->next,
			KV_EXTENT - state->next % KV_EXTENT));
		status = evaluate(p, segment_ids(state, state->next), &run, 1);
	}
	p->after_op = after_op;
	return status;
}

/* The last position of the encoder's text, if that is before the end of the run. */
static size_t text_last(const struct plan *p, const struct run *r)
{
	return segment_find(r->state, r->state->next + r->n, (int32_t)encoder_of(p->model)->end);
}

/* Runs the encoder over the texts in texts.runs. Their rows become valid with the decoder's first row. */
static int encode(struct plan *p, size_t n_texts)
{
	set_runs(&p->step, p->runs, p->texts.runs, n_texts);
	p->step.ids = p->texts.whole;
	for (const struct run *r = p->runs; r < p->runs + n_texts; r++)
		begin(p, r);
	return run_ops(p, 0, p->n_encoder);
}

/* Runs the encoder over the texts that end in these runs, as many at a time as a batch has room for. */
static int encode_texts(struct plan *p, const struct run *run, size_t n_runs)
{
	struct text_buffers *d = &p->texts;
	size_t rows = 0, texts = 0, n;

	for (const struct run *r = run; r < run + n_runs; rows += n, r++) {
		size_t last = text_last(p, r);

		n = last < r->state->next || last == SIZE_MAX ? 0 : last + 1;
		if (!n)
			continue;
		if (rows + n > p->setup.batch) {
			if (encode(p, texts) < 0)
				return -1;
			rows = texts = 0;
		}
		segment_read_ids(r->state, 0, d->whole + rows, n);
		d->runs[texts++] = (struct run){ .state = r->state, .n = n, .text = n };
	}
	return texts ? encode(p, texts) : 0;
}

/* Evaluates the rows of these ids that the decoder has, after the texts that end among them. */
static int decode(struct plan *p, const int32_t *ids, const struct run *run, size_t n_runs)
{
	struct text_buffers *d = &p->texts;
	size_t rows = 0, runs = 0;

	if (encode_texts(p, run, n_runs) < 0)
		return -1;
	for (const struct run *r = run; r < run + n_runs; ids += r->n, r++) {
		size_t pos = r->state->next, end = pos + r->n, last = text_last(p, r);
		size_t from = size_max(pos, size_min(last, end)), n = end - from;

		segment_commit(r->state, pos, from - pos);
		if (!n)
			continue;
		memcpy(d->decoder + rows, ids + r->n - n, n * sizeof *d->decoder);
		if (from == last)
			d->decoder[rows] = (int32_t)encoder_of(p->model)->start;
		d->runs[runs] = *r;
		d->runs[runs].n = n;
		d->runs[runs++].text = last + 1;
		rows += n;
	}
	return runs ? evaluate(p, d->decoder, d->runs, runs) : 0;
}

/* Evaluates all rows of the states of these runs, because every id may change the rows of all others. */
static int evaluate_whole(struct plan *p, const struct run *run, size_t n_runs)
{
	struct text_buffers *d = &p->texts;
	size_t rows = 0;

	for (size_t i = 0; i < n_runs; i++) {
		struct run *r = &d->runs[i];

		*r = run[i];
		r->n = r->text = r->state->next + run[i].n;
		segment_read_ids(r->state, 0, d->whole + rows, r->n);
		rows += r->n;
	}
	return evaluate(p, d->whole, d->runs, n_runs);
}

int plan_step(struct plan *p, const int32_t *ids, const struct run *run, size_t n_runs)
{
	const int32_t *id = ids;

	for (const struct run *r = run; r < run + n_runs; id += r->n, r++) {
		if (p->setup.first == 0 && evaluate_again(p, r->state) < 0)
			return -1;
		segment_write_ids(r->state, r->state->next, id, r->n);
	}
	if (plan_takes_whole_texts(p))
		return evaluate_whole(p, run, n_runs);
	return (p->n_encoder ? decode : evaluate)(p, ids, run, n_runs);
}

void plan_logits(struct plan *p, size_t row, size_t n, float *logits)
{
	struct step *s = &p->step;
	struct op *op = p->op + p->n_body, *end = p->op + p->n_ops;

	s->first = row;
	s->n = n;
	s->logits = logits;
	while (op < end)
		op = run_op(p, op, end);
}

void plan_embed(struct plan *p)
{
	struct step *s = &p->step;
	struct op *op = p->op + p->n_body, *end = p->op + p->n_ops, *pooled = p->op + p->n_pooled;

	s->first = 0;
	s->n = rows_of(s, 1);
	while (op < pooled)
		op = run_op(p, op, pooled);
	s->n = s->n_runs;
	while (op < end)
		op = run_op(p, op, end);
}

const float *plan_embedding(const struct plan *p, size_t i)
{
	return buffer_row(&p->embedding, i);
}

void plan_lens(struct plan *p, size_t layers)
{
	const struct buffer *kept = &p->lens[layers - 1];
	const struct step *s = &p->step;

	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		size_t from = layers < p->model->n_layer ? r->first + r->n - r->after - r->wanted : r->first_wanted;

		for (size_t i = 0; i < r->wanted; i++)
			memcpy(buffer_row(&p->x, r->first_wanted + i), buffer_row(kept, from + i),
				p->model->n_embd * sizeof(float));
	}
}

struct work plan_work(const struct plan *p, const struct run *run, size_t n_runs)
{
	struct work all = { .bytes = 0 };
	struct step s = p->step;

	set_runs(&s, p->runs, run, n_runs);
	for (const struct op *op = p->op + p->n_encoder; op < p->op + p->n_ops; op++) {
		s.n = rows_of(&s, op->wanted);
		if (s.n && op->kind->work)
			op->kind->work(op, &s, &all);
	}
	return all;
}
