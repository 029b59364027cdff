/* Dicts: pairs in order of insertion, with an index beside them once they are many. */
#include "priv.h"

#include <string.h>

enum { INDEXED_FROM = 12 };

struct jv jv_dict(struct env *e, enum jv_kind kind)
{
	struct jv_dict *d = arena_array(&e->arena, 1, sizeof *d);

	return d ? (struct jv){ .kind = (uint8_t)kind, .dict = d } : jv_full(e);
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* Equal keys have equal hashes (1, 1.0 and True are one key). -1: this cannot be a key. */
static int hash(struct env *e, struct jv key, uint64_t *h)
{
	double d;

	switch (key.kind) {
	case JV_NONE:
		*h = 1;
		return 0;
	case JV_BOOL:
	case JV_INT:
	case JV_FLOAT:
		d = jv_number(key) + 0.0;
		memcpy(h, &d, sizeof *h);
		*h = mix(*h);
		return 0;
	case JV_STR:
	case JV_BIG:
		*h = 0xcbf29ce484222325u;
		for (uint32_t i = 0; i < key.n; i++)
			*h = (*h ^ (unsigned char)key.s[i]) * 0x100000001b3u;
		*h = mix(*h);
		return jinja_tick(e, key.n / 16);
	case JV_TUPLE:
		if (jinja_deeper(e))
			return -1;
		*h = 2;
		for (uint32_t i = 0; i < key.list->n; i++) {
			uint64_t item;

			if (hash(e, key.list->items[i], &item)) {
				e->depth--;
				return -1;
			}
			*h = mix(*h * 31 + item);
		}
		e->depth--;
		return 0;
	default:
		return -1;
	}
}

/* The pair's place, or -1. */
static int64_t find(struct env *e, const struct jv_dict *d, struct jv key, uint64_t h)
{
	if (!d->index) {
		for (uint32_t i = 0; i < d->n; i++)
			if (d->pairs[i].hash == h && jv_equal(e, d->pairs[i].key, key) == 1)
				return i;
		jinja_tick(e, d->n / 8);
		return -1;
	}
	for (uint32_t at = (uint32_t)h & d->mask; d->index[at]; at = (at + 1) & d->mask) {
		uint32_t i = d->index[at] - 1;

		if (d->pairs[i].hash == h && jv_equal(e, d->pairs[i].key, key) == 1)
			return i;
		jinja_tick(e, 1);
	}
	return -1;
}

static void index_pair(struct jv_dict *d, uint32_t i)
{
	uint32_t at = (uint32_t)d->pairs[i].hash & d->mask;

	while (d->index[at])
		at = (at + 1) & d->mask;
	d->index[at] = i + 1;
}

static int build_index(struct env *e, struct jv_dict *d)
{
	uint32_t size = 32;

	while (size < d->cap * 2)
		size *= 2;
	d->index = arena_array(&e->arena, size, sizeof *d->index);
	if (!d->index || jinja_tick(e, d->n))
		return -1;
	d->mask = size - 1;
	for (uint32_t i = 0; i < d->n; i++)
		index_pair(d, i);
	return 0;
}

static int grow(struct env *e, struct jv_dict *d)
{
	uint32_t cap = d->cap ? d->cap * 2 : 4;
	struct jv_pair *pairs = arena_array(&e->arena, cap, sizeof *pairs);

	if (!pairs)
		return -1;
	if (d->n)
		memcpy(pairs, d->pairs, d->n * sizeof *pairs);
	d->pairs = pairs;
	d->cap = cap;
	return d->n >= INDEXED_FROM ? build_index(e, d) : 0;
}

int jv_dict_set(struct env *e, struct jv_dict *d, struct jv key, struct jv value)
{
	uint64_t h;
	int64_t at;

	if (hash(e, key, &h)) {
		jv_fail(e, "unhashable type: '%s'", jv_type(key));
		return -1;
	}
	at = find(e, d, key, h);
	if (at >= 0) {
		d->pairs[at].value = value;
		return 0;
	}
	if (d->n == d->cap && grow(e, d)) {
		jv_full(e);
		return -1;
	}
	d->pairs[d->n] = (struct jv_pair){ key, value, h };
	d->n++;
	if (d->index)
		index_pair(d, d->n - 1);
	return 0;
}

struct jv *jv_dict_get(struct env *e, const struct jv_dict *d, struct jv key)
{
	uint64_t h;
	int64_t at;

	if (!d->n || hash(e, key, &h))
		return NULL;
	at = find(e, d, key, h);
	return at < 0 ? NULL : &d->pairs[at].value;
}

void jv_dict_remove(struct jv_dict *d, uint32_t place)
{
	memmove(d->pairs + place, d->pairs + place + 1, (d->n - place - 1) * sizeof *d->pairs);
	d->n--;
	d->index = NULL;
}
