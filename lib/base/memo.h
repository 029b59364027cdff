/* memo: values that take time to make, found again by a key: what they were made of. Those that were used last stay,
 * as many as the limits allow; a value that is in use stays in any case.
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
	size_t items, bytes;            /* limits: of values, and of their keys and sizes together */
	void (*close)(void *value);
	struct memo_item *first;        /* private: the one that was used last, and so on; starts as NULL */
	size_t n, used;
};

/* The value with this key, which is then in use; or NULL. */
void *memo_find(struct memo *m, const void *key, size_t n);

/* Adds a value of about `size` bytes, which is in use; no value has the key, which is copied. -1: out of memory, and
 * nothing has changed. */
int memo_put(struct memo *m, const void *key, size_t n, void *value, size_t size);

/* The value has a user less. */
void memo_release(struct memo *m, void *value);

/* Closes all values, which are no longer in use. */
void memo_clear(struct memo *m);

#endif
