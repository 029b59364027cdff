/* Values are made, ops appended, and space is reserved in segments. */
#include "build.h"

#include "lib/base/hash.h"

void *build_allocate(struct builder *b, size_t size)
{
	return graph_memory(&b->graph, size);
}

struct value *build_value(struct builder *b, size_t n)
{
	return graph_value(&b->graph, n, 1);
}

struct value *build_part(struct builder *b, struct value *v, size_t column, size_t n)
{
	return graph_part(&b->graph, v, column, n);
}

struct value *build_columns(struct builder *b, struct value *v, size_t column, size_t n)
{
	return graph_columns(&b->graph, v->in, v->column + column, n);
}

struct value *build_streams(struct builder *b)
{
	return graph_columns(&b->graph, b->x->in, 0, b->x->in->width);
}

int build_append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound, size_t size)
{
	return graph_append(&b->graph, (struct op){ .kind = kind, .name = name ? name : kind->name, .layer = b->il,
		.stack = b->stack }, bound, size);
}

struct op *build_op(struct builder *b, int op)
{
	return op == GRAPH_NO_OP ? NULL : &b->plan->op[op];
}

void build_output(struct builder *b, int op, size_t i, const char *suffix, struct value *v, size_t cols)
{
	if (op != GRAPH_NO_OP)
		b->plan->op[op].output[i] = (struct output){ .suffix = suffix, .from = rows_of(v), .cols = cols };
}

/* ---- state ---- */

int build_present(const struct builder *b)
{
	return !b->graph.now_absent;
}

/* Adds n to the size of a part of segments. Returns where the n begin; 0 in layers of other plans, which have no
 * states here. */
static size_t reserve(struct builder *b, size_t *size, size_t n, int kept)
{
	size_t at = *size;

	if (!build_present(b)) {
		b->elsewhere |= kept;
		return 0;
	}
	b->plan->layout = hash_data(&n, sizeof n, b->plan->layout);
	*size += n;
	return at;
}

size_t build_ring(struct builder *b, size_t bytes)
{
	return reserve(b, &b->plan->row_bytes, bytes, KEPT_RING);
}

size_t build_state(struct builder *b, size_t floats, int current)
{
	b->plan->keeps_current |= current;
	return reserve(b, &b->plan->state_floats, (floats + 15) / 16 * 16, KEPT_STATE);
}

struct kept_groups build_grouped(struct builder *b, size_t ratio, size_t n)
{
	struct grouped *g = build_present(b) ? b->plan->grouped : b->absent_groups;

	while (g->ratio && g->ratio != ratio)
		g++;
	g->ratio = ratio;
	return (struct kept_groups){ g, reserve(b, &g->floats, n, 0) };
}
