/* State spaces: Mamba (Gu and Dao 2023), Mamba 2 (Dao and Gu 2024), and PLaMo 2's mixture of both (PFN 2024). */
#include "build.h"

#include "fwd/model/mixers.h"

/* y · silu(z), n elements, normed if the layer has ssm_norm, and packed. zy holds z, then y. In the last layer only the
 * wanted rows are left. */
static struct packed *gate(struct builder *b, struct buffer zy, size_t n)
{
	struct op_rows o = { .n = n, .in = zy, .out = buffer_with(b->plan->h, n), .f = ROW_GLU, .unary = UNARY_SILU };

	build_mixed(b, zy, 2 * n);
	if (b->layer->mixers & MIXER_MAMBA2 && (build_has(b, "ssm_norm") || !(b->layer->mixers & MIXER_ATTENTION))) {
		o.norms = b->model->ssm.groups;
		o.norm = build_norms_of(b, "ssm_norm", o.norms, n / o.norms);
	}
	build_output(build_packing(b, "ssm_gate", &o, SLOT_BRANCH), 0, "", o.out, n);
	return o.packed;
}

/* Norms n elements of each row in place, if the model has these norms. */
static void norm_part(struct builder *b, const char *name, struct buffer x, size_t n)
{
	struct op_rows o = { .n = n, .in = x, .out = x, .norm = { .kind = NORM_RMS, .eps = b->model->eps } };

	if (b->model->ssm.norms == SSM_NORMS_WEIGHTED)
		o.norm = build_norm_of(b, name, n);
	if (b->model->ssm.norms != SSM_NORMS_NONE)
		build_append(b, &op_rows, name, &o, sizeof o);
}

struct packed *build_mamba(struct builder *b, struct packed *x)
{
	const struct ssm *s = &b->model->ssm;
	size_t n = s->inner, rank = s->rank, state = s->state;
	struct buffer wide = buffer_with(b->plan->wide, 3 * n + rank + 2 * state), low = buffer_at(wide, 3 * n);
	struct op_scan scan = { .n = n, .states = state, .x = wide, .dt = buffer_at(wide, 2 * n),
		.bc = buffer_at(low, rank) };

	build_product(b, x, "ssm_in", NARROW, 2 * n, wide);
	build_convolve(b, "ssm_conv1d", wide, n);
	build_product(b, build_pack(b, "ssm_x_pack", wide, n, SLOT_BRANCH), "ssm_x", WIDE, rank + 2 * state, low);
	norm_part(b, "ssm_dt_norm", low, rank);
	norm_part(b, "ssm_b_norm", scan.bc, state);
	norm_part(b, "ssm_c_norm", buffer_at(scan.bc, state), state);
	build_product(b, build_pack(b, "ssm_dt_pack", low, rank, SLOT_BRANCH), "ssm_dt", WIDE, n, scan.dt);
	scan.a = build_transposed(b, "ssm_a", "", n, state);
	scan.skip = build_vector(b, "ssm_d", "", n);
	scan.state = build_state(b, n * state);
	b->plan->keeps_current = 1;
	build_output(build_append(b, &op_scan, NULL, &scan, sizeof scan), 0, "", scan.dt, n);
	return gate(b, buffer_at(wide, n), n);
}

struct packed *build_mamba2(struct builder *b, struct packed *x)
{
	const struct ssm *s = &b->model->ssm;
	size_t n = s->inner, keys = s->groups * s->state;
	struct buffer z = buffer_with(b->plan->wide, 2 * (n + keys + s->rank)), v = buffer_at(z, n);
	struct op_linear o = { .n_head = s->rank, .n_head_k = s->groups, .runs = 1, .dim_k = s->state,
		.dim_v = n / s->rank, .v = v, .k = buffer_at(v, n), .q = buffer_at(v, n + keys),
		.decay = buffer_at(v, n + 2 * keys), .beta = buffer_at(v, n + 2 * keys + s->rank),
		.d = buffer_with(b->plan->h, n), .out = v };

	build_product(b, x, "ssm_in", NARROW, 2 * (n + keys) + s->rank, z);
	build_convolve(b, "ssm_conv1d", v, n + 2 * keys);
	o.bias = build_vector(b, "ssm_dt", "bias", s->rank);
	o.a = build_vector(b, "ssm_a", "", s->rank);
	o.skip = build_vector(b, "ssm_d", "", s->rank);
	build_linear(b, &o);
	return gate(b, z, n);
}

/* PLaMo 2 has the heads of Mamba 2; as in Mamba, keys, queries and time steps are a product of the convolved channels.
 * ssm_in has rows by head: gate, then channels. */
struct packed *build_mamba_plamo2(struct builder *b, struct packed *x)
{
	const struct ssm *s = &b->model->ssm;
	size_t n = s->inner, head = n / s->rank, keys = s->state, step = mixers_plamo2_step(b->model);
	struct buffer z = buffer_with(b->plan->wide, 4 * n + 2 * (keys + s->rank) + step), v = buffer_at(z, n);
	struct buffer both = buffer_at(z, 2 * n), low = buffer_at(z, 4 * n), dt = buffer_at(low, 2 * keys);
	struct op_linear o = { .n_head = s->rank, .n_head_k = 1, .runs = 1, .dim_k = keys, .dim_v = head, .v = v,
		.k = low, .q = buffer_at(low, keys), .decay = buffer_at(dt, step),
		.beta = buffer_at(dt, step + s->rank), .d = buffer_with(b->plan->h, n), .out = v };

	build_product(b, x, "ssm_in", NARROW, 2 * n, both);
	build_deinterleave(b, "ssm_in", both, s->rank, 2, (struct interleaved[]){ { head, z }, { head, v } });
	build_convolve(b, "ssm_conv1d", v, n);
	build_product(b, build_pack(b, "ssm_x_pack", v, n, SLOT_BRANCH), "ssm_x", WIDE, 2 * keys + step, low);
	norm_part(b, "ssm_b_norm", o.k, keys);
	norm_part(b, "ssm_c_norm", o.q, keys);
	norm_part(b, "ssm_dt_norm", dt, step);
	build_product(b, build_pack(b, "ssm_dt_pack", dt, step, SLOT_BRANCH), "ssm_dt", WIDE, s->rank, o.decay);
	o.a = build_vector(b, "ssm_a", "", s->rank);
	o.skip = build_vector(b, "ssm_d", "", s->rank);
	build_linear(b, &o);
	return gate(b, z, n);
}
