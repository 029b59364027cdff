/* Shapes: which are possible, which are equal, and their sizes. */
#include "shape.h"

#include <string.h>

#include "lib/base/size.h"
#include "recent.h"
#include "recurrent.h"

static const uint64_t BYTES_MAX = (uint64_t)1 << 51;    /* of an extent's data */

void shape_add_heads(struct segment_heads list[SEGMENT_SIZES], struct segment_heads h)
{
	size_t i = 0;

	while (i < SEGMENT_SIZES && list[i].n)
		i++;
	if (i && !shape_is_grouped(&h) && list[i - 1].dim_k == h.dim_k && list[i - 1].dim_v == h.dim_v)
		list[i - 1].n += h.n;
	else if (i < SEGMENT_SIZES)
		list[i] = h;
	else    /* the list is incomplete (shape.h) */
		list[i - 1] = (struct segment_heads){ 1, 0, 0 };
}

/* Whether these heads fit in this many bytes. */
static int fit_in(const struct segment_heads *h, uint32_t kv_type, uint64_t bytes)
{
	for (const struct segment_heads *end = h + SEGMENT_SIZES; h < end; h++) {
		uint64_t each;

		if (h->n > 1 << 24 || h->dim_k > 1 << 20 || h->dim_v > 1 << 20)
			return 0;
		if (shape_is_grouped(h) && (!h->n || KV_EXTENT % h->n))
			return 0;
		each = shape_is_grouped(h) ? h->dim_v * sizeof(float)
			: kv_block_bytes((enum kv_type)kv_type, h->dim_k, h->dim_v);
		if (each && h->n > bytes / each)
			return 0;
		bytes -= h->n * each;
	}
	return 1;
}

int shape_check(const struct segment_shape *p, struct why *w)
{
	if (p->n_layer < 1 || p->n_layer > 1 << 14 || p->bytes > BYTES_MAX || p->bytes % 64)
		return why(w, "unsupported: %u layers of %llu bytes", p->n_layer, (unsigned long long)p->bytes);
	if (p->recent_bytes > BYTES_MAX || p->recent_bytes % 64 || p->window > SEGMENT_CTX_MAX)
		return why(w, "unsupported: windows of %llu positions, %llu bytes", (unsigned long long)p->window,
			(unsigned long long)p->recent_bytes);
	if (p->kv_type >= KV_TYPES)
		return why(w, "kv_type %u", p->kv_type);
	if (p->extent != KV_EXTENT)
		return why(w, "extents of %u positions", p->extent);
	if (!fit_in(p->heads[0], p->kv_type, p->bytes) || !fit_in(p->heads[1], p->kv_type, p->recent_bytes))
		return why(w, "its KV heads do not fit its size");
	return recurrent_check(p, w);
}

int shape_compare(const struct segment_shape *a, const struct segment_shape *b, struct why *w)
{
	if (a->model != b->model)
		return why(w, "made by another model: fingerprint %016llx, this one's is %016llx",
			(unsigned long long)a->model, (unsigned long long)b->model);
	if (a->arithmetic != b->arithmetic)
		return why(w, "made by another version of the arithmetic: %llu, this one is %llu",
			(unsigned long long)a->arithmetic, (unsigned long long)b->arithmetic);
	if (a->kv_type != b->kv_type)
		return why(w, "made with kv_type %s, not %s", kv_type_name[a->kv_type], kv_type_name[b->kv_type]);
	if (a->n_layer != b->n_layer || a->layout != b->layout
	    || memcmp(a->heads, b->heads, sizeof a->heads) || a->bytes != b->bytes
	    || a->recent_bytes != b->recent_bytes || a->window != b->window)
		return why(w, "made for %u layers of %llu bytes a token, not %u of %llu", a->n_layer,
			(unsigned long long)a->bytes / KV_EXTENT, b->n_layer, (unsigned long long)b->bytes / KV_EXTENT);
	if (a->state_bytes != b->state_bytes || a->row_bytes != b->row_bytes || a->keeps_current != b->keeps_current)
		return why(w, "made for recurrent state of %llu bytes, not %llu",
			(unsigned long long)a->state_bytes, (unsigned long long)b->state_bytes);
	if (a->choices != b->choices)
		return why(w, "made with another --override, --lora or --control-vector, or other RoPE settings");
	return 0;
}

size_t shape_extent_bytes(const struct segment_shape *p, size_t i)
{
	return SEGMENT_IDS + p->bytes + (i < recent_extents(p) ? p->recent_bytes : 0);
}

int shape_fits(const struct segment_shape *p, size_t positions)
{
	return kv_extents(positions) <= SIZE_MAX / 4 / shape_extent_bytes(p, 0);
}

size_t shape_bytes(const struct segment_shape *p, size_t n)
{
	return SEGMENT_HEADER + (n ? recurrent_fixed(p) + recurrent_snapshots(n) * p->state_bytes : 0)
		+ n * (SEGMENT_IDS + p->bytes) + size_min(n, recent_extents(p)) * p->recent_bytes;
}

size_t shape_extent_at(const struct segment_shape *p, size_t i)
{
	return shape_bytes(p, i + 1) - shape_extent_bytes(p, i);
}
