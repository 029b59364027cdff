/* index: finds children of JSON values by name, and notes about values, in constant time. Private to lib/schema. */
#ifndef SCHEMA_INDEX_H
#define SCHEMA_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/json.h"
#include "lib/base/slots.h"

struct index_entry;

struct index {                          /* starts as zeroes */
	struct index_entry *entry;      /* [room] */
	size_t room;
	struct slots slots;     /* of the entries */
	int failed;             /* out of memory, sticky; nothing is reliable then */
};

void index_free(struct index *x);

/* The member name[n] of an object, or the string name[n] in an array; the last one if there are several. NULL:
 * there is none, or `of` is NULL or of another type. Values that have been searched must not change any more. */
const struct json *index_find(struct index *x, const struct json *of, const char *name, size_t n);

/* A hash of s[n], for other tables; what is hashed with different seeds differs. */
uint64_t index_hash(uint64_t seed, const void *s, size_t n);

/* Notes a value under a key; returns what was noted, or NULL. */
void index_note(struct index *x, const void *key, const void *value);
const void *index_noted(struct index *x, const void *key);

/* The same under a key and name[n], which must stay where it is. */
void index_name(struct index *x, const void *key, const char *name, size_t n, const void *value);
const void *index_named(const struct index *x, const void *key, const char *name, size_t n);

/* The same under a pair of keys, for which the arena is used. */
void index_pair(struct index *x, struct arena *a, const void *first, const void *second, const void *value);
const void *index_paired(const struct index *x, const void *first, const void *second);

#endif
