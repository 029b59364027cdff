/* A hash table of (parent, name). A parent with few children is searched directly; a larger one is entered in the
 * table when it is first searched. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 12 };

static const char entered[] = "\xff";   /* notes that a parent is in the table: no name in UTF-8 */

struct index_entry {
	const void *parent;             /* NULL: a free slot */
	const char *name;               /* name[n]; NULL for what was noted under the parent itself */
	size_t n;
	const void *value;
};

void index_free(struct index *x)
{
	free(x->entry);
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

/* The entry of that name, or the free slot where it belongs. */
static struct index_entry *slot(const struct index *x, const void *parent, const char *name, size_t n)
{
	size_t at = (size_t)index_hash((uintptr_t)parent, name, n) & (x->slots - 1);

	for (;; at = (at + 1) & (x->slots - 1)) {
		struct index_entry *e = &x->entry[at];

		if (!e->parent)
			return e;
		if (e->parent == parent && !e->name == !name && e->n == n && !(n && memcmp(e->name, name, n)))
			return e;
	}
}

static int more_slots(struct index *x)
{
	struct index old = *x;

	x->slots = old.slots ? old.slots * 2 : 256;
	x->entry = calloc(x->slots, sizeof *x->entry);
	if (!x->entry) {
		*x = old;
		x->failed = 1;
		return -1;
	}
	for (size_t i = 0; i < old.slots; i++)
		if (old.entry[i].parent)
			*slot(x, old.entry[i].parent, old.entry[i].name, old.entry[i].n) = old.entry[i];
	free(old.entry);
	return 0;
}

static void enter(struct index *x, const void *parent, const char *name, size_t n, const void *value)
{
	struct index_entry *e;

	if (x->n * 2 >= x->slots && more_slots(x))
		return;
	e = slot(x, parent, name, n);
	x->n += !e->parent;
	*e = (struct index_entry){ parent, name, n, value };
}

static const void *look_up(const struct index *x, const void *parent, const char *name, size_t n)
{
	return x->slots ? slot(x, parent, name, n)->value : NULL;
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
