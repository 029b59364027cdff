/* Low-rank deltas of products, from the adapters that ids switch on (model.h). The ops treat the adapter of a row as
 * its one expert. */
#include "build.h"

#include <stdio.h>

/* Chooses each row's adapter. Called again after the last layer's attention, when only the wanted rows are left. */
static void choose(struct builder *b)
{
	struct op_adapters o = { .routing = &b->plan->adapters.routing, .n_vocab = b->model->n_vocab,
		.switched = b->plan->adapters.switched, .other = b->model->adapters.other };

	if (b->routed == 1 + b->wanted)
		return;
	b->routed = 1 + b->wanted;
	build_append(b, &op_adapters, NULL, &o, sizeof o);
}

static void add_product(struct builder *b, struct op_product *o, const char *name, const char *which, size_t rows,
	struct buffer y)
{
	char delta[64];

	snprintf(delta, sizeof delta, "%s.%s", name, which);
	build_add_product(b, o, delta, NARROW, rows, y);
}

/* The second product of a delta: y += B · low. */
static void expand(struct builder *b, const struct product_rows *p, struct buffer low, struct buffer y)
{
	struct routing *routing = &b->plan->adapters.routing;
	struct op_expert_rows rows = { .routing = routing, .n = b->model->adapters.rank, .in = low, .plain = 1 };
	struct op_product o = { .x = build_expert_rows(b, "lora_pack", rows), .routing = routing };

	add_product(b, &o, p->name, "lora_b", p->rows, y);
	build_products(b, "lora_b", &o);
}

void build_deltas(struct builder *b, const struct packed *x, const struct product_rows *products, size_t n,
	struct buffer y)
{
	struct adapter_buffers *a = &b->plan->adapters;
	size_t rank = b->model->adapters.rank;
	struct op_product reduce = { .routing = &a->routing };
	struct op_combine sum = { .routing = &a->routing, .in = a->out, .out = y, .unweighted = 1, .adds = 1 };

	if (!b->model->adapters.n || b->failed)
		return;
	choose(b);
	reduce.x = build_expert_rows(b, "lora_rows", (struct op_expert_rows){ .routing = &a->routing, .n = x->k,
		.in = x->rows, .gathers = 1 });
	for (size_t i = 0; i < n; i++)
		add_product(b, &reduce, products[i].name, "lora_a", rank, buffer_at(a->low, i * rank));
	build_products(b, "lora_a", &reduce);
	for (size_t i = 0; i < n; sum.n += products[i++].rows)
		expand(b, &products[i], buffer_at(a->low, i * rank), buffer_at(a->out, sum.n));
	build_append(b, &op_combine, "lora_add", &sum, sizeof sum);
}
