/* object: the file of a named segment. A name with a slash is its path. A name without one is a file in the system's
 * shared-memory directory or, if that does not support locking and listing, in a directory that only this user can
 * access. Opening, locking, growing and removing work the same in both. */
#ifndef OBJECT_H
#define OBJECT_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/why.h"

enum { OBJECT_NAME_MAX = 200, OBJECT_LABEL = 224 };

struct object {
	int fd;                 /* -1: not open */
	int made;               /* open() created it */
	/* private */
	int file;               /* the name has a slash */
	const char *path;       /* NULL: unusable; the name itself, or `own` */
	char own[1024];         /* storage for path */
};

/* Returns 0, or -1 with a reason why the name is invalid. Without a slash it must have 1 to 200 letters, digits, '.',
 * '_' and '-', and not begin with a dot. Names that end in OBJECT_PART are reserved for unfinished loads (saved.h). */
int object_check_name(const char *name, struct why *w);
#define OBJECT_PART ".part"
int object_is_part(const char *name);

/* object_label() writes "segment NAME", with which messages about a segment begin. object_why() puts that before a
 * reason and returns -1. */
const char *object_label(const char *name, char text[OBJECT_LABEL]);
int object_why(const char *name, struct why *w);

/* Opens the object for reading and writing, and checks it as object_size() does. create: if it does not exist, creates
 * it, empty and with mode 0600. `name` must outlive *o, and *o must not be moved. Call object_close() even after a
 * failure. */
int object_open(struct object *o, const char *name, int create, struct why *w);
void object_close(struct object *o);

/* The size. Fails unless the object is a regular file of this user that nobody else can write (nor read, if its name
 * has no slash). */
int object_size(const struct object *o, size_t *bytes, struct why *w);

/* Takes a record lock on the whole file; the system drops it when its owner dies. If another process has it: "in use".
 * Fails if the object was removed in the meantime. object_owner(): the process that has the lock, or 0. */
int object_lock(const struct object *o, struct why *w);
long object_owner(const struct object *o);

/* Grows the file from `old` to `new` bytes and allocates them, so that a full file system is an error here and not a
 * SIGBUS later. On failure the size remains `old`. */
int object_grow(const struct object *o, size_t old, size_t new, struct why *w);

/* Reads from an offset, as pread(2) does but without EINTR. */
ssize_t object_read(const struct object *o, size_t at, void *to, size_t n);

/* object_touch() records that the object was used now; object_used() tells when it was last used. */
void object_touch(const struct object *o);
int object_used(const struct object *o, time_t *when, struct why *w);

/* Shrinks the file. A failure is harmless. */
void object_shrink(const struct object *o, size_t bytes);
int object_remove(const struct object *o, struct why *w);

/* Renames o to the name of `to`, whose file is removed. */
int object_rename(const struct object *o, const struct object *to, struct why *w);

/* Whether the file has been removed or replaced under its name. */
int object_is_gone(const struct object *o);

/* Whether the name, which may not exist, is one of the open object. */
int object_is_named(const struct object *o, const char *name);

/* Calls visit for the name of each of this user's objects without a slash, in sorted order, until it returns non-zero,
 * and returns that value. Returns -1 if the directory cannot be read or memory is short. */
int object_each(int (*visit)(const char *name, void *context), void *context, struct why *w);

#endif
