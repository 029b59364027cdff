/* memo: a cache of values that take time to make; the key of each is what it was made of. Beyond the limits, those that
 * have not been used for the longest time are closed; values that are in use stay in any case.
 *
 *	struct memo m = { .items = 16, .bytes = 1 << 20, .close = my_close };
 *
 *	if (!(v = memo_find(&m, key, n))) {
 *		v = ... make it ...
 *		if (memo_put(&m, key, n, v, size))
 *			... out of memory: v is still the caller's ...
 *	}
 *	... use v ...
 *	memo_release(&m, v);
 */
#ifndef MEMO_H
#define MEMO_H

#include <stddef.h>

struct memo {
	size_t items, bytes;            /* limits: number of values; bytes of keys and values */
	void (*close)(void *value);
	struct memo_item *first;        /* private: most recently used first; starts as NULL */
	size_t n, used;
};

/* The value with this key, which is then in use; or NULL. */
void *memo_find(struct memo *m, const void *key, size_t n);

/* Adds a value of about `size` bytes, which is then in use. No other value may have the key, which is copied. -1: out
 * of memory, and nothing has changed. */
int memo_put(struct memo *m, const void *key, size_t n, void *value, size_t size);

/* Ends one use of the value, which may be closed now or later. */
void memo_release(struct memo *m, void *value);

/* Closes all values, none of which may be in use. */
void memo_clear(struct memo *m);

#endif
