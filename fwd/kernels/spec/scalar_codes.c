/* scalar_codes: attention over K and V in codes, from its definition in kernels.h: sums of products of integers, which
 * are exact in any order. The specification of attend_codes.h. */
#include "scalar.h"

#include <math.h>
#include <string.h>

#include "fwd/kernels/quantise_rule.h"
#include "lib/base/half.h"
#include "lib/base/size.h"

void scalar_code_scores(const struct attend *a, const struct kv_block *kv, const float *q, size_t n, float *s)
{
	const int8_t *k = kv->k;

	for (size_t j = 0; j < n; j++)
		s[j] = 0;
	for (size_t d0 = 0; d0 < a->dim_k; d0 += KV_SCALED) {
		size_t dims = size_min(KV_SCALED, a->dim_k - d0);
		float group[KV_SCALED] = { 0 };
		struct acts_block x;

		memcpy(group, q + d0, dims * sizeof *q);
		scalar_pack_block(ACTS_Q8, group, &x);
		x.dx *= a->scale;
		for (size_t j = 0; j < n; j++) {
			float k_scale = f16_to_f32(kv->k_scale[kv_scale_index(a->dim_k, j, d0 / KV_SCALED)]);
			int32_t sum = 0;

			for (size_t d = 0; d < dims; d++)
				sum += x.q[d] * k[kv_k_index(a->type, a->dim_k, j, d0 + d)];
			s[j] = fmaf(x.dx, k_scale * (float)sum, s[j]);
		}
	}
}

/* ---- sums over V ---- */

struct weights {        /* of a run of positions: step times codes from 0 to 255 */
	float step;
	int32_t code[ATTEND_RUN];
};

/* p[n], times V's scales of group g from position j0 of a block on. */
static void weigh(const struct attend *a, const struct kv_block *kv, const float *p, size_t j0, size_t n, size_t g,
	struct weights *run)
{
	const uint16_t *scale = a->v_in_k ? kv->k_scale : kv->v_scale;
	size_t dim = a->v_in_k ? a->dim_k : a->dim_v;
	float w[ATTEND_RUN], max = 0;

	memset(run, 0, sizeof *run);
	for (size_t j = 0; j < n; j++) {
		w[j] = p[j] > 0 ? p[j] * f16_to_f32(scale[kv_scale_index(dim, j0 + j, g)]) : 0;
		max = fmaxf(max, w[j]);
	}
	if (max < ACTS_LEAST)
		return;
	run->step = max * (1 / 255.0f);
	for (size_t j = 0; j < n; j++)
		run->code[j] = w[j] < INFINITY ? (int32_t)scalar_nearest(w[j], 255 * (1 / max)) : 0;
}

void scalar_code_sums(const struct attend *a, const struct kv_block *kv, const float *p, size_t n, float *o)
{
	const int8_t *v = a->v_in_k ? kv->k : kv->v;
	struct weights run;

	for (size_t d = 0; d < a->dim_v; d++)
		o[d] = 0;
	for (size_t j0 = 0; j0 < n; j0 += ATTEND_RUN)
		for (size_t d = 0; d < a->dim_v; d++) {
			size_t positions = size_min(n - j0, ATTEND_RUN);
			int32_t sum = 0;

			if (d % KV_SCALED == 0)
				weigh(a, kv, p + j0, j0, positions, d / KV_SCALED, &run);
			for (size_t j = 0; j < positions; j++)
				sum += run.code[j] * v[a->v_in_k ? kv_k_index(a->type, a->dim_k, j0 + j, d)
					: kv_v_index(a->type, a->dim_v, j0 + j, d)];
			o[d] = fmaf(run.step, (float)sum, o[d]);
		}
}
