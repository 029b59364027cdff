/* Zeroes invalid data, so that nothing that was cut off remains, and saved segments are small. */
#include <string.h>

#include "ids.h"
#include "recent.h"
#include "recurrent.h"
#include "segment.h"

/* Zeroes the groups that include positions from `from` on. Returns the end of the groups. */
static unsigned char *clear_groups(const struct segment_heads *h, unsigned char *at, size_t from)
{
	size_t bytes = h->dim_v * sizeof(float), first = from / (KV_EXTENT / h->n);

	memset(at + first * bytes, 0, (h->n - first) * bytes);
	return at + h->n * bytes;
}

/* Zeroes positions from `from` on, of all heads in the list. */
static void clear(const struct segment *s, const struct segment_heads list[SEGMENT_SIZES], unsigned char *at,
	size_t from)
{
	enum kv_type type = (enum kv_type)s->shape.kv_type;

	for (size_t i = 0; i < SEGMENT_SIZES; i++) {
		if (shape_is_grouped(&list[i])) {
			at = clear_groups(&list[i], at, from);
			continue;
		}
		for (uint32_t n = 0; n < list[i].n; n++) {
			kv_block_clear(type, list[i].dim_k, list[i].dim_v, at, from);
			at += kv_block_bytes(type, list[i].dim_k, list[i].dim_v);
		}
	}
}

void segment_scrub(struct segment *s)
{
	static const int32_t zeroes[KV_EXTENT];
	size_t n = kv_extents(s->length), left = n * KV_EXTENT - s->length;
	unsigned char *data;

	if (!n)
		return;
	segment_write_ids(s, s->length, zeroes, left);
	segment_data(s, n - 1, &data);
	clear(s, s->shape.heads[0], data, KV_EXTENT - left);
	for (size_t i = 0; i < n && i < recent_extents(&s->shape); i++)
		clear(s, s->shape.heads[1], s->recent[i], recent_valid(s, i));
	recurrent_scrub(s);
}
