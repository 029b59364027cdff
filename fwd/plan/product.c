/* product: matrices times packed rows. A work item is some rows of one matrix. */
#include "kinds.h"

#include "lib/base/size.h"

/* Bytes of weights in an item if there is only one row to multiply, so that the time is that of reading them: an eighth
 * of a thread's share, so that threads finish together; not less than is worth the overhead, and not more than can wait
 * while the scheduler has taken the thread's CPU away. For larger batches, items are as small as possible. */
enum { ITEMS_EACH = 8, ITEM_LEAST = 1 << 16, ITEM_MOST = 1 << 19 };

static size_t rows_each(const struct matrix *w, const struct step *s)
{
	size_t each = w->rows / (ITEMS_EACH * s->threads);

	each = size_min(size_max(each, ITEM_LEAST / w->row_bytes), ITEM_MOST / w->row_bytes);
	return s->n > 1 ? KERNELS_ROWS : size_max(each / KERNELS_ROWS, 1) * KERNELS_ROWS;
}

/* Number of experts or heads that a step reads; 1 if there are none. */
static size_t n_matrices(const struct op_product *o)
{
	return o->routing ? o->routing->n_active : o->heads ? o->heads : 1;
}

/* Number of items that each matrix of product i is divided into; 0 if this step has no use for it. */
static size_t parts(const struct op_product *o, const struct step *s, size_t i)
{
	if (o->adapter && !step_has_adapter(s, o->adapter[i]))
		return 0;
	return size_divide_up(o->w[i].rows, rows_each(&o->w[i], s));
}

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_product *o = op->bound;
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += parts(o, s, i) * n_matrices(o);
	return n;
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_product *o = op->bound;
	struct product_job job = { .scratch = step_scratch(s, thread), .one_stream = s->one_stream };
	const float *scale, *bias;
	struct matrix w;
	float *y;
	size_t i = 0, each, n, row = s->first, e = 0;

	while (item >= (n = parts(o, s, i)) * n_matrices(o))
		item -= n * n_matrices(o), i++;
	each = rows_each(&o->w[i], s);
	w = o->w[i];
	scale = o->scale[i];
	bias = o->bias[i];
	job.x = &o->x->acts[o->kind[i]];
	if (o->routing || o->heads) {
		e = o->routing ? o->routing->active[item / n] : item / n;
		row = o->routing ? o->routing->first[e] : row;
		job.x = &o->x->by_expert[o->kind[i]][e];
		w.data = (const unsigned char *)w.data + e * w.rows * w.row_bytes;
		scale = scale && o->routing ? scale + e : scale;
		bias = bias ? bias + e * w.rows : NULL;
	}
	job.w = &w;
	job.r0 = item % n * each;
	job.r1 = size_min(job.r0 + each, w.rows);
	job.y = o->y[i].at ? buffer_row(&o->y[i], row) + e * o->step : s->logits;
	job.stride = o->y[i].at ? o->y[i].stride : w.rows;
	s->k->product(&job);
	for (size_t c = 0; (scale || bias) && c < job.x->n; c++) {
		y = job.y + c * job.stride + job.r0;
		if (scale)
			s->k->scale(y, y, *scale, job.r1 - job.r0);
		if (bias)
			s->k->add(y, y, bias + job.r0, job.r1 - job.r0);
	}
}

/* Counts as many experts as the rows may need, or all heads. */
static void work(const struct op *op, const struct step *s, struct work *w)
{
	/* How many products of floats, or of bytes, take as long as one of each kind. */
	static const double floats[ACTS_KINDS] = {
		[ACTS_F32] = 1, [ACTS_BF16] = 1, [ACTS_BF16_DOT] = 1 / 2.0, [ACTS_BF16_TILES] = 1 / 16.0
	};
	static const double codes[ACTS_KINDS] = { [ACTS_Q8] = 1, [ACTS_Q8_I16] = 1, [ACTS_Q16] = 2 };
	const struct op_product *o = op->bound;
	size_t used = o->routing ? o->routing->used : o->heads ? o->heads : 1;
	size_t experts = o->routing ? o->routing->n : used;

	for (size_t i = 0; i < o->n; i++) {
		double rows = (double)o->w[i].rows, n = rows * (double)o->w[i].cols * (double)(s->n * used);

		w->bytes += rows * (double)o->w[i].row_bytes * (double)size_min(experts, s->n * used);
		w->floats += n * floats[o->kind[i]];
		w->codes += n * codes[o->kind[i]];
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_product *o = bound;
	size_t last = o->heads ? (o->heads - 1) * o->step : 0;

	u->packed(u, &o->x, NULL, USE_READ);
	u->routing(u, o->routing, USE_READ);
	for (size_t i = 0; i < o->n; i++)
		u->rows(u, &o->y[i], last + o->w[i].rows, o->step > o->w[i].rows ? USE_FILL : USE_MAKE);
}

const struct op_kind op_product = { .name = "product", .uses = uses, .items = items, .item = item, .work = work };
