/* angles: the cosines and sines of the batch's positions, shared by all layers with the same rotations. */
#include "kinds.h"

#include "lib/base/size.h"

enum { ROWS_EACH = 16 };

static size_t pieces(const struct op *op, const struct step *s)
{
	return op_pieces(s->n, ROWS_EACH);
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_angles *a = op->bound;

	for (size_t row = piece * ROWS_EACH; row < size_min((piece + 1) * ROWS_EACH, s->n); row++)
		rope_position(a->rope, row, s->pos[row] / a->rope->every * a->rope->every);
}

const struct op_kind op_angles = { .name = "angles", .pieces = pieces, .piece = piece };
