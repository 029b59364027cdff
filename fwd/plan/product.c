/* product: matrices times packed rows. A piece is some rows of one matrix. */
#include "kinds.h"

#include "lib/base/size.h"

/* Bytes of weights in one piece when there is a single row to multiply and reading them is all the work: an eighth of
 * a thread's share, so that the threads end together, but no less than is worth taking and no more than can wait while
 * the scheduler has taken the thread away. For a batch each piece is as small as it can be. */
enum { PIECES_EACH = 8, PIECE_LEAST = 1 << 16, PIECE_MOST = 1 << 19 };

static size_t rows_each(const struct matrix *w, const struct step *s)
{
	size_t each = w->rows / (PIECES_EACH * s->threads);

	each = size_min(size_max(each, PIECE_LEAST / w->row_bytes), PIECE_MOST / w->row_bytes);
	return s->n > 1 ? KERNELS_ROWS : size_max(each / KERNELS_ROWS, 1) * KERNELS_ROWS;
}

static size_t pieces(const struct op *op, const struct step *s)
{
	const struct op_product *o = op->bound;
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += op_pieces(o->w[i].rows, rows_each(&o->w[i], s));
	return n;
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_product *o = op->bound;
	struct product_job job = { .scratch = step_scratch(s, thread) };
	const struct matrix *w;
	size_t i = 0, each;

	for (; piece >= op_pieces(o->w[i].rows, each = rows_each(&o->w[i], s)); i++)
		piece -= op_pieces(o->w[i].rows, each);
	job.w = w = &o->w[i];
	job.x = &o->x->acts[o->kind[i]];
	job.r0 = piece * each;
	job.r1 = size_min(job.r0 + each, w->rows);
	job.y = o->y[i].at ? buffer_row(&o->y[i], s->first) : s->logits;
	job.stride = o->y[i].at ? o->y[i].stride : w->rows;
	s->k->product(&job);
	for (size_t row = 0; o->bias[i] && row < s->n; row++) {
		float *y = job.y + row * job.stride + job.r0;

		s->k->add(y, y, o->bias[i] + job.r0, job.r1 - job.r0);
	}
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_product *o = op->bound;

	for (size_t i = 0; i < o->n; i++) {
		double rows = (double)o->w[i].rows, *sum = o->kind[i] == ACTS_F32 ? &w->floats : &w->codes;

		w->bytes += rows * (double)o->w[i].row_bytes;
		*sum += rows * (double)o->w[i].cols * (double)s->n;
	}
}

const struct op_kind op_product = { .name = "product", .pieces = pieces, .piece = piece, .work = work };
