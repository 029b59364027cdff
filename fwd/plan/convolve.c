/* convolve: short convolutions. A piece is some channels of the rows of one run, in order: no channel depends on another,
 * and what a row reads of those before it is in the state, whichever batch they came in. */
#include "kinds.h"

#include "lib/base/size.h"

enum { CHANNELS_EACH = 128 };

static size_t pieces(const struct op *op, const struct step *s)
{
	const struct op_convolve *o = op->bound;

	return s->n_runs * op_pieces(o->n, CHANNELS_EACH);
}

/* b · x of this position and channel. */
static float *input(const struct op_convolve *o, const struct segment *state, size_t pos, size_t channel)
{
	float *rows = segment_data(state, pos / KV_EXTENT, o->offset[state->shape.kv_type]);

	return rows + pos % KV_EXTENT * o->n + channel;
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_convolve *o = op->bound;
	const struct run *r = &s->run[piece / op_pieces(o->n, CHANNELS_EACH)];
	size_t at = piece % op_pieces(o->n, CHANNELS_EACH) * CHANNELS_EACH, n = size_min(CHANNELS_EACH, o->n - at);
	const float *last = o->weight + (o->taps - 1) * o->n + at;
	float product[CHANNELS_EACH];

	for (size_t row = r->first, pos = r->pos; row < r->first + r->n; row++, pos++) {
		const float *b = buffer_row(&o->in, row) + at, *c = b + o->n, *x = c + o->n;
		float *now = input(o, r->state, pos, at), *out = buffer_row(&o->out, row) + at;

		s->k->multiply(now, b, x, n);
		s->k->multiply(out, last, now, n);
		for (size_t j = 1; j < o->taps && j <= pos; j++) {
			s->k->multiply(product, last - j * o->n, input(o, r->state, pos - j, at), n);
			s->k->add(out, out, product, n);
		}
		s->k->multiply(out, c, out, n);
	}
}

const struct op_kind op_convolve = { .name = "convolve", .pieces = pieces, .piece = piece };
