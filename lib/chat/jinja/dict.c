/* Dicts: pairs in order of insertion. Large dicts also have a hash index. And sorting pairs by their keys. */
#include "value.h"

#include "lib/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { INDEXED_FROM = 12 };

struct jv jv_dict(struct env *e, enum jv_kind kind)
{
	return (struct jv){ .kind = (uint8_t)kind, .dict = ENV_NEW(e, struct jv_dict) };
}

/* Equal keys have equal hashes (1, 1.0 and True are one key). Returns false if the value cannot be a key. */
static bool hash(struct env *e, struct jv key, uint64_t *h)
{
	bool hashable = true;
	uint64_t item = 0;
	double d;

	env_tick(e, 1);
	if (jv_in(key, KIND(JV_STR) | KIND(JV_BYTES) | KIND(JV_BIG)))
		env_tick(e, key.n / 16);
	if (jv_in(key, JV_NUMBERS | KIND(JV_BIG))) {
		d = (key.kind == JV_BIG ? strtod(key.s, NULL) : jv_number(key)) + 0.0;
		memcpy(&item, &d, sizeof item);
	} else if (jv_in(key, KIND(JV_STR) | KIND(JV_BYTES))) {
		item = hash_text(key.s, key.n);
	} else if (key.kind == JV_TUPLE) {
		env_enter(e);
		*h = 2;
		for (uint32_t i = 0; hashable && i < key.list->n; i++) {
			hashable = hash(e, key.list->items[i], &item);
			*h = hash_add(*h, item);
		}
		e->depth--;
		return hashable;
	}
	*h = hash_add(1, item);
	return key.kind != JV_UNDEF && key.kind < JV_LIST;
}

/* The pair's number, or -1. */
static int64_t find(struct env *e, const struct jv_dict *d, struct jv key, uint64_t h)
{
	if (!d->index) {
		for (uint32_t i = 0; i < d->n; i++)
			if (d->pairs[i].hash == h && jv_equal(e, d->pairs[i].key, key)) {
				env_tick(e, i / 8);
				return i;
			}
		env_tick(e, d->n / 8);
		return -1;
	}
	for (uint32_t at = (uint32_t)h & d->mask; d->index[at]; at = (at + 1) & d->mask) {
		uint32_t i = d->index[at] - 1;

		if (d->pairs[i].hash == h && jv_equal(e, d->pairs[i].key, key))
			return i;
		env_tick(e, 1);
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

static void grow(struct env *e, struct jv_dict *d)
{
	uint32_t cap = d->cap ? d->cap * 2 : 4, size = 32;
	struct jv_pair *pairs = env_array(e, cap, sizeof *pairs);

	if (d->n)
		memcpy(pairs, d->pairs, d->n * sizeof *pairs);
	d->pairs = pairs;
	d->cap = cap;
	if (d->n < INDEXED_FROM)
		return;
	while (size < cap * 2)
		size *= 2;
	env_tick(e, d->n);
	d->index = env_array(e, size, sizeof *d->index);
	d->mask = size - 1;
	for (uint32_t i = 0; i < d->n; i++)
		index_pair(d, i);
}

void jv_dict_set(struct env *e, struct jv_dict *d, struct jv key, struct jv value)
{
	uint64_t h;
	int64_t at;

	if (!hash(e, key, &h))
		env_fail(e, "unhashable type: '%s'", jv_type(key));
	at = find(e, d, key, h);
	if (at >= 0) {
		d->pairs[at].value = value;
		return;
	}
	if (d->n == d->cap)
		grow(e, d);
	d->pairs[d->n++] = (struct jv_pair){ key, value, h };
	if (d->index)
		index_pair(d, d->n - 1);
}

struct jv *jv_dict_get(struct env *e, const struct jv_dict *d, struct jv key)
{
	uint64_t h;
	int64_t at = d->n && hash(e, key, &h) ? find(e, d, key, h) : -1;

	return at < 0 ? NULL : &d->pairs[at].value;
}

void jv_dict_remove(struct jv_dict *d, struct jv *value)
{
	size_t i = (size_t)((struct jv_pair *)((char *)value - offsetof(struct jv_pair, value)) - d->pairs);

	memmove(d->pairs + i, d->pairs + i + 1, (d->n - i - 1) * sizeof *d->pairs);
	d->n--;
	d->index = NULL;
}

void jv_dict_merge(struct env *e, struct jv_dict *d, const struct jv_dict *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		jv_dict_set(e, d, more->pairs[i].key, more->pairs[i].value);
}

/* Merge sort, which is stable and never worse than n log n. room[n] is scratch. */
static void sort(struct env *e, struct jv_pair *pairs, struct jv_pair *room, size_t n, bool reverse)
{
	size_t i = 0, j = n / 2;

	if (n < 2)
		return;
	env_tick(e, n);
	sort(e, pairs, room, j, reverse);
	sort(e, pairs + j, room, n - j, reverse);
	for (size_t k = 0; k < n; k++) {
		int order = i < n / 2 && j < n ? jv_order(e, pairs[j].key, pairs[i].key, "<") : 0;

		room[k] = i == n / 2 || (j < n && (reverse ? order > 0 : order < 0)) ? pairs[j++] : pairs[i++];
	}
	memcpy(pairs, room, n * sizeof *pairs);
}

void jv_sort(struct env *e, struct jv_pair *pairs, uint32_t n, bool reverse)
{
	sort(e, pairs, env_array(e, n, sizeof *pairs), n, reverse);
}
