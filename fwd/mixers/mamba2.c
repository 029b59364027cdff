/* Mamba 2 (Dao and Gu 2024), and PLaMo 2's mixture of it and Mamba (PFN 2024): linear attention without the delta
 * rule. */
#include "convolution.h"
#include "lib/base/size.h"
#include "linear.h"
#include "mamba.h"
#include "mixer.h"
#include "ssm.h"

/* The weights of the state space of Mamba 2, whose time steps are in `decay`. */
static void weigh(struct builder *b, struct op_linear *o, struct value *decay)
{
	size_t heads = ssm_of(b->model)->rank;

	o->a = build_vector(b, "ssm_a", "", heads);
	o->skip = build_vector(b, "ssm_d", "", heads);
	o->decay = rows_of(decay);
	o->beta = rows_of(build_value(b, heads));
}

/* The norm of the gated result, if the layer has ssm_norm. */
static struct op_rows norm(struct builder *b, size_t n)
{
	struct op_rows o = { .n = n };

	if (build_has(b, "ssm_norm") || !b->layer->attends) {
		o.norms = ssm_of(b->model)->groups;
		o.norm = build_norms_of(b, "ssm_norm", o.norms, n / o.norms);
	}
	return o;
}

static int read(struct model *m, struct why *w)
{
	return ssm_read_heads(m, 1, w);
}

static struct value *build(struct builder *b, struct value *x)
{
	const struct ssm *s = ssm_of(b->model);
	size_t n = s->inner, keys = s->groups * s->state;
	struct value *all = build_product(b, x, "ssm_in", NARROW, 2 * (n + keys) + s->rank);
	struct value *vkq = convolve(b, "ssm_conv1d", build_part(b, all, n, n + 2 * keys), s->taps, 1);
	struct value *v = build_part(b, vkq, 0, n), *y = build_part(b, v, 0, n);
	struct op_linear o = { .n_head = s->rank, .n_head_k = s->groups, .consecutive = 1, .dim_k = s->state,
		.dim_v = n / s->rank, .v = rows_of(v), .k = rows_of(build_part(b, vkq, n, keys)),
		.q = rows_of(build_part(b, vkq, n + keys, keys)), .d = rows_of(build_value(b, n)) };

	o.bias = build_vector(b, "ssm_dt", "bias", s->rank);
	weigh(b, &o, build_part(b, all, 2 * (n + keys), s->rank));
	linear_build(b, &o, y);
	return mamba_out(b, build_part(b, all, 0, n), y, norm(b, n));
}

/* PLaMo 2 has the heads of Mamba 2; as in Mamba, keys, queries and time steps are a product of the convolved channels.
 * ssm_in has rows by head: gate, then channels. */
static struct value *build_plamo2(struct builder *b, struct value *x)
{
	const struct ssm *s = ssm_of(b->model);
	size_t n = s->inner, head = n / s->rank, keys = s->state, step = size_max(64, b->model->n_embd / 16);
	struct value *z = build_value(b, n), *v = build_value(b, n), *low, *k, *q, *dt, *y;
	struct op_linear o = { .n_head = s->rank, .n_head_k = 1, .consecutive = 1, .dim_k = keys, .dim_v = head };

	build_deinterleave(b, "ssm_in", build_product(b, x, "ssm_in", NARROW, 2 * n), s->rank, 2,
		(struct value *[]){ z, v });
	v = convolve(b, "ssm_conv1d", v, s->taps, 1);
	low = build_product(b, v, "ssm_x", WIDE, 2 * keys + step);
	k = mamba_norm(b, "ssm_b_norm", build_part(b, low, 0, keys));
	q = mamba_norm(b, "ssm_c_norm", build_part(b, low, keys, keys));
	dt = mamba_norm(b, "ssm_dt_norm", build_part(b, low, 2 * keys, step));
	dt = build_product(b, dt, "ssm_dt", WIDE, s->rank);
	y = build_part(b, v, 0, n);
	o.q = rows_of(q);
	o.k = rows_of(k);
	o.v = rows_of(v);
	o.d = rows_of(build_value(b, n));
	weigh(b, &o, dt);
	linear_build(b, &o, y);
	return mamba_out(b, z, y, (struct op_rows){ .n = n });
}

static int read_plamo2(struct model *m, struct why *w)
{
	return ssm_read_heads(m, 0, w);
}

const struct mixer mixer_mamba2 = { .read = read, .build = build };
const struct mixer mixer_plamo2 = { .read = read_plamo2, .build = build_plamo2 };
