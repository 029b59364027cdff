/* lora: the second products of adapters, added to the results of a model's products. A work item is some rows of a
 * result's matrices. Rows of sequences without the adapter are left alone. */
#include "kinds.h"

#include "lib/base/size.h"

enum { COLUMNS = 64 };          /* rows of the batch that are multiplied at once */
enum { ITEMS_EACH = 4 };        /* for each thread */
/* The most rows of an item, if the batch has several rows. What an item adds to a row of the batch is contiguous, and
 * its activations are packed once (32 in place of 256: a prompt with an adapter takes 1.07 of the time). */
enum { ITEM_ROWS = 8 * KERNELS_ROWS };
enum { ALIGN = 64 };

static size_t aligned(size_t bytes)
{
	return size_divide_up(bytes, ALIGN) * ALIGN;
}

/* Rows of a result's matrices that an item has. */
static size_t rows_each(size_t rows, const struct step *s)
{
	size_t each = size_max(rows / (ITEMS_EACH * s->threads) / KERNELS_ROWS, 1) * KERNELS_ROWS;

	return s->n > 1 ? size_min(each, ITEM_ROWS) : each;
}

static size_t n_matrices(const struct op_lora *o)
{
	return o->routing ? o->routing->n_active : 1;
}

static int applies(const struct op_lora *o, const struct step *s)
{
	size_t i = 0;

	while (i < o->terms && !step_has_adapter(s, o->term[i].adapter))
		i++;
	return i < o->terms;
}

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_lora *o = op->bound;
	size_t n = 0;

	for (size_t i = 0; i < o->n && applies(o, s); i++)
		n += size_divide_up(o->rows[i], rows_each(o->rows[i], s)) * n_matrices(o);
	return n;
}

/* What an item adds to: rows [r0, r1) of the matrices of expert e, or 0, of result i. */
struct part {
	size_t i, e, r0, r1;
	size_t first, n;                /* rows of y: of the batch, or those of the expert by place */
	float *y;                       /* the first of them */
	size_t stride;
};

static struct part part_of(const struct op_lora *o, const struct step *s, size_t item)
{
	struct part p = { .first = s->first, .n = s->n };
	size_t each, parts;

	while (item >= (parts = size_divide_up(o->rows[p.i], each = rows_each(o->rows[p.i], s))) * n_matrices(o))
		item -= parts * n_matrices(o), p.i++;
	if (o->routing) {
		p.e = o->routing->active[item / parts];
		p.first = o->routing->first[p.e];
		p.n = o->routing->first[p.e + 1] - p.first;
	}
	p.r0 = item % parts * each;
	p.r1 = size_min(p.r0 + each, o->rows[p.i]);
	p.y = o->y[p.i].at ? buffer_row(&o->y[p.i], p.first) : s->logits;
	p.stride = o->y[p.i].at ? o->y[p.i].stride : o->rows[p.i];
	return p;
}

/* The scratch memory of an item, in this order. */
struct scratch {
	float *scale;                   /* [rows of the batch] */
	float *sum;                     /* [COLUMNS][rows of an item] */
	void *acts, *product;
};

static size_t most_rows(const struct op_lora *o)
{
	size_t rows = KERNELS_ROWS;

	for (size_t i = 0; i < o->n; i++)
		rows = size_max(rows, o->rows[i]);
	return rows;
}

static size_t sum_bytes(const struct op_lora *o)
{
	size_t rows = most_rows(o);

	return aligned(size_max(COLUMNS * size_min(rows, ITEM_ROWS), rows) * sizeof(float));
}

static size_t acts_bytes(const struct lora_term *t, const struct kernels *k)
{
	return aligned(k->acts_bytes(ACTS_F32, t->b.cols, COLUMNS));
}

size_t lora_scratch(const struct op_lora *o, const struct kernels *k, size_t batch)
{
	size_t most = 0;

	for (const struct lora_term *t = o->term; t < o->term + o->terms; t++)
		most = size_max(most, acts_bytes(t, k) + k->product_scratch(t->b.cols));
	return aligned(batch * sizeof(float)) + sum_bytes(o) + most;
}

static struct scratch scratch_of(const struct op_lora *o, const struct lora_term *t, const struct step *s,
	size_t n, size_t thread)
{
	unsigned char *sum = step_scratch(s, thread) + aligned(n * sizeof(float)), *acts = sum + sum_bytes(o);

	return (struct scratch){ .scale = (float *)step_scratch(s, thread), .sum = (float *)sum, .acts = acts,
		.product = acts + acts_bytes(t, s->k) };
}

/* Sets the scale of each row; 0: nothing is added to it. */
static void set_scales(const struct op *op, const struct step *s, const struct lora_term *t, const struct part *p,
	float *scale)
{
	const struct routing *r = ((const struct op_lora *)op->bound)->routing;

	for (size_t c = 0; c < p->n; c++) {
		struct batch_row row = step_row(op, s, r ? r->slot[p->first + c] / r->used : p->first + c);
		const struct lora_use *use = &row.run->state->lora[t->adapter];

		scale[c] = row.pos >= use->from ? use->scale * t->factor : 0;
	}
}

static int is_zero(float x)
{
	return !(x < 0 || x > 0);
}

/* Adds to rows [c0, c1) of y, which all have the adapter. */
static void add_rows(const struct step *s, const struct lora_term *t, const struct part *p, const struct scratch *m,
	size_t c0, size_t c1)
{
	struct acts acts = { .kind = ACTS_F32, .k = t->b.cols, .n = c1 - c0, .data = m->acts };
	struct matrix b = t->b;
	struct product_job job = { .w = &b, .x = &acts, .r1 = p->r1 - p->r0, .y = m->sum, .stride = p->r1 - p->r0,
		.scratch = m->product, .one_stream = s->one_stream };

	b.data = (const unsigned char *)b.data + (p->e * b.rows + p->r0) * b.row_bytes;
	b.rows = job.r1;
	s->k->acts_pack(&acts, buffer_row(&t->low, p->first + c0), t->low.stride,
		(struct acts_part){ 0, acts.n, 0, acts.k });
	s->k->product(&job);
	for (size_t c = c0; c < c1; c++)
		s->k->add_scaled(p->y + c * p->stride + p->r0, m->sum + (c - c0) * job.stride, m->scale[c],
			job.stride);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_lora *o = op->bound;
	struct part p = part_of(o, s, item);

	for (const struct lora_term *t = o->term; t < o->term + o->terms; t++) {
		struct scratch m = scratch_of(o, t, s, p.n, thread);

		if (t->of != p.i || !step_has_adapter(s, t->adapter))
			continue;
		set_scales(op, s, t, &p, m.scale);
		for (size_t c = 0, end; c < p.n; c = end) {
			for (end = c; end < p.n && end - c < COLUMNS && !is_zero(m.scale[end]); end++)
				;
			if (end > c)
				add_rows(s, t, &p, &m, c, end);
			else
				end++;
		}
	}
}

/* Counts as many experts as the rows may need. */
static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_lora *o = op->bound;
	size_t used = o->routing ? o->routing->used : 1, experts = o->routing ? o->routing->n : 1;

	for (const struct lora_term *t = o->term; t < o->term + o->terms; t++) {
		if (!step_has_adapter(s, t->adapter))
			continue;
		w->bytes += (double)t->b.rows * (double)t->b.row_bytes * (double)size_min(experts, s->n * used);
		w->floats += (double)t->b.rows * (double)t->b.cols * (double)(s->n * used);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_lora *o = bound;

	u->routing(u, o->routing, USE_READ);
	for (size_t i = 0; i < o->terms; i++)
		u->rows(u, &o->term[i].low, o->term[i].b.cols, USE_READ);
	for (size_t i = 0; i < o->n; i++)
		u->rows(u, &o->y[i], o->rows[i], USE_CHANGE);
}

const struct op_kind op_lora = { .name = "lora", .uses = uses, .items = items, .item = item, .work = work };
