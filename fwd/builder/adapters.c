/* Low-rank deltas of products, from the adapters that ids switch on (adapters.h). The ops treat the adapter of a row as
 * its one expert. */
#include "adapters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "fwd/state/ids.h"
#include "lib/base/size.h"

struct adapters *adapters_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct adapters));
}

/* ---- the op: a work item is a run ---- */

/* Chooses the adapter of each row (adapters.h). It becomes the row's only expert, whose weights are the deltas. */
struct op_adapters {
	struct routing *routing;
	size_t n_vocab;
	const uint16_t *switched;       /* [n_vocab]: the adapter that an id switches on; 0: none */
	double other;
};

static size_t items(const struct op *op, const struct step *s)
{
	return s->n_runs;
}

/* Other processes may write to the segment's memory, so an id may be outside the vocabulary. */
static uint16_t switched(const struct op_adapters *o, const struct segment *state, size_t pos)
{
	uint32_t id = (uint32_t)segment_id(state, pos);

	return id < o->n_vocab ? o->switched[id] : 0;
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_adapters *o = op->bound;
	const struct run *run = &s->run[item];
	size_t rows = op->wanted ? run->wanted : run->n, end = run->pos + run->n, sum = 0, count = 0;
	uint16_t *adapter = o->routing->expert + (op->wanted ? run->first_wanted : run->first);

	for (size_t pos = 0; pos < end; pos++) {
		uint16_t on = switched(o, run->state, pos);

		sum += on;
		count += on > 0;
		if (pos + rows >= end)
			*adapter++ = (uint16_t)roundf((float)((double)sum
				/ ((double)count + (double)(pos + 1 - count) * o->other)));
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_adapters *o = bound;

	u->routing(u, o->routing, USE_MAKE);
}

static const struct op_kind op_adapters = { .name = "adapters", .uses = uses, .items = items, .item = item };

/* ---- building ---- */

/* Whether all ids of adapters are in the vocabulary; if not, building has failed. */
static int check_ids(struct builder *b)
{
	const struct adapters *a = adapters_of(b->model);
	size_t i = 0;

	while (i < a->n && size_max(a->id[i], a->substitute[i]) < b->model->n_vocab)
		i++;
	if (i == a->n)
		return 1;
	b->graph.failed = why(b->w, "adapter %zu: an id is outside the vocabulary of %zu", i, b->model->n_vocab);
	return 0;
}

const int32_t *build_substitutes(struct builder *b)
{
	const struct adapters *a = adapters_of(b->model);
	int32_t *substitute = a->n && check_ids(b) ? build_allocate(b, b->model->n_vocab * sizeof *substitute) : NULL;

	for (size_t i = 0; substitute && i < b->model->n_vocab; i++)
		substitute[i] = (int32_t)i;
	for (size_t i = 0; substitute && i < a->n; i++)
		substitute[a->id[i]] = (int32_t)a->substitute[i];
	return substitute;
}

/* The table [n_vocab] of the adapter that each id switches on; 0: none. build_substitutes() has checked the ids. */
static const uint16_t *switches(struct builder *b)
{
	const struct adapters *a = adapters_of(b->model);
	uint16_t *switched = build_allocate(b, b->model->n_vocab * sizeof *switched);

	if (!switched)
		return NULL;
	memset(switched, 0, b->model->n_vocab * sizeof *switched);
	for (size_t i = 0; i < a->n; i++)
		switched[a->id[i]] = (uint16_t)(1 + i);
	return switched;
}

/* Chooses each row's adapter: once in a plan; and each time in the model's last layer, where some ops act on the wanted
 * rows only. */
static struct routing *choose(struct builder *b)
{
	struct op_adapters o = { .n_vocab = b->model->n_vocab, .other = adapters_of(b->model)->other };
	size_t first = b->plan->setup.first;

	if (b->adapters && b->il + 1 < b->model->n_layer && !(b->routed < first && b->il >= first))
		return b->adapters;
	if (!b->switched)
		b->switched = switches(b);
	b->routed = b->il;
	o.switched = b->switched;
	o.routing = build_routing(b, &b->adapters, 1 + adapters_of(b->model)->n, 1);
	build_append(b, &op_adapters, NULL, &o, sizeof o);
	return b->adapters;
}

/* The tensor of a delta. */
struct delta_name {
	char s[64];
};

static struct delta_name delta_name(const char *name, const char *which)
{
	struct delta_name n;

	snprintf(n.s, sizeof n.s, "%s.%s", name, which);
	return n;
}

void build_deltas(struct builder *b, struct value *x, const struct product_result *products, size_t n)
{
	size_t rank = adapters_of(b->model)->rank, all = 0, at = 0;
	struct op_combine sum = { .unweighted = 1, .adds = 1 };
	struct value *low, *delta, *y;
	struct routing *routing;
	struct op_product o;

	if (!adapters_of(b->model)->n || build_failed(b))
		return;
	for (size_t i = 0; i < n; i++)
		all += (*products[i].y)->n;
	low = build_value(b, n * rank);
	delta = build_value(b, all);
	sum.routing = routing = choose(b);
	o = build_expert_products(b, "lora_rows", x, (struct op_expert_rows){ .routing = routing,
		.n = x->n, .gathers = 1 });
	for (size_t i = 0; i < n; i++)
		build_add_product(b, &o, delta_name(products[i].name, "lora_a").s, NARROW,
			build_part(b, low, i * rank, rank));
	build_products(b, "lora_a", &o);
	for (size_t i = 0; i < n; at += (*products[i++].y)->n) {
		o = build_expert_products(b, "lora_pack", build_columns(b, low, i * rank, rank),
			(struct op_expert_rows){ .routing = routing, .n = rank, .plain = 1 });
		build_add_product(b, &o, delta_name(products[i].name, "lora_b").s, NARROW,
			build_part(b, delta, at, (*products[i].y)->n));
		build_products(b, "lora_b", &o);
	}
	y = build_columns(b, *products[0].y, 0, all);
	sum.n = all;
	sum.in = rows_of(build_columns(b, delta, 0, all));
	sum.out = rows_of(y);
	build_append(b, &op_combine, "lora_add", &sum, sizeof sum);
	for (size_t i = at = 0; i < n; at += (*products[i++].y)->n)
		*products[i].y = build_part(b, y, at, (*products[i].y)->n);
}
