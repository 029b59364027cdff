/* A radix search finds the least score among the best. Only if it leaves out items of the same score does a heap decide
 * which of these are taken: its root has the least score, and a later item with a larger score replaces it. */
#include "best.h"

#include <string.h>

#include "lib/base/size.h"

/* Maps x to an integer with the same order. */
static uint32_t rank(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits >> 31 ? ~bits : bits | 1u << 31;
}

static uint32_t rank_of(const struct best *b, size_t i)
{
	return rank(b->score[i / b->each]);
}

/* The rank of the least of the best, searched from the highest byte on; *spare: how many items of this rank are left
 * out. */
static uint32_t least_rank(const struct best *b, size_t *spare)
{
	size_t best = b->best, groups = size_divide_up(b->n, b->each);
	uint32_t found = 0;

	for (int shift = 24; shift >= 0; shift -= 8) {
		size_t count[256] = { 0 };
		uint32_t byte = 255;

		for (size_t g = 0; g < groups; g++)
			if (shift == 24 || rank(b->score[g]) >> (shift + 8) == found >> (shift + 8))
				count[rank(b->score[g]) >> shift & 255] += g + 1 < groups ? b->each
					: b->n - g * b->each;
		for (; count[byte] < best; byte--)
			best -= count[byte];
		found |= byte << shift;
		*spare = count[byte] - best;
	}
	return found;
}

/* ---- the heap ---- */

static int is_less(const struct best *b, int32_t i, int32_t j)
{
	return b->score[(size_t)i / b->each] < b->score[(size_t)j / b->each];
}

/* Puts an item into the free place `at`. Lesser children move up, of equal ones the second, until a leaf is free; from
 * there the item rises past larger parents. */
static void sift(const struct best *b, int32_t *heap, size_t at, int32_t item)
{
	size_t top = at, n = b->best, child;

	for (; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && !is_less(b, heap[child], heap[child + 1]))
			child++;
		heap[at] = heap[child];
	}
	for (; at > top && is_less(b, item, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = item;
}

static void fill_heap(const struct best *b, int32_t *heap)
{
	for (size_t i = 0; i < b->best; i++)
		heap[i] = (int32_t)i;
	for (size_t i = b->best / 2; i-- > 0;)
		sift(b, heap, i, heap[i]);
	for (size_t i = b->best; i < b->n; i++)
		if (is_less(b, heap[0], (int32_t)i))
			sift(b, heap, 0, (int32_t)i);
}

/* Sorts ascending, by one byte after the other; qsort() may allocate memory. spare: [n] */
static void sort(int32_t *x, int32_t *spare, size_t n)
{
	for (int shift = 0; shift < 32; shift += 8) {
		size_t first[257] = { 0 };

		for (size_t i = 0; i < n; i++)
			first[((uint32_t)x[i] >> shift & 255) + 1]++;
		for (size_t i = 0; i < 256; i++)
			first[i + 1] += first[i];
		for (size_t i = 0; i < n; i++)
			spare[first[(uint32_t)x[i] >> shift & 255]++] = x[i];
		memcpy(x, spare, n * sizeof *x);
	}
}

/* ---- both ---- */

size_t best_scratch(size_t best)
{
	return best * sizeof(int32_t);
}

void best_of(const struct best *b, int32_t *to, void *scratch)
{
	size_t spare;
	uint32_t least = least_rank(b, &spare);

	if (spare) {
		fill_heap(b, to);
		sort(to, scratch, b->best);
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		if (rank_of(b, i) >= least)
			*to++ = (int32_t)i;
}
