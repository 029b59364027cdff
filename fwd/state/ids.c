/* Copying ids to and from the extents, part by part. */
#include "ids.h"

#include <string.h>

#include "lib/base/size.h"

static int32_t *ids_at(const struct segment *s, size_t pos)
{
	return (int32_t *)(void *)s->extent[pos / KV_EXTENT] + pos % KV_EXTENT;
}

int32_t segment_id(const struct segment *s, size_t pos)
{
	return *ids_at(s, pos);
}

const int32_t *segment_ids(const struct segment *s, size_t pos)
{
	return ids_at(s, pos);
}

void segment_read_ids(const struct segment *s, size_t pos, int32_t *ids, size_t n)
{
	for (size_t some; n; pos += some, ids += some, n -= some) {
		some = size_min(n, KV_EXTENT - pos % KV_EXTENT);
		memcpy(ids, ids_at(s, pos), some * sizeof *ids);
	}
}

void segment_write_ids(struct segment *s, size_t pos, const int32_t *ids, size_t n)
{
	for (size_t some; n; pos += some, ids += some, n -= some) {
		some = size_min(n, KV_EXTENT - pos % KV_EXTENT);
		memcpy(ids_at(s, pos), ids, some * sizeof *ids);
	}
}

size_t segment_find(const struct segment *s, size_t end, int32_t id)
{
	for (size_t pos = 0; pos < end; pos++)
		if (segment_id(s, pos) == id)
			return pos;
	return SIZE_MAX;
}

int segment_check_ids(const struct segment *s, size_t n_vocab, struct why *w)
{
	for (size_t pos = 0; pos < s->length; pos++)
		if ((uint32_t)segment_id(s, pos) >= n_vocab) {
			why(w, "token %zu is %ld, but the vocabulary has %zu", pos, (long)segment_id(s, pos), n_vocab);
			return object_why(s->name, w);
		}
	return 0;
}
