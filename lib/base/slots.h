/* slots: a hash table of the indices of an array. The caller has the elements, hashes and compares them:
 *
 *	struct slot *s;
 *
 *	if (slots_reserve(&t))
 *		return -1;
 *	for (s = slots_first(&t, hash); s->index; s = slots_next(&t, s))
 *		if (s->hash == hash && element[s->index - 1] is the one)
 *			return s->index - 1;
 *	element[n] = ...
 *	slots_put(&t, s, hash, n++);
 */
#ifndef SLOTS_H
#define SLOTS_H

#include <stdint.h>

struct slots {                          /* starts as zeros; the owner frees slot */
	struct slot {
		uint32_t hash;
		uint32_t index;         /* of the element, plus 1; 0: the slot is free */
	} *slot;                        /* [room], at least half of them free */
	uint32_t n, room;
};

/* Makes room for one more element. -1: out of memory, and nothing has changed. */
int slots_double(struct slots *t);

static inline int slots_reserve(struct slots *t)
{
	return t->n < t->room / 2 ? 0 : slots_double(t);
}

static inline struct slot *slots_first(const struct slots *t, uint32_t hash)
{
	return &t->slot[hash & (t->room - 1)];
}

static inline struct slot *slots_next(const struct slots *t, struct slot *s)
{
	return s + 1 == t->slot + t->room ? t->slot : s + 1;
}

/* Puts an element in s, the free slot at which the search ended. */
static inline void slots_put(struct slots *t, struct slot *s, uint32_t hash, uint32_t index)
{
	*s = (struct slot){ hash, index + 1 };
	t->n++;
}

#endif
