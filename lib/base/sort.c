/* A radix sort by the first bytes, then a comparison sort of strings that agree in these. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#include "size.h"

enum { KEY_BYTES = 8 };

struct item {
	uint64_t key;           /* the first bytes, big-endian, padded with zeros */
	struct sort_string string;
};

static uint64_t key_of(const struct sort_string *t)
{
	uint64_t key = 0;

	for (size_t i = 0; i < KEY_BYTES; i++)
		key = key << 8 | (i < t->n ? (unsigned char)t->s[i] : 0);
	return key;
}

static int compare(const void *a, const void *b)
{
	const struct sort_string *s = &((const struct item *)a)->string, *t = &((const struct item *)b)->string;
	int order = memcmp(s->s, t->s, size_min(s->n, t->n));

	if (!order)
		order = (s->n > t->n) - (s->n < t->n);
	return order ? order : (s->id > t->id) - (s->id < t->id);
}

/* Sorts by one byte of the key in each pass, from the last to the first. Stable. The number of passes is even, so the
 * result is in a again. */
static void sort_by_key(struct item *a, struct item *b, size_t n)
{
	for (unsigned shift = 0; shift < 8 * KEY_BYTES; shift += 8) {
		size_t at[257] = { 0 };
		struct item *other = b;

		for (size_t i = 0; i < n; i++)
			at[(a[i].key >> shift & 255) + 1]++;
		for (int byte = 0; byte < 255; byte++)
			at[byte + 1] += at[byte];
		for (size_t i = 0; i < n; i++)
			b[at[a[i].key >> shift & 255]++] = a[i];
		b = a;
		a = other;
	}
}

int sort_strings(struct sort_string *string, size_t n)
{
	struct item *item = malloc(2 * (n + 1) * sizeof *item);

	if (!item)
		return -1;
	for (size_t i = 0; i < n; i++)
		item[i] = (struct item){ key_of(&string[i]), string[i] };
	sort_by_key(item, item + n, n);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && item[end].key == item[i].key; end++)
			;
		if (end > i + 1)
			qsort(item + i, end - i, sizeof *item, compare);
	}
	for (size_t i = 0; i < n; i++)
		string[i] = item[i].string;
	free(item);
	return 0;
}
