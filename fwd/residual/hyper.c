/* Hyper-connections: hyper.h has the formulas. */
#include "hyper.h"

#include <string.h>

#include "fwd/model/keys.h"

struct hyper *hyper_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct hyper));
}

int hyper_read(struct model *m, struct why *w)
{
	struct hyper *h = hyper_of(m);

	h->magnitude = 2;
	return key_required(m, "hyper_connection.count", 2, STREAMS_MAX, &m->n_streams, w) < 0
		|| key_required(m, "hyper_connection.sinkhorn_iterations", 1, 1 << 10, &h->rounds, w) < 0
		|| key_float(m, "hyper_connection.epsilon", 0, 1, &h->eps, w) < 0 ? -1 : 0;
}

/* ---- the ops: a work item is a row ---- */

/* The weights of the streams from a row's first mixes, in place. */
static float *weights(const struct op_hyper *o, const struct step *s, size_t row, float gain, float eps)
{
	float *mix = buffer_row(&o->mixes, row);

	for (size_t i = 0; i < o->streams; i++)
		mix[i] = mix[i] * o->scale[0] + o->base[i];
	s->k->unary(UNARY_SIGMOID, mix, mix, o->streams);
	for (size_t i = 0; i < o->streams; i++)
		mix[i] = mix[i] * gain + eps;
	return mix;
}

static void gather_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_hyper *o = op->bound;
	const float *x = buffer_row(&o->x, row), *mix = weights(o, s, row, 1, o->eps);
	float *to = buffer_row(&o->out, row);

	s->k->scale(to, x, mix[0], o->n);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add_scaled(to, x + i * o->n, mix[i], o->n);
}

/* Divides each of n lines of n elements by its sum + eps. line, step: distance from line to line, and from element to
 * element, so that lines can be rows or columns. */
static void normalise(float *c, size_t n, size_t line, size_t step, float eps)
{
	for (size_t i = 0; i < n; i++) {
		float sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += c[i * line + j * step];
		for (size_t j = 0; j < n; j++)
			c[i * line + j * step] /= sum + eps;
	}
}

/* Computes the mixing matrix from a row's last mixes, in place. */
static const float *matrix(const struct op_hyper *o, size_t row)
{
	size_t n = o->streams;
	float *c = buffer_row(&o->mixes, row) + n;

	for (size_t i = 0; i < n * n; i++)
		c[i] = c[i] * o->scale[1] + o->base[n + i];
	for (size_t i = 0; i < n; i++)
		op_softmax(c + i * n, n);
	for (size_t i = 0; i < n * n; i++)
		c[i] += o->eps;
	for (size_t round = 0; round < o->rounds; round++) {
		if (round)
			normalise(c, n, n, 1, o->eps);
		normalise(c, n, 1, n, o->eps);
	}
	return c;
}

/* Replaces the streams of a row by their products with the mixing matrix. */
static void mix_streams(const struct op_hyper *o, const struct step *s, size_t row)
{
	const float *c = matrix(o, row);
	float *x = buffer_row(&o->x, row), *before = buffer_row(&o->before, row);

	memcpy(before, x, o->streams * o->n * sizeof *x);
	for (size_t i = 0; i < o->streams; i++, x += o->n) {
		s->k->scale(x, before, c[i], o->n);
		for (size_t j = 1; j < o->streams; j++)
			s->k->add_scaled(x, before + j * o->n, c[j * o->streams + i], o->n);
	}
}

static void scatter_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_hyper *o = op->bound;
	const float *branch = buffer_row(&o->out, row);
	const float *mix = weights(o, s, row, o->magnitude, o->rounds ? 0 : o->eps);
	float *x = buffer_row(&o->x, row);

	if (o->rounds)
		mix_streams(o, s, row);
	for (size_t i = 0; i < o->streams; i++)
		s->k->add_scaled(x + i * o->n, branch, mix[i], o->n);
}

static void gather_uses(void *bound, struct uses *u)
{
	struct op_hyper *o = bound;

	u->rows(u, &o->x, o->streams * o->n, USE_READ);
	u->rows(u, &o->mixes, o->streams, USE_SPOIL);
	u->rows(u, &o->out, o->n, USE_MAKE);
}

static void scatter_uses(void *bound, struct uses *u)
{
	struct op_hyper *o = bound;

	u->rows(u, &o->out, o->n, USE_READ);
	u->rows(u, &o->mixes, (o->rounds ? 1 + o->streams : 1) * o->streams, USE_SPOIL);
	u->rows(u, &o->before, o->streams * o->n, USE_MAKE);
	u->rows(u, &o->x, o->streams * o->n, USE_CHANGE);
}

static const struct op_kind op_gather = { .name = "gather", .uses = gather_uses, .items = op_each_row,
	.item = gather_row };
static const struct op_kind op_scatter = { .name = "scatter", .uses = scatter_uses, .items = op_each_row,
	.item = scatter_row };

/* ---- building ---- */

/* The tensors of a part, keyed by the norm that follows. */
static const struct mix_tensors {
	const char *norm, *fn, *scale, *base;
	size_t weights;                 /* for each stream: 2 (reading, updating), or 1 for the head, which only
					 * reads */
} parts[] = {
	{ "attn_norm", "hc_attn_fn", "hc_attn_scale", "hc_attn_base", 2 },
	{ "ffn_norm", "hc_ffn_fn", "hc_ffn_scale", "hc_ffn_base", 2 },
	{ "", "output_hc_fn", "output_hc_scale", "output_hc_base", 1 },
};

/* Returns the weighted sum of the streams of x; the weights are a product of all streams together. Remembers those for
 * updating the streams. */
static struct value *gather(struct builder *b, const char *norm, struct value *x)
{
	const struct model *m = b->model;
	const struct hyper *hyper = hyper_of(b->model);
	size_t streams = m->n_streams, matrix, mixes;
	const struct mix_tensors *part = parts;
	struct op_rows all = { .norm = { .kind = NORM_RMS, .eps = m->eps } };
	struct op_hyper o = { .streams = streams, .n = m->n_embd, .x = rows_of(x), .eps = hyper->eps,
		.magnitude = hyper->magnitude, .rounds = hyper->rounds };
	struct value *normed, *mix, *out = build_value(b, m->n_embd);

	while (strcmp(part->norm, norm))
		part++;
	matrix = part->weights > 1 && o.rounds > 0;
	mixes = (part->weights + matrix * streams) * streams;
	normed = build_rows(b, "streams_norm", all, x, build_value(b, x->n));
	mix = build_product(b, normed, part->fn, NARROW, mixes);
	o.scale = build_vector(b, part->scale, "weight", part->weights + matrix);
	o.base = build_vector(b, part->base, "weight", mixes);
	o.mixes = rows_of(build_part(b, mix, 0, streams));
	o.out = rows_of(out);
	build_output(b, build_append(b, &op_gather, NULL, &o, sizeof o), 0, "", out, o.n);
	if (part->weights > 1 && !build_failed(b)) {
		o.mixes = rows_of(build_part(b, mix, streams, mixes - streams));
		o.scale++;
		o.base += streams;
		hyper_remember(b, o);
	}
	return out;
}

/* b->x is copied to the other streams. */
void hyper_open(struct builder *b)
{
	size_t n = b->model->n_embd;
	struct op_copy o = { .copies = 1, .copy = { { .from = rows_of(b->x),
		.to = rows_of(build_columns(b, b->x, n, (b->model->n_streams - 1) * n)),
		.heads = b->model->n_streams - 1, .n = n, .to_step = n } } };

	build_append(b, &op_copy, "streams", &o, sizeof o);
}

static struct value *read_streams(struct builder *b, const char *norm)
{
	struct op_rows o = { .norm = build_norm_of(b, norm, b->model->n_embd) };
	struct value *x = gather(b, norm, build_streams(b));

	return build_rows_shown(b, norm, o, x, build_part(b, x, 0, x->n));
}

void hyper_remember(struct builder *b, struct op_hyper o)
{
	struct op_hyper *copy = build_allocate(b, sizeof *copy);

	if (copy)
		*copy = o;
	b->gathered = copy;
}

void hyper_scatter(struct builder *b, struct value *branch)
{
	struct value *all = build_streams(b);
	struct op_hyper o;

	if (!b->gathered)
		return;
	o = *b->gathered;
	o.x = rows_of(all);
	o.out = rows_of(branch);
	if (o.rounds)
		o.before = rows_of(build_value(b, all->n));
	build_output(b, build_append(b, &op_scatter, NULL, &o, sizeof o), 0, "", all, all->n);
	b->x = build_part(b, all, 0, o.n);
}

/* Returns the mean of all streams. */
static struct value *average(struct builder *b, struct value *all)
{
	size_t n = b->model->n_embd, streams = b->model->n_streams;
	struct value *sum = build_copy(b, "streams", build_part(b, all, 0, n));

	for (size_t i = 1; i < streams; i++)
		sum = build_sum(b, "streams_mean", sum, build_part(b, all, i * n, n),
			i + 1 < streams ? 0 : 1 / (float)streams);
	return sum;
}

static struct value *unite(struct builder *b, struct value *all)
{
	return hyper_of(b->model)->averaged ? average(b, all) : gather(b, "", all);
}

const struct stream_kind hyper_streams = {
	.open = hyper_open, .read = read_streams, .add = hyper_scatter, .unite = unite
};
