/* mark: a number in a segment's header. If a kill interrupts its update, or a bit flips, it becomes unknown rather than
 * wrong. */
#ifndef MARK_H
#define MARK_H

#include <stdatomic.h>
#include <stdint.h>

struct mark {                   /* valid if check is the complement of value */
	_Atomic uint64_t value, check;
};

/* The value, or 0 if it is unknown. */
static inline uint64_t mark_value(const struct mark *m)
{
	uint64_t value = atomic_load(&m->value);

	return atomic_load(&m->check) == ~value ? value : 0;
}

/* Whether the value is known and equal to this one. */
static inline int mark_is(const struct mark *m, uint64_t value)
{
	return atomic_load(&m->value) == value && atomic_load(&m->check) == ~value;
}

static inline void mark_forget(struct mark *m)
{
	atomic_store(&m->check, atomic_load(&m->value));
}

/* Sets the value. A kill in between leaves the mark unknown. */
static inline void mark_set(struct mark *m, uint64_t value)
{
	mark_forget(m);
	atomic_store(&m->value, value);
	atomic_store(&m->check, ~value);
}

#endif
