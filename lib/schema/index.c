/* A hash table of (parent, name). A parent with few children is searched directly; a larger one is entered in the
 * table when it is first searched. */
#include "index.h"

#include "lib/base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 12 };

static const char entered[] = "\xff";   /* notes that a parent is in the table: no name in UTF-8 */

struct index_entry {
	const void *parent;
	const char *name;               /* name[n]; NULL for what was noted under the parent itself */
	size_t n;
	const void *value;
};

void index_free(struct index *x)
{
	free(x->entry);
	free(x->slots.slot);
	*x = (struct index){ 0 };
}

uint64_t index_hash(uint64_t seed, const void *s, size_t n)
{
	uint64_t h = seed * 0x9e3779b97f4a7c15u;

	for (const unsigned char *p = s; n--; p++)
		h = (h ^ *p) * 0x100000001b3u;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* The slot of that name, or the free one where it belongs. There is at least one. */
static struct slot *slot(const struct index *x, const void *parent, const char *name, size_t n, uint32_t h)
{
	struct slot *s = slots_first(&x->slots, h);

	for (; s->index; s = slots_next(&x->slots, s)) {
		const struct index_entry *e = &x->entry[s->index - 1];

		if (s->hash == h && e->parent == parent && !e->name == !name && e->n == n
			&& !(n && memcmp(e->name, name, n)))
			break;
	}
	return s;
}

static void enter(struct index *x, const void *parent, const char *name, size_t n, const void *value)
{
	uint32_t h = (uint32_t)index_hash((uintptr_t)parent, name, n);
	struct slot *s;

	x->failed |= slots_reserve(&x->slots)
		|| (x->slots.n == x->room && grow(&x->entry, &x->room, sizeof *x->entry, 128));
	if (x->failed)
		return;
	s = slot(x, parent, name, n, h);
	if (!s->index)
		slots_put(&x->slots, s, h, x->slots.n);
	x->entry[s->index - 1] = (struct index_entry){ parent, name, n, value };
}

static const void *look_up(const struct index *x, const void *parent, const char *name, size_t n)
{
	const struct slot *s;

	if (!x->slots.n)
		return NULL;
	s = slot(x, parent, name, n, (uint32_t)index_hash((uintptr_t)parent, name, n));
	return s->index ? x->entry[s->index - 1].value : NULL;
}

void index_note(struct index *x, const void *key, const void *value)
{
	enter(x, key, NULL, 0, value);
}

const void *index_noted(struct index *x, const void *key)
{
	return look_up(x, key, NULL, 0);
}

static const char *name_of(const struct json *child, size_t *n)
{
	*n = child->key ? child->key_n : child->n;
	return child->key ? child->key : child->type == JSON_STRING ? child->s : NULL;
}

const struct json *index_find(struct index *x, const struct json *of, const char *name, size_t n)
{
	const struct json *found = NULL;
	const char *s;
	size_t len;

	if (!of || (of->type != JSON_OBJECT && of->type != JSON_ARRAY))
		return NULL;
	if (of->n > FEW && !look_up(x, of, entered, 1)) {
		enter(x, of, entered, 1, of);
		for (const struct json *v = of->child; v; v = v->next)
			if ((s = name_of(v, &len)))
				enter(x, of, s, len, v);
	}
	if (of->n > FEW)
		return look_up(x, of, name, n);
	for (const struct json *v = of->child; v; v = v->next)
		if ((s = name_of(v, &len)) && len == n && !memcmp(s, name, n))
			found = v;
	return found;
}

void index_pair(struct index *x, struct arena *a, const void *first, const void *second, const void *value)
{
	const void **key = arena_alloc(a, sizeof *key);

	x->failed |= !key;
	if (!key)
		return;
	*key = second;
	enter(x, first, (const char *)key, sizeof *key, value);
}

const void *index_paired(const struct index *x, const void *first, const void *second)
{
	return look_up(x, first, (const char *)&second, sizeof second);
}

void index_name(struct index *x, const void *key, const char *name, size_t n, const void *value)
{
	enter(x, key, name, n, value);
}

const void *index_named(const struct index *x, const void *key, const char *name, size_t n)
{
	return look_up(x, key, name, n);
}
