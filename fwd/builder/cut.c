/* What passes between plans that divide the layers: everything made before the cut and read after it. */
#include "graph.h"

/* Returns the number of the part in this storage, adding one if there is none; PLAN_PARTS if there is no room. */
static size_t part_in(struct graph *g, struct plan_parts *parts, struct storage *in)
{
	size_t i = 0;

	while (i < parts->parts && parts->rows[i].value->in != in)
		i++;
	if (i == parts->parts && i < PLAN_PARTS) {
		parts->rows[i] = rows_of(graph_columns(g, in, in->width, 0));
		parts->parts++;
	}
	return i;
}

/* Widens a part to hold columns [from, to), too. */
static void widen(struct value *v, size_t from, size_t to)
{
	size_t end = v->column + v->n;

	if (!v->n)
		end = to;
	v->column = from < v->column ? from : v->column;
	v->n = (to > end ? to : end) - v->column;
}

/* Adds the columns of a link across the cut to the parts. */
static int pass(struct graph *g, struct plan_parts *parts, const struct link *l)
{
	size_t i;

	if (l->in && l->in->stays)
		return why(g->w, "%s", l->in->stays);
	if (!l->in && !g->absent[l->reader])
		return why(g->w, "op %s reads packed rows of another plan", g->plan->op[l->reader].name);
	if (!l->in)
		return 0;
	i = part_in(g, parts, l->in);
	if (i == PLAN_PARTS)
		return why(g->w, "more than %d values pass from layer to layer", PLAN_PARTS);
	widen(parts->rows[i].value, l->from, l->to);
	return 0;
}

void graph_cut(struct graph *g, int cut, const struct value *x, struct plan_parts *parts)
{
	size_t links = g->links;

	*parts = (struct plan_parts){ .parts = 0 };
	if (!g->failed)
		part_in(g, parts, x->in);
	for (size_t i = 0; i < links && !g->failed; i++) {
		struct link l = g->link[i];

		if (l.maker >= cut || l.reader < cut)
			continue;
		g->failed = pass(g, parts, &l);
		l.reader = GRAPH_END;
		l.all = 1;
		if (l.in && !g->absent[l.maker])
			graph_link(g, l);
	}
	for (size_t i = 0; i < parts->parts; i++) {
		parts->width += parts->n[i] = parts->rows[i].value->n;
		graph_keep(g, &parts->rows[i]);
	}
}

static int passes(const struct plan_parts *parts, const struct link *l)
{
	for (size_t i = 0; i < parts->parts; i++) {
		const struct value *v = parts->rows[i].value;

		if (v->in == l->in && v->column <= l->from && l->to <= v->column + v->n)
			return 1;
	}
	return 0;
}

void graph_check_parts(struct graph *g)
{
	const struct plan *p = g->plan;

	for (const struct link *l = g->link; l < g->link + g->links && !g->failed; l++) {
		int end = l->reader == GRAPH_END, comes = g->absent[l->maker], goes = !end && g->absent[l->reader];

		if (l->in && comes != goes && !passes(comes ? &p->in : &p->out, l))
			g->failed = why(g->w, "op %s reads what op %s makes in another plan, but it does not pass",
				end ? "end" : p->op[l->reader].name, p->op[l->maker].name);
	}
}
