/* The products of adapters beside those of the model (fwd/model/lora.h). */
#include "build.h"

#include "lib/base/size.h"

const struct lora_pair *build_find_lora(struct builder *b, const char *name, size_t n, size_t rows, size_t cols)
{
	const struct lora_pair *first = NULL, **end = &first;
	struct lora_pair pair, *copy;

	for (size_t i = 0; i < b->model->n_lora && !build_failed(b); i++) {
		int found = lora_find(b->model, i, name, n, rows, cols, &pair, b->w);

		if (found < 0)
			b->graph.failed = -1;
		copy = found > 0 ? build_allocate(b, sizeof *copy) : NULL;
		if (!copy)
			continue;
		*copy = pair;
		*end = copy;
		end = &copy->next;
	}
	return build_failed(b) ? NULL : first;
}

/* Products by the factors A: as many as an op has room for. Activations stay floats, whatever the type of the factors:
 * they are small, and quantised ones are widened. */
struct first_products {
	struct op_product o;
	size_t adapter[PRODUCTS_MAX];
};

static void append_first(struct builder *b, struct first_products *p)
{
	size_t *adapter = p->o.n ? build_allocate(b, sizeof p->adapter) : NULL;

	if (!adapter)
		return;
	for (size_t i = 0; i < p->o.n; i++)
		adapter[i] = p->adapter[i];
	p->o.adapter = adapter;
	build_products(b, "lora_a", &p->o);
	p->o.n = 0;
}

/* Adds A · x. Returns its value. */
static struct value *add_first(struct builder *b, struct first_products *p, const struct lora_pair *pair)
{
	struct op_product *o = &p->o;
	struct value *low = graph_value(&b->graph, pair->a.rows, o->routing ? o->routing->used : 1);

	if (o->n == PRODUCTS_MAX)
		append_first(b, p);
	p->adapter[o->n] = pair->adapter;
	o->w[o->n] = pair->a;
	o->kind[o->n] = ACTS_F32;
	o->x->wants[ACTS_F32] |= UINT64_C(1) << pair->a.format->id;
	o->y[o->n++] = rows_of(low);
	return low;
}

static struct lora_term *add_term(struct op_lora *o, const struct lora_pair *pair, size_t of, struct value *low)
{
	struct lora_term *t = &o->term[o->terms++];

	*t = (struct lora_term){ .of = of, .adapter = pair->adapter, .factor = pair->factor, .b = pair->b,
		.low = rows_of(low) };
	return t;
}

/* The factors B as op->weights: all experts' as one matrix. */
static const struct matrix *second_matrices(struct builder *b, const struct op_lora *o)
{
	struct matrix *w = build_allocate(b, o->terms * sizeof *w);

	for (size_t i = 0; w && i < o->terms; i++) {
		w[i] = o->term[i].b;
		w[i].rows *= o->routing ? o->routing->n : 1;
	}
	return w;
}

static void append_second(struct builder *b, const struct op_lora *o)
{
	struct op *op = build_op(b, build_append(b, &op_lora, "lora_b", o, sizeof *o));

	if (!op)
		return;
	op->weights = second_matrices(b, o);
	op->n_weights = op->weights ? o->terms : 0;
	op->scratch = lora_scratch(o, b->plan->setup.kernels, b->plan->setup.batch);
}

/* Makes room for the terms of these products. Returns whether there are any. */
static int open_terms(struct builder *b, struct op_lora *o, const struct lora_pair *const *pairs, size_t n)
{
	size_t terms = 0;

	for (size_t i = 0; i < n; i++)
		for (const struct lora_pair *pair = pairs[i]; pair; pair = pair->next)
			terms++;
	o->term = terms ? build_allocate(b, terms * sizeof *o->term) : NULL;
	return o->term != NULL;
}

void build_lora(struct builder *b, const struct op_product *of)
{
	struct first_products first = { .o = { .x = of->x, .routing = of->routing } };
	struct op_lora o = { .routing = of->routing, .n = of->n };

	if (!open_terms(b, &o, of->lora, of->n))
		return;
	for (size_t i = 0; i < of->n; i++) {
		o.rows[i] = of->w[i].rows;
		o.y[i] = of->y[i];
		for (const struct lora_pair *pair = of->lora[i]; pair; pair = pair->next) {
			struct lora_term *t = add_term(&o, pair, i, add_first(b, &first, pair));

			t->b.data = (const unsigned char *)t->b.data + of->lora_row[i] * t->b.row_bytes;
			t->b.rows = o.rows[i];
		}
	}
	append_first(b, &first);
	append_second(b, &o);
}

void build_lora_of_embedding(struct builder *b, float scale)
{
	const struct model *m = b->model;
	const struct lora_pair *pair = build_find_lora(b, "token_embd.weight", 1, m->n_embd, m->n_vocab);
	struct op_lora o = { .n = 1, .rows = { m->n_embd }, .y = { rows_of(b->x) } };

	if (!open_terms(b, &o, &pair, 1))
		return;
	for (; pair; pair = pair->next) {
		struct value *low = build_value(b, pair->b.cols);
		struct op_embed first = { .ids = pair->a, .scale = 1, .x = rows_of(low) };

		build_append(b, &op_embed, "lora_a", &first, sizeof first);
		add_term(&o, pair, 0, low)->factor *= scale;
	}
	append_second(b, &o);
}
