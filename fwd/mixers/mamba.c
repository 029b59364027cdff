/* Mamba (Gu and Dao 2023). A work item of the scan is some channels of a run's rows, in order. */
#include "mamba.h"

#include <string.h>

#include "convolution.h"
#include "mixer.h"
#include "ssm.h"

/* ---- the op ---- */

static size_t items(const struct op *op, const struct step *s)
{
	return op_channel_items(s, ((const struct op_scan *)op->bound)->n);
}

/* One row of n channels from `at` on: updates the state, and overwrites dt with y. */
static void scan_row(const struct op_scan *o, const struct kernels *k, size_t row, float *state, size_t at, size_t n)
{
	const float *x = buffer_row(&o->x, row) + at, *b = buffer_row(&o->bc, row), *c = b + o->states;
	float *dt = buffer_row(&o->dt, row) + at, in[CHANNELS_EACH], decay[CHANNELS_EACH], y[CHANNELS_EACH];

	k->unary(UNARY_SOFTPLUS, dt, dt, n);
	k->multiply(in, dt, x, n);
	k->multiply(y, o->skip + at, x, n);
	for (size_t i = 0; i < o->states; i++, state += o->n) {
		k->multiply(decay, dt, o->a + i * o->n + at, n);
		k->unary(UNARY_EXP, decay, decay, n);
		k->multiply(state, state, decay, n);
		k->add_scaled(state, in, b[i], n);
		k->add_scaled(y, state, c[i], n);
	}
	memcpy(dt, y, n * sizeof *y);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_scan *o = op->bound;
	const struct run_channels c = op_channels(s, o->n, item);
	const struct run *r = c.run;
	float *state = segment_current(r->state, o->state) + c.at;

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		scan_row(o, s->k, row, state, c.at, c.n);
		if (!segment_keeps(next, r->pos + r->n))
			continue;
		for (size_t i = 0; i < o->states; i++)
			memcpy(segment_state(r->state, next, o->state) + c.at + i * o->n, state + i * o->n,
				c.n * sizeof *state);
	}
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_scan *o = op->bound;
	double state = (double)(o->n * o->states);

	w->bytes += (double)s->n_runs * state * sizeof(float);
	w->attention += (double)s->n * 3 * state;
}

static void uses(void *bound, struct uses *u)
{
	struct op_scan *o = bound;

	u->rows(u, &o->x, o->n, USE_READ);
	u->rows(u, &o->bc, 2 * o->states, USE_READ);
	u->rows(u, &o->dt, o->n, USE_CHANGE);
}

const struct op_kind op_scan = { .name = "scan", .uses = uses, .all_rows = 1, .items = items, .item = item,
	.work = work };

/* ---- building ---- */

struct value *mamba_norm(struct builder *b, const char *name, struct value *x)
{
	struct op_rows o = { .norm = { .kind = NORM_RMS, .eps = b->model->eps } };

	if (ssm_of(b->model)->norms == SSM_NORMS_WEIGHTED)
		o.norm = build_norm_of(b, name, x->n);
	return ssm_of(b->model)->norms == SSM_NORMS_NONE ? x : build_rows(b, name, o, x, build_part(b, x, 0, x->n));
}

struct value *mamba_out(struct builder *b, struct value *z, struct value *y, struct op_rows o)
{
	o.up = rows_of(y);
	o.f = ROW_GLU;
	o.unary = UNARY_SILU;
	return build_branch(b, build_rows_shown(b, "ssm_gate", o, z, build_value(b, y->n)), "ssm_out");
}

static struct value *build(struct builder *b, struct value *x)
{
	const struct ssm *s = ssm_of(b->model);
	size_t n = s->inner, rank = s->rank, state = s->state;
	struct value *xz = build_product(b, x, "ssm_in", NARROW, 2 * n), *low, *dt, *y;
	struct value *u = convolve(b, "ssm_conv1d", build_part(b, xz, 0, n), s->taps, 1);
	struct op_scan scan = { .n = n, .states = state };

	low = build_product(b, u, "ssm_x", WIDE, rank + 2 * state);
	dt = mamba_norm(b, "ssm_dt_norm", build_part(b, low, 0, rank));
	mamba_norm(b, "ssm_b_norm", build_part(b, low, rank, state));
	mamba_norm(b, "ssm_c_norm", build_part(b, low, rank + state, state));
	y = build_product(b, dt, "ssm_dt", WIDE, n);
	scan.x = rows_of(u);
	scan.dt = rows_of(y);
	scan.bc = rows_of(build_columns(b, low, rank, 2 * state));
	scan.a = build_transposed(b, "ssm_a", "", n, state);
	scan.skip = build_vector(b, "ssm_d", "", n);
	scan.state = build_state(b, n * state, 1);
	build_output(b, build_append(b, &op_scan, NULL, &scan, sizeof scan), 0, "", y, n);
	return mamba_out(b, build_part(b, xz, n, n), y, (struct op_rows){ .n = n });
}

const struct mixer mixer_mamba = { .read = ssm_read, .build = build };
