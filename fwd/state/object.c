/* Names, locks and sizes of shared-memory objects and files. */
#include "object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/system.h"

static const char PREFIX[] = "/lmpipe-", DIRECTORY[] = "/dev/shm";

int object_check_name(const char *name, struct why *w)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *slash = strrchr(name, '/');
	size_t n = strlen(name);

	if (slash)
		return slash[1] ? 0 : why(w, "\"%.200s\" names a directory, not a file", name);
	if (n < 1 || n > OBJECT_NAME_MAX || name[0] == '.' || name[strspn(name, letters)])
		return why(w,
			"\"%.*s\" cannot name a segment: use 1 to %d letters, digits, '.', '_' and '-', "
			"not beginning with '.', or a path with a '/'", OBJECT_NAME_MAX, name, OBJECT_NAME_MAX);
	return 0;
}

static int open_with(const struct object *o, int flags)
{
	return o->file ? open(o->file, flags | O_CLOEXEC, 0600) : shm_open(o->shared, flags, 0600);
}

/* O_RDWR even to read: opening never waits, whatever lies there. */
int object_open(struct object *o, const char *name, int create, struct why *w)
{
	struct stat st;

	o->file = strchr(name, '/') ? name : NULL;
	snprintf(o->shared, sizeof o->shared, "%s%s", PREFIX, o->file ? "" : name);
	o->fd = create ? open_with(o, O_CREAT | O_EXCL | O_RDWR) : -1;
	o->made = o->fd >= 0;
	if (o->fd < 0 && (!create || errno == EEXIST))
		o->fd = open_with(o, O_RDWR);
	if (o->fd < 0)
		return why(w, "%s", errno == ENOENT && !create ? "no such segment" : strerror(errno));
	return object_check(o, &st, w);
}

void object_close(struct object *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

int object_check(const struct object *o, struct stat *st, struct why *w)
{
	if (fstat(o->fd, st) < 0)
		return why(w, "%s", strerror(errno));
	if (!S_ISREG(st->st_mode))
		return why(w, "not a regular file");
	if (st->st_uid != geteuid())
		return why(w, "belongs to another user");
	if (st->st_mode & (o->file ? 022 : 077))
		return why(w, "mode %04o: open to others", (unsigned)st->st_mode & 07777);
	return 0;
}

long object_owner(const struct object *o)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(o->fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK ? 0 : (long)l.l_pid;
}

int object_lock(const struct object *o, struct why *w)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(o->fd, F_SETLK, &l))
		return 0;
	if (errno == EACCES || errno == EAGAIN)
		return why(w, "in use by process %ld", object_owner(o));
	return why(w, "cannot be locked: %s", strerror(errno));
}

int object_grow(const struct object *o, size_t old, size_t new, struct why *w)
{
	struct statvfs fs;
	int error;

	/* Where the system can tell beforehand that there is no room, others are not deprived of theirs by trying. */
	if (!fstatvfs(o->fd, &fs) && fs.f_blocks && (new - old) / fs.f_frsize > fs.f_bavail)
		error = ENOSPC;
	else
		error = system_allocate(o->fd, (off_t)old, (off_t)new);
	if (!error)
		return 0;
	if (ftruncate(o->fd, (off_t)old) < 0)
		error = errno;
	return why(w, "%zu KiB more of %s: %s", (new - old + 1023) >> 10, o->file ? "disk" : "shared memory",
		strerror(error));
}

void object_shrink(const struct object *o, size_t bytes)
{
	struct stat st;

	if (!fstat(o->fd, &st) && (uintmax_t)st.st_size > bytes && ftruncate(o->fd, (off_t)bytes) < 0)
		return;
}

int object_remove(const struct object *o, struct why *w)
{
	if ((o->file ? unlink(o->file) : shm_unlink(o->shared)) == 0)
		return 0;
	return why(w, "%s", errno == ENOENT ? "no such segment" : strerror(errno));
}

/* ---- the list ---- */

struct name_list {
	char **name;
	size_t n, room;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct name_list *l, const char *name, struct why *w)
{
	if (l->n == l->room && grow(&l->name, &l->room, sizeof *l->name, 64) < 0)
		return why(w, "out of memory");
	l->name[l->n] = strdup(name);
	return l->name[l->n++] ? 0 : why(w, "out of memory");
}

/* Whether this directory entry is a segment of this user. */
static int is_ours(const char *entry)
{
	char path[sizeof DIRECTORY + 256];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", DIRECTORY, entry);
	return !strncmp(entry, PREFIX + 1, sizeof PREFIX - 2) && lstat(path, &st) == 0 && st.st_uid == geteuid();
}

static int list(struct name_list *l, struct why *w)
{
	DIR *d = opendir(DIRECTORY);
	struct dirent *e;
	int status = 0;

	if (!d)
		return why(w, "%s: %s", DIRECTORY, strerror(errno));
	while (status == 0 && (e = readdir(d)))
		if (is_ours(e->d_name))
			status = add_name(l, e->d_name + sizeof PREFIX - 2, w);
	closedir(d);
	if (status == 0 && l->n)
		qsort(l->name, l->n, sizeof *l->name, by_name);
	return status;
}

int object_each(int (*visit)(const char *name, void *context), void *context, struct why *w)
{
	struct name_list l = { .n = 0 };
	int status = list(&l, w);

	for (size_t i = 0; i < l.n; i++) {
		if (!status)
			status = visit(l.name[i], context);
		free(l.name[i]);
	}
	free(l.name);
	return status;
}
