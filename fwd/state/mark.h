/* mark: a number of a segment's header that a kill or a flipped bit makes unknown, never wrong. */
#ifndef MARK_H
#define MARK_H

#include <stdatomic.h>
#include <stdint.h>

struct mark {                   /* known if check is the complement of value */
	_Atomic uint64_t value, check;
};

/* 0 where it is not known. */
static inline uint64_t mark_value(const struct mark *m)
{
	uint64_t value = atomic_load(&m->value);

	return atomic_load(&m->check) == ~value ? value : 0;
}

/* Whether it is known to be this value. */
static inline int mark_is(const struct mark *m, uint64_t value)
{
	return atomic_load(&m->value) == value && atomic_load(&m->check) == ~value;
}

static inline void mark_forget(struct mark *m)
{
	atomic_store(&m->check, atomic_load(&m->value));
}

/* A kill in between leaves one that is not known. */
static inline void mark_set(struct mark *m, uint64_t value)
{
	mark_forget(m);
	atomic_store(&m->value, value);
	atomic_store(&m->check, ~value);
}

#endif
