/* topk: radix selection on the bits of floats, eight at a time from the highest in which they differ, so that no input
 * is much slower than another. */
#include "topk.h"

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
	float least[LANES], most[LANES];
	size_t i, k;

	for (k = 0; k < LANES; k++) {
		least[k] = INFINITY;
		most[k] = -INFINITY;
	}
	for (i = 0; i < n; i += LANES)
		for (k = 0; k < LANES && i + k < n; k++) {
			float a = x[i + k] >= *low ? x[i + k] : INFINITY, b = x[i + k] <= *high ? x[i + k] : -INFINITY;

			least[k] = a < least[k] ? a : least[k];
			most[k] = b > most[k] ? b : most[k];
		}
	for (k = 1; k < LANES; k++) {
		least[0] = least[k] < least[0] ? least[k] : least[0];
		most[0] = most[k] > most[0] ? most[k] : most[0];
	}
	*low = least[0];
	*high = most[0];
}

enum { BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS };

/* A histogram by the highest bits in which keys within [low, high] differ. Even and odd indices are counted separately,
 * so that neighbours in the same bucket do not wait for each other's store. */
struct histogram {
	int shift;
	uint32_t base;
	uint32_t count[2][BUCKETS];
	double sum[2][BUCKETS];
};

static void count(struct histogram *h, const float *key, const float *weight, size_t n, float low, float high)
{
	uint32_t d;
	size_t i;

	h->shift = width(order(low), order(high)) - BUCKET_BITS;
	h->shift = h->shift > 0 ? h->shift : 0;
	h->base = order(low) >> h->shift;
	memset(h->count, 0, sizeof h->count);
	memset(h->sum, 0, sizeof h->sum);
	for (i = 0; i < n; i++)
		if (key[i] >= low && key[i] <= high) {
			d = (order(key[i]) >> h->shift) - h->base;
			h->count[i & 1][d]++;
			h->sum[i & 1][d] += weight ? weight[i] : 1;
		}
}

enum { FEW = 8192 };

struct threshold topk_threshold(const float *key, const float *weight, size_t n, double target)
{
	float low = -INFINITY, high = INFINITY, few[FEW], few_weight[FEW];
	double reached = 0, sum;
	struct histogram h;
	struct threshold c = { 0, 0 };
	uint32_t last, d;
	size_t i, m;

	for (;;) {
		bounds(key, n, &low, &high);
		if (low == high)
			break;
		count(&h, key, weight, n, low, high);
		/* Down to the bucket in which the target is reached; the lowest if it is not. */
		last = (order(high) >> h.shift) - h.base;
		for (d = last; d > 0; d--) {
			sum = h.sum[0][d] + h.sum[1][d];
			if (reached + sum >= target && h.count[0][d] + h.count[1][d])
				break;
			reached += sum;
		}
		low = d > 0 ? unorder((h.base + d) << h.shift) : low;
		high = d < last ? topk_below(unorder((h.base + d + 1) << h.shift)) : high;
		if (n <= FEW || h.count[0][d] + h.count[1][d] > FEW)
			continue;
		for (m = i = 0; i < n; i++)
			if (key[i] >= low && key[i] <= high) {
				few[m] = key[i];
				few_weight[m++] = weight ? weight[i] : 1;
			}
		return topk_threshold(few, few_weight, m, target - reached);
	}
	c.value = low;
	for (i = 0; i < n && (!c.ties || reached < target); i++)
		if (key[i] == c.value) {
			c.ties++;
			reached += weight ? weight[i] : 1;
		}
	return c;
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

float topk_max(const float *x, size_t n)
{
	float v[16];
	size_t i, k;

	for (k = 0; k < 16; k++)
		v[k] = -INFINITY;
	for (i = 0; n - i >= 16; i += 16)
		for (k = 0; k < 16; k++)
			v[k] = x[i + k] > v[k] ? x[i + k] : v[k];
	for (; i < n; i++)
		v[0] = x[i] > v[0] ? x[i] : v[0];
	for (k = 1; k < 16; k++)
		v[0] = v[k] > v[0] ? v[k] : v[0];
	return v[0];
}

/* ---- the k best ---- */

enum { BLOCK = 64 };

/* The threshold of the k largest of x[n]. If there are more than k blocks, at least k elements reach the k-th largest
 * of the blocks' maxima, and those above it lie in fewer than k blocks. max[blocks] are the maxima; n floats of scratch
 * follow them. */
static struct threshold largest_k(const float *x, size_t n, size_t k, float *max, size_t blocks)
{
	float low, *above = max + blocks;
	size_t b, i, end, m = 0;

	if (blocks <= k)
		return topk_threshold(x, NULL, n, (double)k);
	low = topk_threshold(max, NULL, blocks, (double)k).value;
	for (b = 0; b < blocks; b++) {
		if (!(max[b] > low))
			continue;
		end = size_min(b * BLOCK + BLOCK, n);
		for (i = b * BLOCK; i < end; i++)
			if (x[i] > low)
				above[m++] = x[i];
	}
	return m >= k ? topk_threshold(above, NULL, m, (double)k) : (struct threshold){ low, k - m };
}

size_t topk_select(const float *x, size_t n, size_t k, int32_t *at, float *scratch)
{
	size_t blocks, b, i, end, have = 0;
	struct threshold c;

	if (!k || !n)
		return 0;
	blocks = (n + BLOCK - 1) / BLOCK;
	for (b = 0; b < blocks; b++)
		scratch[b] = topk_max(x + b * BLOCK, size_min(n - b * BLOCK, BLOCK));
	c = largest_k(x, n, k, scratch, blocks);
	if (c.value == -INFINITY)
		c.ties = 0;
	for (b = 0; b < blocks && have < k; b++) {
		if (!(scratch[b] >= c.value))
			continue;
		end = size_min(b * BLOCK + BLOCK, n);
		for (i = b * BLOCK; i < end; i++)
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
