/* AltUp (alternating updates; Baykal et al. 2023): several residual streams, of which a layer reads and updates the
 * first. */
#include "fwd/builder/build.h"

#include <math.h>
#include <string.h>

/* ---- the ops ---- */

/* level: scales each stream but the first to the length of the first.
 * predict: predicted = x + C · x; the layer continues with the first stream of it. C has a row for each stream, a
 * product of tanh(modes).
 * correct: x = predicted + c · (layer output − predicted first stream). c, a number for each stream, is 1 + a product
 * of tanh(modes). scaled = the first stream · weight.
 * spread: adds the branch, normed, to each stream but the first.
 * unite: like level; then the first stream becomes the mean of all. */
struct op_altup {
	size_t streams, n;
	struct buffer x, predicted;     /* [streams][n] per row */
	struct buffer modes;            /* [streams]: the router's logits */
	const float *matrix;            /* predict: [streams²][streams]; correct: [streams][streams] */
	const float *weight;            /* [n] */
	struct buffer scaled, branch;   /* [n] */
	struct norm branch_norm;
};

static double length(const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * (double)x[i];
	return sqrt(sum);
}

static void level(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *first = buffer_row(&o->x, row), *x = first + o->n;
	double to = length(first, o->n);

	for (; x < first + o->streams * o->n; x += o->n)
		s->k->scale(x, x, (float)(to / length(x, o->n)), o->n);
}

/* Computes the n coefficients of a row. */
static void coefficients(const struct op_altup *o, const struct step *s, size_t row, float *to, size_t n)
{
	float *modes = buffer_row(&o->modes, row);

	s->k->cap(modes, 1, o->streams);
	for (size_t i = 0; i < n; i++) {
		to[i] = 0;
		for (size_t j = 0; j < o->streams; j++)
			to[i] += o->matrix[i * o->streams + j] * modes[j];
	}
}

static void predict_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row), *to = buffer_row(&o->predicted, row), c[STREAMS_MAX * STREAMS_MAX];

	coefficients(o, s, row, c, o->streams * o->streams);
	memcpy(to, x, o->streams * o->n * sizeof *to);
	for (size_t i = 0; i < o->streams * o->streams; i++)
		s->k->add_scaled(to + i / o->streams * o->n, x + i % o->streams * o->n, c[i], o->n);
	memcpy(x, to, o->n * sizeof *x);
}

static void correct_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row), *from = buffer_row(&o->predicted, row), c[STREAMS_MAX];
	float *change = buffer_row(&o->scaled, row);

	coefficients(o, s, row, c, o->streams);
	memcpy(change, x, o->n * sizeof *change);
	s->k->add_scaled(change, from, -1, o->n);
	memcpy(x, from, o->streams * o->n * sizeof *x);
	for (size_t i = 0; i < o->streams; i++)
		s->k->add_scaled(x + i * o->n, change, c[i] + 1, o->n);
	s->k->multiply(change, x, o->weight, o->n);
}

static void spread_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row), *branch = buffer_row(&o->branch, row);

	s->k->norm(&o->branch_norm, branch, branch, o->n);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add(x + i * o->n, x + i * o->n, branch, o->n);
}

static void unite_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row);

	level(op, s, row, thread);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add(x, x, x + i * o->n, o->n);
	s->k->scale(x, x, 1 / (float)o->streams, o->n);
}

static void all_uses(void *bound, struct uses *u)
{
	struct op_altup *o = bound;

	u->rows(u, &o->x, o->streams * o->n, USE_CHANGE);
}

static void predict_uses(void *bound, struct uses *u)
{
	struct op_altup *o = bound;

	u->rows(u, &o->modes, o->streams, USE_SPOIL);
	u->rows(u, &o->x, o->streams * o->n, USE_CHANGE);
	u->rows(u, &o->predicted, o->streams * o->n, USE_MAKE);
}

static void correct_uses(void *bound, struct uses *u)
{
	struct op_altup *o = bound;

	u->rows(u, &o->modes, o->streams, USE_SPOIL);
	u->rows(u, &o->predicted, o->streams * o->n, USE_READ);
	u->rows(u, &o->x, o->streams * o->n, USE_CHANGE);
	u->rows(u, &o->scaled, o->n, USE_MAKE);
}

static void spread_uses(void *bound, struct uses *u)
{
	struct op_altup *o = bound;

	u->rows(u, &o->branch, o->n, USE_SPOIL);
	u->rows(u, &o->x, o->streams * o->n, USE_CHANGE);
}

static const struct op_kind op_level = { .name = "level", .uses = all_uses, .items = op_each_row, .item = level };
static const struct op_kind op_predict = { .name = "predict", .uses = predict_uses, .items = op_each_row,
	.item = predict_row };
static const struct op_kind op_correct = { .name = "correct", .uses = correct_uses, .items = op_each_row,
	.item = correct_row };
static const struct op_kind op_spread = { .name = "spread", .uses = spread_uses, .items = op_each_row,
	.item = spread_row };
static const struct op_kind op_unite = { .name = "unite", .uses = all_uses, .items = op_each_row, .item = unite_row };

/* ---- building ---- */

/* The op's parameters; x: all streams. */
static struct op_altup streams(struct builder *b, struct value *x)
{
	return (struct op_altup){ .streams = b->model->n_streams, .n = b->model->n_embd, .x = rows_of(x) };
}

/* Makes every stream of x but the first: its own matrix times n elements of `from`, `step` apart; step 0: all read the
 * same ones. */
static void project(struct builder *b, const char *name, struct value *x, struct value *from, size_t step)
{
	size_t n = b->model->n_embd;

	build_by_head(b, name, (struct by_head){ .x = from, .heads = b->model->n_streams - 1, .n = n, .step = step,
		.y = build_part(b, x, n, x->n - n), .rows = n, .to_step = n });
}

/* The router's logits for the first stream. */
static struct value *route(struct builder *b)
{
	const float *weight = build_vector(b, "altup_router_norm", "weight", b->model->n_embd);
	struct value *x = build_scaled_norm(b, b->x, "altup_router_norm", weight, (float)b->model->n_embd);

	return build_product(b, x, "altup_router", NARROW, b->model->n_streams);
}

/* From here on, b->x is the first stream of x. */
static void take_first(struct builder *b, struct value *x)
{
	b->x = build_part(b, x, 0, b->model->n_embd);
}

static void open_streams(struct builder *b)
{
	struct value *all = build_streams(b);
	struct op_altup o;

	project(b, "altup_proj", all, b->x, 0);
	all = build_streams(b);
	o = streams(b, all);
	build_append(b, &op_level, NULL, &o, sizeof o);
	take_first(b, all);
}

struct value *build_predict(struct builder *b)
{
	struct value *modes = route(b), *all = build_streams(b), *predicted = build_value(b, all->n);
	struct op_altup o = streams(b, all);

	o.modes = rows_of(modes);
	o.predicted = rows_of(predicted);
	o.matrix = build_table(b, "altup_predict_coef", "weight", o.streams * o.streams, o.streams);
	build_output(b, build_append(b, &op_predict, NULL, &o, sizeof o), 0, "", predicted, predicted->n);
	take_first(b, all);
	return predicted;
}

struct value *build_correct(struct builder *b, struct value *predicted)
{
	struct value *modes = route(b), *all = build_streams(b), *scaled = build_value(b, b->model->n_embd);
	struct op_altup o = streams(b, all);

	o.modes = rows_of(modes);
	o.predicted = rows_of(predicted);
	o.scaled = rows_of(scaled);
	o.matrix = build_table(b, "altup_correct_coef", "weight", o.streams, o.streams);
	o.weight = build_vector(b, "altup_correct_scale", "weight", o.n);
	build_output(b, build_append(b, &op_correct, NULL, &o, sizeof o), 0, "", all, all->n);
	take_first(b, all);
	return scaled;
}

void build_spread(struct builder *b, struct value *branch, const char *name)
{
	struct value *all = build_streams(b);
	struct op_altup o = streams(b, all);

	o.branch = rows_of(branch);
	o.branch_norm = build_norm_of(b, name, o.n);
	if (b->model->post_eps > 0)
		o.branch_norm.eps = b->model->post_eps;
	build_append(b, &op_spread, NULL, &o, sizeof o);
	take_first(b, all);
}

static struct value *unite(struct builder *b, struct value *all)
{
	size_t n = b->model->n_embd;
	struct value *to = build_value(b, all->n), *first = build_part(b, to, 0, n);
	struct op_altup o;

	build_copy_into(b, "streams", build_part(b, all, 0, n), first);
	project(b, "altup_unembd_proj", to, build_part(b, all, n, all->n - n), n);
	to = build_columns(b, to, 0, to->n);
	o = streams(b, to);
	build_append(b, &op_unite, NULL, &o, sizeof o);
	return build_part(b, to, 0, n);
}

const struct stream_kind altup_streams = { .open = open_streams, .unite = unite };
