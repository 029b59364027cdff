/* The head of a model that makes embeddings: the last norm, pooling, and what follows it. The ops up to op_mean act on
 * the rows of texts, those after it on one row for each text. With the other ways of pooling, the wanted rows are the
 * ones that are taken. */
#include "build.h"

#include "fwd/model/embedder.h"

static const char *const rank_products[] = { "cls", "cls.output" };
static const char *const rank_norm[] = { "cls.norm", NULL };
static const char *const dense_tensors[] = { "dense_2", "dense_3" };

/* Which of its rows a text's embedding is made of. */
static enum text_rows rows_of_text(const struct builder *b)
{
	enum pooling pooling = b->plan->setup.pooling;
	enum rank_head ranks = b->model->family->ranks;

	if (pooling == POOLING_RANK)
		return ranks == RANKS_MEAN ? TEXT_ALL : ranks == RANKS_LAST ? TEXT_LAST : TEXT_FIRST;
	return pooling == POOLING_CLS ? TEXT_FIRST : pooling == POOLING_LAST ? TEXT_LAST : TEXT_ALL;
}

static struct value *mean(struct builder *b, struct value *x)
{
	struct op_mean o = { .n = x->n };
	struct value *out = build_value(b, x->n);

	o.in = rows_of(x);
	o.out = rows_of(out);
	build_append(b, &op_mean, NULL, &o, sizeof o);
	b->plan->n_pooled = b->plan->n_ops;
	return out;
}

/* The scores of a pair of texts, one for each label. */
static struct value *rank(struct builder *b, struct value *x)
{
	enum rank_head ranks = b->model->family->ranks;
	size_t labels = embedder_of(b->model)->labels;
	struct op_rows f = { .f = ranks == RANKS_MEAN ? ROW_UNARY : ROW_TANH, .unary = UNARY_GELU };

	if (build_has(b, "cls")) {
		x = build_product(b, x, "cls", WIDE, build_has(b, "cls.output") ? x->n : labels);
		x = build_rows(b, "cls_act", f, x, build_part(b, x, 0, x->n));
	}
	if (build_has(b, "cls.norm"))
		x = build_norm(b, x, "cls.norm");
	if (build_has(b, "cls.output"))
		x = build_product(b, x, "cls.output", WIDE, labels);
	if (ranks == RANKS_LAST)
		x = build_rows(b, "cls_softmax", (struct op_rows){ .f = ROW_SOFTMAX }, x, build_part(b, x, 0, x->n));
	return x;
}

static struct value *dense(struct builder *b, struct value *x)
{
	if (!build_has(b, "dense_2") && !build_has(b, "dense_3"))
		return x;
	x = build_product(b, x, "dense_2", WIDE, build_n_rows(b, "dense_2"));
	return b->model->family->n_dense < 2 ? x : build_product(b, x, "dense_3", WIDE, build_n_rows(b, "dense_3"));
}

/* Checks the shapes of a rank head that this plan does not use. */
static void check_rank(struct builder *b)
{
	size_t n = b->model->n_embd, labels = embedder_of(b->model)->labels;
	struct matrix unused;

	if (build_has(b, "cls"))
		build_matrices(b, "cls", 1, build_has(b, "cls.output") ? n : labels, n, &unused);
	if (build_has(b, "cls.output"))
		build_matrices(b, "cls.output", 1, labels, n, &unused);
}

/* Ignores a matrix of a head, its biases, and what adapters have for it. */
static void ignore(struct builder *b, const char *name)
{
	const char *const names[] = { name, NULL };
	struct tensor_name weight = build_name(b, name, "weight");
	const struct gguf_tensor *t = gguf_tensor(b->model->gguf, weight.s);

	if (t)
		build_find_lora(b, weight.s, 1, (size_t)t->dim[1], (size_t)t->dim[0]);
	build_ignore(b, names, "weight");
	build_ignore(b, names, "bias");
}

void build_ignore_heads(struct builder *b)
{
	const struct family *f = b->model->family;

	if (f->ranks) {
		check_rank(b);
		for (size_t i = 0; i < sizeof rank_products / sizeof *rank_products; i++)
			ignore(b, rank_products[i]);
		build_ignore(b, rank_norm, "weight");
		build_ignore(b, rank_norm, "bias");
	}
	for (size_t i = 0; i < f->n_dense; i++)
		ignore(b, dense_tensors[i]);
}

void build_pooled(struct builder *b)
{
	struct plan *p = b->plan;
	const struct family *f = b->model->family;
	int ranks = p->setup.pooling == POOLING_RANK;
	struct value *x = build_norm(b, b->x, f->final_norm ? f->final_norm : "output_norm");

	p->rows = rows_of_text(b);
	if (p->setup.pooling == POOLING_MEAN || (ranks && f->ranks == RANKS_MEAN))
		x = mean(b, x);
	if (ranks)
		x = rank(b, x);
	else if (f->n_dense)
		x = dense(b, x);
	build_ignore_heads(b);
	if (!f->headless)
		ignore(b, "output");
	p->embedding = rows_of(x);
	p->n_embedding = x->n;
}
