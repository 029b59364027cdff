/* shift: blends each row with the row before. A piece is some channels of a run's rows, in order. */
#include "kinds.h"

#include <string.h>

#include "lib/base/size.h"

enum { CHANNELS_EACH = 128 };

static size_t pieces(const struct op *op, const struct step *s)
{
	const struct op_shift *o = op->bound;

	return s->n_runs * op_pieces(o->n, CHANNELS_EACH);
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_shift *o = op->bound;
	const struct run *r = &s->run[piece / op_pieces(o->n, CHANNELS_EACH)];
	size_t at = piece % op_pieces(o->n, CHANNELS_EACH) * CHANNELS_EACH, n = size_min(CHANNELS_EACH, o->n - at);
	float *before = segment_current(r->state, o->state) + at, change[CHANNELS_EACH];

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		const float *x = buffer_row(&o->in, row) + at, *weight = o->weight + at;
		float *out = buffer_row(&o->out, row) + at;

		memcpy(change, before, n * sizeof *change);
		s->k->add_scaled(change, x, -1, n);
		if (o->change.at)
			memcpy(buffer_row(&o->change, row) + at, change, n * sizeof *change);
		for (size_t i = 0; i < o->outputs; i++, out += o->n, weight += o->n) {
			s->k->multiply(out, change, weight, n);
			s->k->add(out, out, x, n);
		}
		memcpy(before, x, n * sizeof *before);
		if (segment_keeps(next, r->pos + r->n))
			memcpy(segment_state(r->state, next, o->state) + at, before, n * sizeof *before);
	}
}

static size_t blend_pieces(const struct op *op, const struct step *s)
{
	return s->n;
}

static void blend_piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_blend *o = op->bound;
	const float *x = buffer_row(&o->x, piece), *change = buffer_row(&o->change, piece);
	float *out = buffer_row(&o->out, piece);

	for (size_t i = 0; i < o->outputs; i++, out += o->n) {
		s->k->add(out, out, o->weight + i * o->n, o->n);
		s->k->multiply(out, out, change, o->n);
		s->k->add(out, out, x, o->n);
	}
}

const struct op_kind op_blend = { .name = "blend", .pieces = blend_pieces, .piece = blend_piece };
const struct op_kind op_shift = { .name = "shift", .pieces = pieces, .piece = piece };
