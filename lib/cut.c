/* cut: selection by the bits of floats, eight at a time from the highest, so that no row, however it is made, costs more than another. */
#include "cut.h"

#include <math.h>
#include <string.h>

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

struct cut cut_at(const float *key, const float *weight, size_t n, double target)
{
	uint32_t prefix = 0, mask = 0, k;
	double reached = 0, sum[256];
	size_t count[256], i;
	struct cut c = { 0, 0 };
	int shift, b, lowest;

	for (shift = 24; shift >= 0; shift -= 8) {
		memset(count, 0, sizeof count);
		memset(sum, 0, sizeof sum);
		for (i = 0; i < n; i++) {
			k = order(key[i]);
			if ((k & mask) == prefix) {
				count[k >> shift & 255]++;
				sum[k >> shift & 255] += weight ? weight[i] : 1;
			}
		}
		/* Down to the group in which the target is reached; the lowest one if it is not. */
		for (lowest = 0; !count[lowest]; lowest++)
			;
		for (b = 255; b > lowest && (!count[b] || reached + sum[b] < target); b--)
			reached += sum[b];
		prefix |= (uint32_t)b << shift;
		mask |= 255u << shift;
	}
	c.value = unorder(prefix);
	for (i = 0; i < n && (!c.ties || reached < target); i++)
		if (key[i] == c.value) {
			c.ties++;
			reached += weight ? weight[i] : 1;
		}
	return c;
}

/* Leaves the best k of the n indices, in their order; returns the smallest value among them. */
static float prune(const float *x, int32_t *at, float *scratch, size_t n, size_t k)
{
	struct cut c;
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		scratch[i] = x[at[i]];
	c = cut_at(scratch, NULL, n, (double)k);
	for (i = 0; i < n; i++)
		if (scratch[i] > c.value || (scratch[i] == c.value && c.ties && c.ties--))
			at[kept++] = at[i];
	return c.value;
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

size_t cut_best(const float *x, size_t n, size_t k, int32_t *at, float *scratch)
{
	float low = -INFINITY;
	size_t i, have = 0;

	if (!k)
		return 0;
	/* An element joins if it beats the k-th best so far; one that equals it comes later in the row and loses. */
	for (i = cut_next(x, 0, n, low); i < n; i = cut_next(x, i + 1, n, low)) {
		if (x[i] != x[i])
			continue;
		at[have++] = (int32_t)i;
		if (have == CUT_ROOM(k)) {
			low = prune(x, at, scratch, have, k);
			have = k;
		}
	}
	if (have > k)
		prune(x, at, scratch, have, k);
	return have < k ? have : k;
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
