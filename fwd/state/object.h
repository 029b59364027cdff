/* object: what a named segment lies in. A name without a slash is a POSIX shared-memory object of this user, one with a
 * slash is a file of that path. Both are opened, locked, grown and removed alike. */
#ifndef OBJECT_H
#define OBJECT_H

#include <stddef.h>
#include <sys/stat.h>

#include "lib/base/why.h"

enum { OBJECT_NAME_MAX = 200 };

struct object {
	int fd;                 /* -1: not open */
	int made;               /* there was none of this name before */
	/* private */
	const char *file;       /* the path, borrowed; NULL: shared memory, */
	char shared[256];       /* of this name */
};

/* 0, or why a name cannot be used: without a slash it has 1 to 200 letters, digits, '.', '_' and '-', and does not
 * begin with a dot. */
int object_check_name(const char *name, struct why *w);

/* Opens the object for reading and writing; create: makes it, empty and with mode 0600, where there is none. `name`
 * must outlive *o. Checks it as object_check() does. Whatever happens, object_close() is due. */
int object_open(struct object *o, const char *name, int create, struct why *w);
void object_close(struct object *o);

/* A regular file of this user that nobody else may write (nor, in shared memory, read). *st is its state. */
int object_check(const struct object *o, struct stat *st, struct why *w);

/* A record lock on all of it, because the system drops it with its owner; another live owner: "in use". POSIX leaves
 * record locks on shared memory unspecified; Linux has them. object_owner: the process that has it, 0 if none. */
int object_lock(const struct object *o, struct why *w);
long object_owner(const struct object *o);

/* From `old` bytes to `new`, allocated, so that a full file system is noticed here and not by SIGBUS later. On failure
 * it has `old` bytes. */
int object_grow(const struct object *o, size_t old, size_t new, struct why *w);

/* To fewer bytes. A failure changes nothing that counts. */
void object_shrink(const struct object *o, size_t bytes);
int object_remove(const struct object *o, struct why *w);

/* Calls visit for the name of each of this user's shared-memory objects, sorted, until it returns non-zero, and returns
 * that. POSIX cannot list shared memory: -1 where the system has no directory of it (Linux: /dev/shm), or where memory
 * runs out. */
int object_each(int (*visit)(const char *name, void *context), void *context, struct why *w);

#endif
