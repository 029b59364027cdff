/* attend_test: compares the attention of every table with the scalar one, bit for bit: head sizes, heads per KV head,
 * positions around the ends of tiles and blocks, batches divided in several ways, NaN and infinity at every position
 * that a query may not see, windows, chunks, caps, slopes, biases, sinks, and positions that all rows see or none sees.
 * Compares the scalar one with softmax in double precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/kernels/kernels.h"
#include "lib/base/half.h"
#include "check.h"
#include "random.h"

struct attend_shape {
	size_t dim_k, dim_v, n_head, n_head_kv;
	size_t window, chunk;
	float cap;
	int slopes, sinks;      /* random ones */
	int v_in_k;
	int biases;
	size_t first, end;      /* as in struct attend */
};

/* One attention problem: its shape, the cache filled with `stored` positions, queries for all of them. */
struct setting {
	struct attend a;
	unsigned char **extent; /* [extents]: the blocks of all KV heads */
	size_t extents, stored;
	float *q, *slope, *sink, *bias;
	double *k, *v;          /* [KV heads][stored][dim]: widen() */
};

static void holds(int ok, const char *table, const char *what, const struct setting *s, size_t pos, size_t rows)
{
	check(ok, "%s: %s: %s dim %zu/%zu heads %zu/%zu window %zu chunk %zu from %zu to %zu cap %g%s%s%s pos %zu "
		"rows %zu", table, what,
		kv_type_name[s->a.type], s->a.dim_k, s->a.dim_v, s->a.n_head, s->a.n_head_kv, s->a.window, s->a.chunk,
		s->a.first, s->a.end, (double)s->a.cap, s->a.slope ? " slopes" : "", s->a.bias ? " biases" : "",
		s->a.sink ? " sinks" : "", pos, rows);
}

static float draw(void)
{
	return (float)(random_bits() >> 8) * 0x1p-23f - 1;
}

static void *get(size_t n, size_t size)
{
	void *p = aligned_alloc(64, (n * size + 63) / 64 * 64);

	if (!p)
		exit(1);
	memset(p, 0, n * size);
	return p;
}

static struct kv_head head_of(const struct setting *s, size_t h)
{
	return (struct kv_head){ .extent = s->extent,
		.offset = h * kv_block_bytes(s->a.type, s->a.dim_k, attend_stored_v(&s->a)),
		.h = h };
}

static struct kv_block block_of(const struct setting *s, size_t h, size_t pos)
{
	return kv_block_at(s->a.type, s->a.dim_k, attend_stored_v(&s->a),
		s->extent[pos / KV_EXTENT] + head_of(s, h).offset);
}

/* Element i of K or V, whose scale is scale[at]. */
static double cached(const struct setting *s, const void *from, size_t i, const uint16_t *scale, size_t at)
{
	switch (s->a.type) {
	case KV_F16: return f16_to_f32(((const uint16_t *)from)[i]);
	case KV_F32: return ((const float *)from)[i];
	case KV_Q4_0: return f16_to_f32(scale[at]) * (kv_code_4(from, i) - 8);
	default: return f16_to_f32(scale[at]) * ((const int8_t *)from)[i];
	}
}

static double stored_k(const struct setting *s, size_t h, size_t pos, size_t d)
{
	struct kv_block kv = block_of(s, h, pos);
	size_t dim = s->a.dim_k, j = pos % KV_EXTENT;

	return cached(s, kv.k, kv_k_index(s->a.type, dim, j, d), kv.k_scale, kv_scale_index(dim, j, d / KV_SCALED));
}

static double stored_v(const struct setting *s, size_t h, size_t pos, size_t d)
{
	struct kv_block kv = block_of(s, h, pos);
	size_t dim = s->a.dim_v, j = pos % KV_EXTENT;

	return cached(s, kv.v, kv_v_index(s->a.type, dim, j, d), kv.v_scale, kv_scale_index(dim, j, d / KV_SCALED));
}

/* y[dim] = x[dim] rotated back, by the definition. */
static void unrotate(const double *x, size_t dim, double *y)
{
	size_t block = kv_rotated(dim);

	for (size_t d = 0; d < dim; d++) {
		size_t first = d / block * block;

		y[d] = 0;
		for (size_t i = 0; i < block; i++)
			y[d] += (__builtin_popcountll((d - first) & i) % 2 ? -1 : 1) * x[first + i];
		y[d] /= sqrt((double)block);
	}
}

/* Fills s->k and s->v: all that is stored, in double precision. */
static void widen(struct setting *s)
{
	double x[576];

	s->k = get(s->a.n_head_kv * s->stored * s->a.dim_k, sizeof *s->k);
	s->v = get(s->a.n_head_kv * s->stored * s->a.dim_v, sizeof *s->v);
	for (size_t i = 0; i < s->a.n_head_kv * s->stored; i++) {
		size_t h = i / s->stored, pos = i % s->stored;
		double *k = s->k + i * s->a.dim_k, *v = s->v + i * s->a.dim_v;

		for (size_t d = 0; d < s->a.dim_k; d++)
			x[d] = k[d] = stored_k(s, h, pos, d);
		if (kv_coded(s->a.type))
			unrotate(x, s->a.dim_k, k);
		for (size_t d = 0; d < s->a.dim_v; d++)
			x[d] = v[d] = s->a.v_in_k ? k[d] : stored_v(s, h, pos, d);
		if (kv_coded(s->a.type) && !s->a.v_in_k)
			unrotate(x, s->a.dim_v, v);
	}
}

static double cached_k(const struct setting *s, size_t h, size_t pos, size_t d)
{
	return s->k[(h * s->stored + pos) * s->a.dim_k + d];
}

static double cached_v(const struct setting *s, size_t h, size_t pos, size_t d)
{
	return s->v[(h * s->stored + pos) * s->a.dim_v + d];
}

/* Fills positions [from, to) with NaN and infinity, as stale memory may contain them. */
static void soil(struct setting *s, size_t from, size_t end)
{
	size_t dim_k = s->a.dim_k, dim_v = attend_stored_v(&s->a);

	for (size_t h = 0; h < s->a.n_head_kv; h++)
		for (size_t pos = from; pos < end; pos++)
			for (size_t d = 0; d < dim_k + dim_v; d++) {
				struct kv_block kv = block_of(s, h, pos);
				int k = d < dim_k;
				size_t j = pos % KV_EXTENT, i = k ? kv_k_index(s->a.type, dim_k, j, d)
					: kv_v_index(s->a.type, dim_v, j, d - dim_k);
				size_t at = k ? kv_scale_index(dim_k, j, d / KV_SCALED) : kv_scale_index(dim_v, j,
					(d - dim_k) / KV_SCALED);
				uint16_t half = (pos + d) % 3 ? 0x7e00 : 0xfc00;
				void *to = k ? kv.k : kv.v;

				if (s->a.type == KV_F16)
					((uint16_t *)to)[i] = half;
				else if (s->a.type == KV_F32)
					((float *)to)[i] = (pos + d) % 3 ? NAN : -INFINITY;
				else {
					((int8_t *)to)[s->a.type == KV_Q4_0 ? i / 2 : i] = (int8_t)(pos + d);
					(k ? kv.k_scale : kv.v_scale)[at] = half;
				}
			}
}

static float *draws(size_t n, float most)
{
	float *x = get(n, sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = draw() * most;
	return x;
}

/* Random biases by distance, the same for all distances beyond ATTEND_NEAR. */
static float *biases(size_t heads)
{
	float *x = draws(heads * ATTEND_BIASES, 3);

	for (size_t i = 0; i < heads * ATTEND_BIASES; i++) {
		size_t at = i % ATTEND_BIASES, near = ATTEND_BIASES / 2 - ATTEND_NEAR;

		if (at < near)
			x[i] = x[i - at + near];
		else if (at > ATTEND_BIASES / 2 + ATTEND_NEAR)
			x[i] = x[i - 1];
	}
	return x;
}

static void set_up(struct setting *s, const struct attend_shape *shape, enum kv_type type, size_t stored,
	float sharpness)
{
	const struct kernels *scalar = kernels_each(0);
	float *row = get(shape->dim_k + shape->dim_v, sizeof *row);
	size_t n = stored * shape->n_head * shape->dim_k;

	*s = (struct setting){ .stored = stored, .extents = kv_extents(stored) };
	s->q = get(n, sizeof *s->q);
	for (size_t i = 0; i < n; i++)
		s->q[i] = draw() * sharpness;
	s->a = (struct attend){ .type = type, .dim_k = shape->dim_k, .dim_v = shape->dim_v, .n_head = shape->n_head,
		.n_head_kv = shape->n_head_kv, .window = shape->window, .chunk = shape->chunk, .cap = shape->cap,
		.v_in_k = shape->v_in_k, .first = shape->first, .end = shape->end,
		.scale = 1 / sqrtf((float)shape->dim_k), .q_stride = shape->n_head * shape->dim_k };
	s->a.slope = s->slope = shape->slopes ? draws(shape->n_head, 0.2f) : NULL;
	s->a.sink = s->sink = shape->sinks ? draws(shape->n_head, 4) : NULL;
	s->a.bias = s->bias = shape->biases ? biases(shape->n_head) : NULL;
	s->extent = get(s->extents, sizeof *s->extent);
	for (size_t i = 0; i < s->extents; i++)
		s->extent[i] = get(shape->n_head_kv, kv_block_bytes(type, shape->dim_k, attend_stored_v(&s->a)));
	for (size_t h = 0; h < shape->n_head_kv; h++)
		for (size_t pos = 0; pos < stored; pos++) {
			struct kv_block kv = block_of(s, h, pos);

			for (size_t d = 0; d < shape->dim_k + shape->dim_v; d++)
				row[d] = draw();
			scalar->kv_store(type, &kv, shape->dim_k, attend_stored_v(&s->a), pos % KV_EXTENT, row,
				row + shape->dim_k);
		}
	soil(s, 0, shape->first);
	soil(s, stored, s->extents * KV_EXTENT);
	free(row);
}

static void tear_down(struct setting *s)
{
	for (size_t i = 0; i < s->extents; i++)
		free(s->extent[i]);
	free(s->extent);
	free(s->q);
	free(s->slope);
	free(s->sink);
	free(s->bias);
	free(s->k);
	free(s->v);
}

/* Rows at positions [pos, pos + rows), in calls of up to `split` rows each, in batches of up to `batch`. The result is
 * the caller's to free. */
static float *run(const struct kernels *t, const struct setting *s, size_t pos, size_t rows, size_t batch, size_t split)
{
	struct attend a = s->a;
	size_t width = a.n_head * a.dim_v;
	float *out = get(rows * width, sizeof *out);
	size_t bytes = t->attend_scratch(a.dim_k, a.dim_v, a.n_head / a.n_head_kv);
	void *scratch = get(bytes, 1);

	memset(scratch, 0xff, bytes);   /* NaN */
	for (size_t b = 0; b < rows; b += batch) {
		size_t n = rows - b < batch ? rows - b : batch;

		a.pos = pos + b;
		a.q = s->q + a.pos * a.q_stride;
		a.out = out + b * width;
		for (size_t i = 0; i < n; i += split)
			for (size_t h = 0; h < a.n_head_kv; h++) {
				struct kv_head kv = head_of(s, h);

				t->attend(&a, &kv, i, i + split < n ? i + split : n, scratch);
			}
	}
	free(scratch);
	return out;
}

/* The same rows, block by block: runs of `each` blocks, the last run first, then joined. */
static float *run_blocks(const struct kernels *t, const struct setting *s, size_t pos, size_t rows, size_t each)
{
	struct attend a = s->a;
	size_t group = a.n_head / a.n_head_kv, end = attend_end(&a, pos + rows - 1);
	size_t blocks = (end + ATTEND_BLOCK - 1) / ATTEND_BLOCK,
		bytes = t->attend_scratch(a.dim_k, a.dim_v, group);
	float *out = get(rows * a.n_head * a.dim_v, sizeof *out);
	void *scratch = get(bytes, 1), *partials = get(blocks, t->attend_partial(a.dim_v, rows * group));

	memset(scratch, 0xff, bytes);
	memset(partials, 0xff, blocks * t->attend_partial(a.dim_v, rows * group));
	a.pos = pos;
	a.q = s->q + pos * a.q_stride;
	a.out = out;
	for (size_t h = 0; h < a.n_head_kv; h++) {
		struct kv_head kv = head_of(s, h);

		for (size_t run = (blocks + each - 1) / each; run-- > 0;)
			t->attend_blocks(&a, &kv, rows, run * each, run * each + each < blocks
				? run * each + each : blocks, partials, scratch);
		t->attend_join(&a, h, rows, partials, scratch);
	}
	free(scratch);
	free(partials);
	return out;
}

/* ---- against double precision ---- */

static double bias(const struct attend *a, size_t head, double distance)
{
	distance = fmin(fmax(distance, -ATTEND_NEAR), ATTEND_NEAR);
	return a->bias[head * ATTEND_BIASES + (size_t)(ATTEND_BIASES / 2 + distance)];
}

static size_t apart(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* How far the score of a key may be off because q is rounded: by less than 0.6 of a step of max|q| / 120. */
static double rounding(const struct setting *s, size_t h, const float *q, size_t pos)
{
	double e = 0;

	for (size_t d0 = 0; d0 < s->a.dim_k; d0 += KV_SCALED) {
		double most = 0, sum = 0;

		for (size_t d = d0; d < s->a.dim_k && d < d0 + KV_SCALED; d++) {
			most = fmax(most, fabs(q[d]));
			sum += fabs(cached_k(s, h, pos, d));
		}
		e += 0.6 / 120 * most * sum * s->a.scale;
	}
	return e;
}

static int right(const struct setting *s, const float *out, size_t pos, size_t head)
{
	const struct attend *a = &s->a;
	size_t h = head / (a->n_head / a->n_head_kv);
	size_t end = a->end ? a->end : pos + 1;
	double *p = get(end, sizeof *p), max = -INFINITY, sum = 0, worst = 0, e = 0;
	const float *q = s->q + pos * a->q_stride + head * a->dim_k;
	int codes = kv_coded(a->type);

	for (size_t j = a->first; j < end; j++) {
		p[j] = 0;
		for (size_t d = 0; d < a->dim_k; d++)
			p[j] += (double)q[d] * cached_k(s, h, j, d);
		p[j] *= a->scale;
		e = codes ? fmax(e, rounding(s, h, q, j)) : 0;
		if (a->cap > 0)
			p[j] = a->cap * tanh(p[j] / a->cap);
		if (a->slope)
			p[j] -= a->slope[head] * (double)apart(pos, j);
		if (a->bias)
			p[j] += bias(a, head, (double)j - (double)pos);
		if ((a->window && apart(pos, j) >= a->window) || (a->chunk && pos / a->chunk != j / a->chunk))
			p[j] = -INFINITY;
		max = fmax(max, p[j]);
	}
	if (a->sink) {
		max = fmax(max, a->sink[head]);
		sum = exp(a->sink[head] - max);
	}
	for (size_t j = a->first; j < end; j++)
		sum += p[j] = exp(p[j] - max);
	for (size_t d = 0; d < a->dim_v; d++) {
		double o = 0;

		for (size_t j = a->first; j < end; j++)
			o += p[j] / sum * cached_v(s, h, j, d);
		worst = fmax(worst, fabs(out[head * a->dim_v + d] - o));
	}
	free(p);
	/* weights are off by a factor of up to e^2e, and by half a step of 1/255 of the largest, each in its own way */
	return worst < (codes ? 0.03 + exp(2 * e) - 1 : 2e-5);
}

/* ---- the cases ---- */

/* All rows of a short prompt, divided in several ways. */
static void prompt_test(const struct attend_shape *shape, enum kv_type type, size_t n, float sharpness)
{
	static const size_t splits[][2] = { { 1, 1 }, { 17, 5 }, { 512, 512 }, { 512, 32 }, { 100, 7 } };
	const struct kernels *t;
	struct setting s;
	size_t width = shape->n_head * shape->dim_v;
	float *want;
	int ok = 1;

	if (!check_takes())
		return;
	set_up(&s, shape, type, n, sharpness);
	want = run(kernels_each(0), &s, 0, n, n, n);
	widen(&s);
	for (size_t i = 0; i < n; i += 37)
		for (size_t h = 0; h < shape->n_head; h++)
			ok = ok && right(&s, want + i * width, i, h);
	holds(ok, "scalar", "value", &s, 0, n);
	for (size_t i = 1; (t = kernels_each(i)); i++)
		for (size_t c = 0; c < sizeof splits / sizeof *splits; c++) {
			float *out = run(t, &s, 0, n, splits[c][0], splits[c][1]);

			holds(!memcmp(out, want, n * width * sizeof *out), t->name, "prompt", &s, splits[c][0],
				splits[c][1]);
			free(out);
		}
	free(want);
	tear_down(&s);
}

/* A few rows at a position, as in decoding or in checking a draft. Then again with NaN in K and V of the later half of
 * the rows, which the earlier rows must not see. */
static void decode_test(const struct attend_shape *shape, enum kv_type type, size_t pos, size_t rows)
{
	size_t width = shape->n_head * shape->dim_v, clean = rows / 2;
	const struct kernels *t;
	struct setting s;
	float *want, *out;

	if (!check_takes())
		return;
	set_up(&s, shape, type, pos + rows, 3);
	want = run(kernels_each(0), &s, pos, rows, rows, rows);
	for (size_t i = 1; (t = kernels_each(i)); i++) {
		out = run(t, &s, pos, rows, rows, rows);
		holds(!memcmp(out, want, rows * width * sizeof *out), t->name, "decode", &s, pos, rows);
		free(out);
	}
	for (size_t i = 0; (t = kernels_each(i)) && rows <= ATTEND_FEW; i++)
		for (size_t each = 1; each <= 4; each++) {
			out = run_blocks(t, &s, pos, rows, each);
			holds(!memcmp(out, want, rows * width * sizeof *out), t->name, "by blocks", &s, pos, rows);
			free(out);
		}
	soil(&s, pos + clean, s.extents * KV_EXTENT);
	for (size_t i = 0; (t = kernels_each(i)); i++) {
		out = run(t, &s, pos, rows, rows, rows);
		holds(!memcmp(out, want, clean * width * sizeof *out), t->name, "later keys soiled", &s, pos, rows);
		free(out);
	}
	free(want);
	tear_down(&s);
}

/* Rows that all see the same text, or only positions from `first` on. */
static void text_test(const struct attend_shape *shape, enum kv_type type, size_t pos, size_t rows)
{
	static const size_t splits[][2] = { { 1, 1 }, { 17, 5 }, { 512, 512 } };
	size_t width = shape->n_head * shape->dim_v;
	const struct kernels *t;
	struct setting s;
	float *want, *out;
	int ok = 1;

	if (!check_takes())
		return;
	set_up(&s, shape, type, pos + rows > shape->end ? pos + rows : shape->end, 2);
	want = run(kernels_each(0), &s, pos, rows, rows, rows);
	widen(&s);
	for (size_t i = 0; i < rows; i += 7)
		for (size_t h = 0; h < shape->n_head; h++)
			ok = ok && right(&s, want + i * width, pos + i, h);
	holds(ok, "scalar", "value", &s, pos, rows);
	for (size_t i = 1; (t = kernels_each(i)); i++)
		for (size_t c = 0; c < sizeof splits / sizeof *splits; c++) {
			out = run(t, &s, pos, rows, splits[c][0], splits[c][1]);
			holds(!memcmp(out, want, rows * width * sizeof *out), t->name, "text", &s, pos, rows);
			free(out);
		}
	for (size_t i = 0; (t = kernels_each(i)) && rows <= ATTEND_FEW; i++)
		for (size_t each = 1; each <= 2; each++) {
			out = run_blocks(t, &s, pos, rows, each);
			holds(!memcmp(out, want, rows * width * sizeof *out), t->name, "by blocks", &s, pos, rows);
			free(out);
		}
	free(want);
	tear_down(&s);
}

/* How far K and V in q8_0 move the result from that in f32, against the bound that follows from the rounding of one
 * element: half a step, of max|x|/127 in half precision (with what clamping loses, 0.57 of max|x|/127; here max|x| <
 * 1). Scores move by at most e = scale · sum|q| · 0.57/127, and as much again as q is rounded, so weights by a factor
 * of exp(4e), and values by 0.57/127. Weights are rounded to 1/255 of the largest, some up, some down. */
static void precision_test(const struct attend_shape *shape, size_t n)
{
	const struct kernels *scalar = kernels_each(0);
	const double step = 0.57 / 127;
	size_t width = shape->n_head * shape->dim_v;
	struct setting exact, coded;
	double squares = 0;
	float *want, *got;
	uint32_t same = random_state;
	int ok = 1;

	set_up(&exact, shape, KV_F32, n, 2);
	random_state = same;
	set_up(&coded, shape, KV_Q8_0, n, 2);
	want = run(scalar, &exact, 0, n, n, n);
	got = run(scalar, &coded, 0, n, n, n);
	for (size_t i = 0; i < n * shape->n_head; i++) {
		double e = 0;

		for (size_t d = 0; d < shape->dim_k; d++)
			e += fabs(exact.q[i * shape->dim_k + d]) * step * exact.a.scale;
		for (size_t d = 0; d < shape->dim_v; d++) {
			double off = fabs((double)got[i * shape->dim_v + d] - want[i * shape->dim_v + d]);

			ok = ok && off < step + 0.03 + exp(4 * e) - 1;
			squares += off * off;
		}
	}
	holds(ok, "scalar", "q8_0 against f32", &coded, 0, n);
	holds(sqrt(squares / (double)(n * width)) < 1.5e-3, "scalar", "q8_0 against f32, mean error", &coded, 0, n);
	free(want);
	free(got);
	tear_down(&exact);
	tear_down(&coded);
}

/* Copied K and V equal the stored ones; dim_v 0: K only. */
static void copy_test(enum kv_type type, size_t dim_k, size_t dim_v, size_t j, size_t i)
{
	const struct kernels *k = kernels_select("scalar");
	size_t bytes = kv_block_bytes(type, dim_k, dim_v);
	void *from = calloc(1, bytes), *copied = calloc(1, bytes), *stored = calloc(1, bytes);
	struct kv_block a = kv_block_at(type, dim_k, dim_v, from), b = kv_block_at(type, dim_k, dim_v, copied);
	struct kv_block c = kv_block_at(type, dim_k, dim_v, stored);
	float key[128];

	for (size_t d = 0; d < dim_k; d++)
		key[d] = (float)(d * d % 37) - 11.3f;
	k->kv_store(type, &a, dim_k, dim_v, j, key, key);
	k->kv_store(type, &c, dim_k, dim_v, i, key, key);
	kv_copy(type, dim_k, dim_v, &a, j, &b, i);
	check(!memcmp(copied, stored, bytes), "%s: a key of %zu, a value of %zu copied from %zu to %zu",
		kv_type_name[type], dim_k, dim_v, j, i);
	free(from);
	free(copied);
	free(stored);
}

int main(void)
{
	static const struct attend_shape shapes[] = {
		{ 8, 8, 2, .n_head_kv = 1 }, { 16, 16, 3, .n_head_kv = 3 }, { 32, 32, 6, .n_head_kv = 2 },
		{ 64, 64, 8, .n_head_kv = 2 }, { 64, 64, 9, .n_head_kv = 3 }, { 80, 80, 2, .n_head_kv = 2 },
		{ 96, 96, 4, .n_head_kv = 1 }, { 128, 128, 4, .n_head_kv = 2 }, { 256, 256, 8, .n_head_kv = 1 },
		{ 24, 40, 5, .n_head_kv = 1 }, { 192, 128, 6, .n_head_kv = 1 }, { 64, 64, 7, .n_head_kv = 1 },
		{ 64, 64, 16, .n_head_kv = 1 }, { 16, 16, 130, .n_head_kv = 1 }, { 20, 12, 71, .n_head_kv = 1 },
		{ 112, 112, 1, .n_head_kv = 1 },
	};
	static const struct attend_shape variants[] = {
		{ 16, 16, 2, 1, .window = 1 }, { 16, 16, 2, 1, .window = 16 }, { 8, 8, 3, 1, .window = 100 },
		{ 16, 16, 4, 2, .window = 128 }, { 8, 8, 1, 1, .window = 200 }, { 8, 8, 66, 1, .window = 40 },
		{ 16, 16, 2, 1, .chunk = 33 }, { 16, 16, 2, 1, .chunk = 128 }, { 8, 8, 6, 2, .cap = 5 },
		{ 8, 8, 6, 2, .slopes = 1 }, { 16, 20, 6, 2, .sinks = 1 }, { 16, 16, 2, 1, .window = 140, .sinks = 1 },
		{ 24, 16, 3, 1, .v_in_k = 1 }, { 40, 24, 1, 1, .v_in_k = 1 }, { 576, 512, 2, 1, .v_in_k = 1 },
		{ 16, 16, 2, 1, .window = 30, .chunk = 50, .cap = 3, .slopes = 1, .sinks = 1 },
	};
	static const struct {
		struct attend_shape shape;
		size_t pos, rows;
	} texts[] = {
		{ { 16, 16, 2, 1, .end = 40, .biases = 1 }, 0, 40 },
		{ { 16, 16, 4, 4, .end = 300, .biases = 1 }, 0, 300 },
		{ { 16, 16, 4, 2, .end = 300, .window = 5 }, 0, 300 },
		{ { 16, 16, 2, 2, .end = 300, .window = 65 }, 0, 300 },
		{ { 8, 8, 3, 3, .end = 140, .window = 129 }, 0, 140 },
		{ { 32, 32, 130, 1, .end = 200, .window = 33, .slopes = 1 }, 0, 200 },
		{ { 16, 12, 6, 2, .end = 400, .slopes = 1 }, 0, 400 },
		{ { 16, 16, 2, 1, .end = 400, .window = 20 }, 250, 1 },
		{ { 16, 16, 2, 1, .end = 400, .window = 9 }, 120, 8 },
		{ { 64, 64, 2, 2, .end = 129 }, 128, 1 }, { { 16, 12, 6, 2, .end = 7 }, 200, 3 },
		{ { 16, 16, 2, 1, .first = 1, .biases = 1 }, 1, 20 },
		{ { 8, 8, 2, 1, .first = 128, .biases = 1 }, 128, 9 },
		{ { 16, 16, 3, 3, .first = 127, .biases = 1 }, 127, 3 },
		{ { 16, 16, 2, 2, .first = 150, .biases = 1 }, 150, 270 },
		{ { 64, 64, 1, 1, .first = 333, .biases = 1 }, 600, 1 },
		{ { 24, 20, 4, 2, .first = 5, .window = 20, .biases = 1 }, 20, 150 },
	};
	static const size_t places[] = { 0, 1, 14, 15, 16, 31, 63, 126, 127, 128, 143, 255, 256, 300, 500 };
	static const size_t counts[] = { 1, 2, 3, 4, 8, 9, 40 };

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (int type = 0; type < KV_TYPES; type++) {
			/* of one query and position: the scalar table is slow */
			size_t work = shapes[i].dim_k * shapes[i].n_head;

			prompt_test(&shapes[i], type, work > 512 ? 71 : work > 200 ? 135 : 262, 2);
			prompt_test(&shapes[i], type, 33, 200);
			for (size_t p = (i * 2 + (size_t)type) % 5; p < sizeof places / sizeof *places; p += 5)
				for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
					if (work * counts[c] * (places[p] + counts[c]) < 1 << 19)
						decode_test(&shapes[i], type, places[p], counts[c]);
		}
	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
		for (int type = 0; type < KV_TYPES; type++) {
			prompt_test(&variants[i], type, variants[i].dim_k > 64 ? 40 : type == KV_F16 ? 262 : 150, 2);
			for (size_t p = (i + (size_t)type) % 5; p < sizeof places / sizeof *places; p += 5)
				for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
					if (variants[i].dim_k * counts[c] * (places[p] + counts[c]) < 1 << 17)
						decode_test(&variants[i], type, places[p], counts[c]);
		}
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (int type = 0; type < KV_TYPES; type++)
			text_test(&texts[i].shape, type, texts[i].pos, texts[i].rows);
	precision_test(&(struct attend_shape){ 64, 64, 4, .n_head_kv = 2 }, 200);
	precision_test(&(struct attend_shape){ 128, 128, 2, .n_head_kv = 1 }, 150);
	precision_test(&(struct attend_shape){ 80, 40, 3, .n_head_kv = 1 }, 100);
	for (int type = 0; type < KV_TYPES; type++)
		for (size_t i = 0; i < 7; i++)
			copy_test(type, 20 + 15 * i, 17 * i, i * 19 % 128, i * 53 % 128);
	return check_end("attend");
}
