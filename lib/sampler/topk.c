/* topk: selection by histograms. The first has steps of equal width, which suits logits and most else. If it leaves too
 * many keys in one step, radix selection follows on the bits of the floats, from the highest in which they differ, so
 * that no input is much slower than another. */
#include "topk.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/size.h"

/* Unsigned integers in the order of the floats; −0 is 0. */
static uint32_t order(float f)
{
	uint32_t u;

	f += 0.0f;
	memcpy(&u, &f, sizeof u);
	return u ^ (u >> 31 ? 0xffffffffu : 0x80000000u);
}

static float unorder(uint32_t u)
{
	float f;

	u ^= u >> 31 ? 0x80000000u : 0xffffffffu;
	memcpy(&f, &u, sizeof f);
	return f;
}

float topk_below(float f)
{
	/* order() never returns the code of −0. */
	return unorder(order(f) - (f == 0 ? 2 : 1));
}

/* The position of the highest bit in which two integers differ, plus one: 0 to 32. */
static int width(uint32_t a, uint32_t b)
{
	int n = 0;

	for (a ^= b; a; a >>= 1)
		n++;
	return n;
}

enum { LANES = 16 };

/* Narrows [*low, *high] to the least and the largest of x[n] within it; there is at least one. */
static void bounds(const float *x, size_t n, float *low, float *high)
{
	float least[LANES], most[LANES], a, b;
	size_t i, k;

	for (k = 0; k < LANES; k++) {
		least[k] = INFINITY;
		most[k] = -INFINITY;
	}
	for (i = 0; n - i >= LANES; i += LANES)
		for (k = 0; k < LANES; k++) {
			a = x[i + k] >= *low ? x[i + k] : INFINITY;
			b = x[i + k] <= *high ? x[i + k] : -INFINITY;
			least[k] = a < least[k] ? a : least[k];
			most[k] = b > most[k] ? b : most[k];
		}
	for (; i < n; i++) {
		a = x[i] >= *low ? x[i] : INFINITY;
		b = x[i] <= *high ? x[i] : -INFINITY;
		least[0] = a < least[0] ? a : least[0];
		most[0] = b > most[0] ? b : most[0];
	}
	for (k = 1; k < LANES; k++) {
		least[0] = least[k] < least[0] ? least[k] : least[0];
		most[0] = most[k] > most[0] ? most[k] : most[0];
	}
	*low = least[0];
	*high = most[0];
}

/* ---- thresholds ---- */

enum { BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS };

/* A histogram by the highest bits in which keys within [low, high] differ: by fewer bits for few keys, because clearing
 * the buckets would take longer than counting. Even and odd indices are counted separately, so that neighbours in the
 * same bucket do not wait for each other's store. */
struct histogram {
	int shift;
	uint32_t base;
	uint32_t count[2][BUCKETS];
	double sum[2][BUCKETS];
};

static void count(struct histogram *h, const float *key, const float *weight, size_t n, float low, float high)
{
	int bits = n < 512 ? 6 : n < 4096 ? 8 : BUCKET_BITS;
	uint32_t d;
	size_t i;

	h->shift = width(order(low), order(high)) - bits;
	h->shift = h->shift > 0 ? h->shift : 0;
	h->base = order(low) >> h->shift;
	for (i = 0; i < 2; i++) {
		memset(h->count[i], 0, sizeof *h->count[i] << bits);
		memset(h->sum[i], 0, sizeof *h->sum[i] << bits);
	}
	for (i = 0; i < n; i++)
		if (key[i] >= low && key[i] <= high) {
			d = (order(key[i]) >> h->shift) - h->base;
			h->count[i & 1][d]++;
			h->sum[i & 1][d] += weight ? weight[i] : 1;
		}
}

/* Keys within [low, high], which the threshold is among, and the sum of the weights of all larger keys. */
struct range {
	float low, high;
	double above;
};

static struct threshold radix_threshold(const float *key, const float *weight, size_t n, double target, struct range r)
{
	struct histogram h;
	struct threshold c = { 0, 0 };
	uint32_t last, d;
	double sum;
	size_t i;

	for (;;) {
		bounds(key, n, &r.low, &r.high);
		if (r.low == r.high)
			break;
		count(&h, key, weight, n, r.low, r.high);
		/* Down to the bucket in which the target is reached; the lowest if it is not. */
		last = (order(r.high) >> h.shift) - h.base;
		for (d = last; d > 0; d--) {
			sum = h.sum[0][d] + h.sum[1][d];
			if (r.above + sum >= target && h.count[0][d] + h.count[1][d])
				break;
			r.above += sum;
		}
		r.low = d > 0 ? unorder((h.base + d) << h.shift) : r.low;
		r.high = d < last ? topk_below(unorder((h.base + d + 1) << h.shift)) : r.high;
	}
	c.value = r.low;
	for (i = 0; i < n && (!c.ties || r.above < target); i++)
		if (key[i] == c.value) {
			c.ties++;
			r.above += weight ? weight[i] : 1;
		}
	return c;
}

/* ---- steps ---- */

enum { FEW = 8192, STEPS = 1024 };

struct few {
	float key[FEW], weight[FEW];
	size_t n;               /* more than FEW: there was no room for the rest */
};

/* Ranges of equal width, numbered from the largest key down. */
struct steps {
	float high, scale;
};

static inline int32_t step_of(const struct steps *s, float key)
{
	float d = (s->high - key) * s->scale;

	return (int32_t)(d < STEPS - 1 ? d : STEPS - 1);
}

/* The step in which the target is reached, or the last; *above is the sum of those before it. */
static int32_t find_step(const struct steps *s, const float *key, const float *weight, size_t n, double target,
	double *above)
{
	static const float one[LANES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	double even[STEPS] = { 0 }, odd[STEPS] = { 0 };         /* as in struct histogram */
	int32_t step[LANES], d;
	size_t i, k;

	for (i = 0; n - i >= LANES; i += LANES) {
		const float *w = weight ? weight + i : one;

		for (k = 0; k < LANES; k++)
			step[k] = step_of(s, key[i + k]);
		for (k = 0; k < LANES; k += 2) {
			even[step[k]] += w[k];
			odd[step[k + 1]] += w[k + 1];
		}
	}
	for (; i < n; i++)
		even[step_of(s, key[i])] += weight ? weight[i] : 1;
	for (*above = 0, d = 0; d < STEPS - 1 && *above + (even[d] + odd[d]) < target; d++)
		*above += even[d] + odd[d];
	return d;
}

/* Appends those of key[n] that are in this step, and extends the range to them. */
static void take_step(const struct steps *s, int32_t step, const float *key, const float *weight, size_t n,
	struct range *r, struct few *few)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (step_of(s, key[i]) != step)
			continue;
		r->low = key[i] < r->low ? key[i] : r->low;
		r->high = key[i] > r->high ? key[i] : r->high;
		if (few->n < FEW) {
			few->key[few->n] = key[i];
			few->weight[few->n] = weight ? weight[i] : 1;
		}
		few->n++;
	}
}

/* Finds the range of the step in which the target is reached, and its keys unless there are too many. Returns 0 if the
 * keys differ too little or too much to have steps. */
static int narrow(const float *key, const float *weight, size_t n, double target, struct range *r, struct few *few)
{
	float low = -FLT_MAX, high = INFINITY;
	struct steps s;
	int32_t step;
	size_t i, k;
	int any;

	bounds(key, n, &low, &high);
	s = (struct steps){ high, STEPS / (high - low) };
	if (!(s.scale > 0 && s.scale <= FLT_MAX))
		return 0;
	step = find_step(&s, key, weight, n, target, &r->above);
	r->low = INFINITY;
	r->high = -INFINITY;
	few->n = 0;
	for (i = 0; n - i >= LANES; i += LANES) {
		for (any = 0, k = 0; k < LANES; k++)
			any |= step_of(&s, key[i + k]) == step;
		if (any)
			take_step(&s, step, key + i, weight ? weight + i : NULL, LANES, r, few);
	}
	take_step(&s, step, key + i, weight ? weight + i : NULL, n - i, r, few);
	return 1;
}

struct threshold topk_threshold(const float *key, const float *weight, size_t n, double target)
{
	struct range r = { -INFINITY, INFINITY, 0 };
	struct few few;

	if (n > FEW && narrow(key, weight, n, target, &r, &few) && few.n <= FEW)
		return radix_threshold(few.key, few.weight, few.n, target, r);
	return radix_threshold(key, weight, n, target, r);
}

size_t topk_next_above(const float *x, size_t i, size_t n, float low)
{
	size_t k;
	int any;

	for (;;) {
		if (i % 16 == 0)
			for (; n - i >= 16; i += 16) {
				for (any = 0, k = 0; k < 16; k++)
					any |= !(x[i + k] <= low);
				if (any)
					break;
			}
		if (i == n || !(x[i] <= low))
			return i;
		i++;
	}
}

size_t topk_count(const float *x, size_t n, float least)
{
	uint32_t lane[LANES] = { 0 };
	size_t i, k, sum = 0;

	for (i = 0; n - i >= LANES; i += LANES)
		for (k = 0; k < LANES; k++)
			lane[k] += x[i + k] >= least;
	for (; i < n; i++)
		sum += x[i] >= least;
	for (k = 0; k < LANES; k++)
		sum += lane[k];
	return sum;
}

float topk_max(const float *x, size_t n)
{
	float v[LANES];
	size_t i, k, half;

	for (k = 0; k < LANES; k++)
		v[k] = -INFINITY;
	for (i = 0; n - i >= LANES; i += LANES)
		for (k = 0; k < LANES; k++)
			v[k] = x[i + k] > v[k] ? x[i + k] : v[k];
	for (; i < n; i++)
		v[0] = x[i] > v[0] ? x[i] : v[0];
	for (half = LANES / 2; half; half /= 2)
		for (k = 0; k < half; k++)
			v[k] = v[k + half] > v[k] ? v[k + half] : v[k];
	return v[0];
}

float topk_max_finite(const float *x, size_t n, int *finite)
{
	float v[LANES], zero[LANES] = { 0 };    /* zero: NaN after a number that is not finite */
	size_t i, k;

	for (k = 0; k < LANES; k++)
		v[k] = -INFINITY;
	for (i = 0; n - i >= LANES; i += LANES)
		for (k = 0; k < LANES; k++) {
			v[k] = x[i + k] > v[k] ? x[i + k] : v[k];
			zero[k] += x[i + k] * 0;
		}
	for (; i < n; i++) {
		v[0] = x[i] > v[0] ? x[i] : v[0];
		zero[0] += x[i] * 0;
	}
	for (k = 1; k < LANES; k++) {
		v[0] = v[k] > v[0] ? v[k] : v[0];
		zero[0] += zero[k];
	}
	*finite = zero[0] == 0;
	return v[0];
}

/* ---- the k best ---- */

/* Elements of a block. A short row has more blocks of fewer, so that few elements are looked at one by one. */
static size_t block_of(size_t n)
{
	return n <= 4096 ? TOPK_BLOCK : 4 * TOPK_BLOCK;
}

/* The threshold of the k largest of x[n]. If there are more than k blocks, at least k elements reach the k-th largest
 * of the blocks' maxima, and those above it lie in fewer than k blocks. max[blocks] are the maxima; n floats of scratch
 * follow them. */
static struct threshold largest_k(const float *x, size_t n, size_t k, float *max, size_t blocks)
{
	float low, *above = max + blocks;
	size_t block = block_of(n), b, i, end, m = 0;

	if (blocks <= k)
		return topk_threshold(x, NULL, n, (double)k);
	low = topk_threshold(max, NULL, blocks, (double)k).value;
	for (b = 0; b < blocks; b++) {
		if (!(max[b] > low))
			continue;
		end = size_min(b * block + block, n);
		for (i = b * block; i < end; i++)
			if (x[i] > low)
				above[m++] = x[i];
	}
	return m >= k ? topk_threshold(above, NULL, m, (double)k) : (struct threshold){ low, k - m };
}

size_t topk_select(const float *x, size_t n, size_t k, int32_t *at, float *scratch)
{
	size_t block = block_of(n), blocks = (n + block - 1) / block, b, i, end, have = 0;
	struct threshold c;

	if (!k || !n)
		return 0;
	for (b = 0; b < blocks; b++)
		scratch[b] = topk_max(x + b * block, size_min(n - b * block, block));
	c = largest_k(x, n, k, scratch, blocks);
	if (c.value == -INFINITY)
		c.ties = 0;
	for (b = 0; b < blocks && have < k; b++) {
		if (!(scratch[b] >= c.value))
			continue;
		end = size_min(b * block + block, n);
		for (i = b * block; i < end; i++)
			if (x[i] > c.value || (x[i] == c.value && c.ties && c.ties--))
				at[have++] = (int32_t)i;
	}
	return have;
}

static int worse(const float *x, int32_t a, int32_t b)
{
	return x[a] < x[b] || (x[a] == x[b] && a > b);
}

/* Sifts at[i] down in a heap that has the worst on top. */
static void sift(const float *x, int32_t *at, size_t n, size_t i)
{
	int32_t moved = at[i];
	size_t child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && worse(x, at[child + 1], at[child]))
			child++;
		if (!worse(x, at[child], moved))
			break;
		at[i] = at[child];
		i = child;
	}
	at[i] = moved;
}

size_t topk_sorted(const float *x, size_t n, size_t k, int32_t *at, float *scratch)
{
	size_t have = topk_select(x, n, k, at, scratch), i;
	int32_t worst;

	/* Heap sort: the worst, on top of the heap, goes to the end. */
	for (i = have / 2; i > 0; i--)
		sift(x, at, have, i - 1);
	for (i = have; i > 1; i--) {
		worst = at[0];
		at[0] = at[i - 1];
		sift(x, at, i - 1, 0);
		at[i - 1] = worst;
	}
	return have;
}
