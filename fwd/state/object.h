/* object: what a named segment lies in: a file of this user. A name with a slash is its path. One without is a file in
 * the system's directory of shared memory or, where there is none that can be locked and listed, in a directory that
 * belongs to the user alone. Both are opened, locked, grown and removed alike. */
#ifndef OBJECT_H
#define OBJECT_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/why.h"

enum { OBJECT_NAME_MAX = 200, OBJECT_LABEL = 224 };

struct object {
	int fd;                 /* -1: not open */
	int made;               /* there was none of this name before */
	/* private */
	int file;               /* named with a slash */
	const char *path;       /* NULL: unusable; borrowed from the name, or */
	char own[1024];         /* what it points to */
};

/* 0, or why a name cannot be used: without a slash it has 1 to 200 letters, digits, '.', '_' and '-', and does not
 * begin with a dot. Names that end in OBJECT_PART are reserved for incomplete ones (saved.h). */
int object_check_name(const char *name, struct why *w);
#define OBJECT_PART ".part"
int object_is_part(const char *name);

/* What a message about a segment begins with: "segment NAME"; puts it before a reason. Returns -1. */
const char *object_label(const char *name, char text[OBJECT_LABEL]);
int object_why(const char *name, struct why *w);

/* Opens the object for reading and writing; create: makes it, empty and with mode 0600, where there is none. `name`
 * must outlive *o, which does not move. Checks it as object_size() does. Whatever happens, object_close() is due. */
int object_open(struct object *o, const char *name, int create, struct why *w);
void object_close(struct object *o);

/* Its size, if it is a regular file of this user that nobody else may write (nor read, without a slash in its name). */
int object_size(const struct object *o, size_t *bytes, struct why *w);

/* A record lock on all of it, because the system drops it with its owner; another live owner: "in use". Fails if the
 * object was removed before. object_owner: the process that has the lock, 0 if none. */
int object_lock(const struct object *o, struct why *w);
long object_owner(const struct object *o);

/* From `old` bytes to `new`, allocated, so that a full file system is noticed here and not by SIGBUS later. On failure
 * it has `old` bytes. */
int object_grow(const struct object *o, size_t old, size_t new, struct why *w);

/* The bytes from an offset on, as pread(2) without EINTR. */
ssize_t object_read(const struct object *o, size_t at, void *to, size_t n);

/* Notes that it was used now; the time of its last use. */
void object_touch(const struct object *o);
time_t object_used(const struct object *o);

/* To fewer bytes. A failure changes nothing that counts. */
void object_shrink(const struct object *o, size_t bytes);
int object_remove(const struct object *o, struct why *w);

/* Gives it the name of another object, which loses it. */
int object_rename(const struct object *o, const struct object *to, struct why *w);

/* Whether it has no name any more. */
int object_is_gone(const struct object *o);

/* Calls visit for the name of each of this user's objects without a slash, sorted, until it returns non-zero, and
 * returns that. -1: the directory cannot be read, or memory runs out. */
int object_each(int (*visit)(const char *name, void *context), void *context, struct why *w);

#endif
