/* angles: the cosines and sines of the batch's positions, shared by all layers with the same rotations. */
#include "kinds.h"

#include "lib/base/size.h"

enum { ROWS_EACH = 16 };

static size_t items(const struct op *op, const struct step *s)
{
	return size_divide_up(s->n, ROWS_EACH);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_angles *a = op->bound;

	for (size_t row = item * ROWS_EACH; row < size_min((item + 1) * ROWS_EACH, s->n); row++)
		rope_position(a->rope, row, s->pos[row] / a->rope->every * a->rope->every);
}

static void uses(void *bound, struct uses *u)
{
}

const struct op_kind op_angles = { .name = "angles", .uses = uses, .all_rows = 1, .items = items, .item = item };
