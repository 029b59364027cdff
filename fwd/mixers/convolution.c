/* The op's work items are some channels of a run's rows, in order; channels are independent. Earlier rows come from the
 * segment, whichever batch they were in: the ring has them from the start of the chunk of the run's first row on, and
 * the state at that chunk's start has the taps - 1 inputs before it. */
#include "convolution.h"

#include <string.h>

#include "fwd/model/keys.h"
#include "lib/base/size.h"

/* ---- the op ---- */

static size_t items(const struct op *op, const struct step *s)
{
	return op_channel_items(s, ((const struct op_convolve *)op->bound)->n);
}

/* The input u at this position, of the run or earlier, from this channel on. */
static float *input(const struct op_convolve *o, const struct run *r, size_t pos, size_t channel)
{
	size_t start = r->pos / STATE_CHUNK * STATE_CHUNK;

	if (pos >= start)
		return (float *)segment_row(r->state, o->ring, o->n * sizeof(float), pos) + channel;
	return segment_state(r->state, start, o->state) + (pos + o->taps - 1 - start) * o->n + channel;
}

/* Stores the state at pos, of n channels. */
static void keep(const struct op_convolve *o, const struct run *r, size_t pos, size_t channel, size_t n)
{
	float *to = segment_state(r->state, pos, o->state) + channel;

	for (size_t p = pos - (o->taps - 1); p < pos; p++, to += o->n)
		memcpy(to, input(o, r, p, channel), n * sizeof *to);
}

/* Convolves n channels of a row, from `channel` on. */
static void convolve_row(const struct op_convolve *o, const struct kernels *k, const struct run *r, size_t row,
	size_t channel, size_t n)
{
	const float *x = buffer_row(&o->in, row) + channel, *weight[STATE_CHUNK], *rows[STATE_CHUNK];
	size_t pos = r->pos + row - r->first, taps = size_min(o->taps, pos + 1);
	float *now = input(o, r, pos, channel), *out = buffer_row(&o->out, row) + channel;

	if (o->gated)
		k->multiply(now, x, x + 2 * o->n, n);
	else
		memcpy(now, x, n * sizeof *now);
	for (size_t j = 0; j < taps; j++) {
		weight[j] = o->weight + (o->taps - 1 - j) * o->n + channel;
		rows[j] = input(o, r, pos - j, channel);
	}
	k->taps(out, weight, rows, taps, o->bias ? o->bias + channel : NULL, n);
	if (o->gated)
		k->multiply(out, x + o->n, out, n);
	else
		k->unary(UNARY_SILU, out, out, n);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_convolve *o = op->bound;
	const struct run_channels c = op_channels(s, o->n, item);
	const struct run *r = c.run;

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		convolve_row(o, s->k, r, row, c.at, c.n);
		if (segment_keeps(next, r->pos + r->n))
			keep(o, r, next, c.at, c.n);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_convolve *o = bound;

	u->rows(u, &o->in, o->gated ? 3 * o->n : o->n, USE_READ);
	u->rows(u, &o->out, o->n, USE_MAKE);
}

const struct op_kind op_convolve = { .name = "convolve", .uses = uses, .all_rows = 1, .items = items, .item = item };

/* ---- building ---- */

/* A convolution with weights NAME.weight and biases NAME.bias. Taps are `apart` positions apart; the weights in between
 * are 0. */
static struct value *append(struct builder *b, const char *name, struct op_convolve o, struct value *in, size_t taps,
	size_t apart, struct value *out)
{
	const float *given = build_transposed(b, name, "weight", out->n, taps);
	float *weight;

	o.n = out->n;
	o.taps = (taps - 1) * apart + 1;
	o.weight = weight = build_allocate(b, o.taps * o.n * sizeof *weight);
	for (size_t i = 0; given && weight && i < o.taps * o.n; i++)
		weight[i] = i / o.n % apart ? 0 : given[i / o.n / apart * o.n + i % o.n];
	o.bias = build_bias(b, name, 1, o.n);
	o.ring = build_ring(b, o.n * sizeof(float));
	o.state = build_state(b, (o.taps - 1) * o.n, 0);
	o.in = rows_of(in);
	o.out = rows_of(out);
	build_output(b, build_append(b, &op_convolve, name, &o, sizeof o), 0, "", out, o.n);
	return out;
}

struct value *convolve(struct builder *b, const char *name, struct value *x, size_t taps, size_t apart)
{
	return append(b, name, (struct op_convolve){ .gated = 0 }, x, taps, apart, build_part(b, x, 0, x->n));
}

/* ---- the mixer (Liquid AI 2025) ---- */

struct convolution {
	size_t taps;
};

static struct convolution *own(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct convolution));
}

static int read(struct model *m, struct why *w)
{
	return key_required(m, "shortconv.l_cache", 1, STATE_CHUNK, &own(m)->taps, w);
}

static struct value *build(struct builder *b, struct value *x)
{
	size_t n = b->model->n_embd;

	x = build_product(b, x, "shortconv.in_proj", NARROW, 3 * n);
	x = append(b, "shortconv.conv", (struct op_convolve){ .gated = 1 }, x, own(b->model)->taps, 1,
		build_value(b, n));
	return build_branch(b, x, "shortconv.out_proj");
}

const struct mixer mixer_convolution = { .read = read, .build = build };
