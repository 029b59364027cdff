/* cut: selection by the bits of floats, eight at a time from the highest in which they differ, so that no row, however it is made, costs much more than
 * another. */
#include "cut.h"

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

float cut_below(float f)
{
	/* −0 has a place in the order that no float takes. */
	return unorder(order(f) - (f == 0 ? 2 : 1));
}

/* How many bits from the lowest up two integers differ in: 0 to 32. */
static int width(uint32_t a, uint32_t b)
{
	int n = 0;

	for (a ^= b; a; a >>= 1)
		n++;
	return n;
}

/* The least and the largest of x[n] within [*low, *high]; there is one. */
static void bounds(const float *x, size_t n, float *low, float *high)
{
	float least = INFINITY, most = -INFINITY;
	size_t i;

	for (i = 0; i < n; i++) {
		least = x[i] >= *low && x[i] < least ? x[i] : least;
		most = x[i] <= *high && x[i] > most ? x[i] : most;
	}
	*low = least;
	*high = most;
}

/* Groups by the 8 highest bits in which keys within [low, high] differ. Even and odd places are counted apart, or neighbours in one group would wait
 * for each other. */
struct groups {
	int shift;
	uint32_t base;
	size_t count[2][256];
	double sum[2][256];
};

static void group(struct groups *g, const float *key, const float *weight, size_t n, float low, float high)
{
	uint32_t d;
	size_t i;

	g->shift = width(order(low), order(high)) - 8;
	g->shift = g->shift > 0 ? g->shift : 0;
	g->base = order(low) >> g->shift;
	memset(g->count, 0, sizeof g->count);
	memset(g->sum, 0, sizeof g->sum);
	for (i = 0; i < n; i++)
		if (key[i] >= low && key[i] <= high) {
			d = (order(key[i]) >> g->shift) - g->base;
			g->count[i & 1][d]++;
			g->sum[i & 1][d] += weight ? weight[i] : 1;
		}
}

enum { FEW = 2048 };

struct cut cut_at(const float *key, const float *weight, size_t n, double target)
{
	float low = -INFINITY, high = INFINITY, few[FEW], few_weight[FEW];
	double reached = 0, sum;
	struct groups g;
	struct cut c = { 0, 0 };
	uint32_t last, d;
	size_t i, m;

	for (;;) {
		bounds(key, n, &low, &high);
		if (low == high)
			break;
		group(&g, key, weight, n, low, high);
		/* Down to the group in which the target is reached; the last one if it is not. */
		last = (order(high) >> g.shift) - g.base;
		for (d = last; d > 0; d--) {
			sum = g.sum[0][d] + g.sum[1][d];
			if (reached + sum >= target && g.count[0][d] + g.count[1][d])
				break;
			reached += sum;
		}
		low = d > 0 ? unorder((g.base + d) << g.shift) : low;
		high = d < last ? cut_below(unorder((g.base + d + 1) << g.shift)) : high;
		if (n <= FEW || g.count[0][d] + g.count[1][d] > FEW)
			continue;
		for (m = i = 0; i < n; i++)
			if (key[i] >= low && key[i] <= high) {
				few[m] = key[i];
				few_weight[m++] = weight ? weight[i] : 1;
			}
		return cut_at(few, few_weight, m, target - reached);
	}
	c.value = low;
	for (i = 0; i < n && (!c.ties || reached < target); i++)
		if (key[i] == c.value) {
			c.ties++;
			reached += weight ? weight[i] : 1;
		}
	return c;
}

size_t cut_next(const float *x, size_t i, size_t n, float low)
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

float cut_max(const float *x, size_t n)
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

/* Where the k best of x[n] end. The k-th largest of more than k blocks' maxima is reached by k elements at least; those above it stand in fewer than k
 * blocks. max[blocks] are the maxima, and behind them there is room for n. */
static struct cut best_end(const float *x, size_t n, size_t k, float *max, size_t blocks)
{
	float low, *above = max + blocks;
	size_t b, i, end, m = 0;

	if (blocks <= k)
		return cut_at(x, NULL, n, (double)k);
	low = cut_at(max, NULL, blocks, (double)k).value;
	for (b = 0; b < blocks; b++) {
		if (!(max[b] > low))
			continue;
		end = size_min(b * BLOCK + BLOCK, n);
		for (i = b * BLOCK; i < end; i++)
			if (x[i] > low)
				above[m++] = x[i];
	}
	return m >= k ? cut_at(above, NULL, m, (double)k) : (struct cut){ low, k - m };
}

size_t cut_best(const float *x, size_t n, size_t k, int32_t *at, float *scratch)
{
	size_t blocks, b, i, end, have = 0;
	struct cut c;

	if (!k || !n)
		return 0;
	blocks = (n + BLOCK - 1) / BLOCK;
	for (b = 0; b < blocks; b++)
		scratch[b] = cut_max(x + b * BLOCK, size_min(n - b * BLOCK, BLOCK));
	c = best_end(x, n, k, scratch, blocks);
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

/* Moves at[i] down to its place in a heap that has the worst on top. */
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

size_t cut_best_sorted(const float *x, size_t n, size_t k, int32_t *at, float *scratch)
{
	size_t have = cut_best(x, n, k, at, scratch), i;
	int32_t worst;

	/* The worst, on top of the heap, goes to the end. */
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
