/* Names, locks and sizes of the files that hold segments. */
#include "object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/system.h"

#ifndef O_NOFOLLOW      /* some systems hide it; it only matters in directories that others can write to */
#define O_NOFOLLOW 0
#endif

static const char PREFIX[] = "lmpipe-";

enum { PATH = sizeof ((struct object *)0)->own, DIRECTORY = PATH - 256 };

int object_is_part(const char *name)
{
	size_t n = strlen(name), end = strlen(OBJECT_PART);

	return n > end && !strcmp(name + n - end, OBJECT_PART);
}

static int check_name(const char *name, struct why *w)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *slash = strrchr(name, '/');
	size_t n = strlen(name) - (object_is_part(name) ? strlen(OBJECT_PART) : 0);

	if (slash)
		return slash[1] ? 0 : why(w, "\"%.200s\" names a directory, not a file", name);
	if (n < 1 || n > OBJECT_NAME_MAX || name[0] == '.' || name[strspn(name, letters)])
		return why(w,
			"\"%.*s\" cannot name a segment: use 1 to %d letters, digits, '.', '_' and '-', "
			"not beginning with '.', or a path with a '/'", OBJECT_NAME_MAX, name, OBJECT_NAME_MAX);
	return 0;
}

int object_check_name(const char *name, struct why *w)
{
	if (object_is_part(name))
		return why(w, "\"%.200s\": names ending in %s are reserved for unfinished loads", name, OBJECT_PART);
	return check_name(name, w);
}

const char *object_label(const char *name, char text[OBJECT_LABEL])
{
	snprintf(text, OBJECT_LABEL, "segment %.*s", OBJECT_LABEL - 16, name);
	return text;
}

int object_why(const char *name, struct why *w)
{
	char text[OBJECT_LABEL];

	return why_in(w, object_label(name, text));
}

/* ---- the directory of names without a slash ---- */

/* Checks that nobody else owns the directory or can write to it, because anybody could have made it in /tmp. It may be
 * missing. */
static int check_own(const char *path, struct why *w)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : why(w, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return why(w, "%s: not a directory of this user alone (mode 0700)", path);
	return 0;
}

/* Finds the directory; create: makes it, if it is the one of the user's own. */
static int find_directory(char path[DIRECTORY], int create, struct why *w)
{
	const char *shared = system_shared_memory(), *temporary = getenv("TMPDIR");
	int n;

	if (shared)
		n = snprintf(path, DIRECTORY, "%s", shared);
	else
		n = snprintf(path, DIRECTORY, "%s/%s%ld", temporary && *temporary ? temporary : "/tmp", PREFIX,
			(long)geteuid());
	if (n < 0 || n >= DIRECTORY)
		return why(w, "TMPDIR is too long");
	if (shared)
		return 0;
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return why(w, "%s: %s", path, strerror(errno));
	return check_own(path, w);
}

/* ---- one object ---- */

static int find(struct object *o, const char *name, int create, struct why *w)
{
	size_t n;

	*o = (struct object){ .fd = -1, .file = strchr(name, '/') != NULL };
	if (check_name(name, w) < 0)
		return -1;
	if (o->file) {
		o->path = name;
		return 0;
	}
	if (find_directory(o->own, create, w) < 0)
		return -1;
	n = strlen(o->own);
	snprintf(o->own + n, sizeof o->own - n, "/%s%s", PREFIX, name);
	o->path = o->own;
	return 0;
}

/* O_RDWR even for reading, because then open() never blocks, whatever kind of file it is. */
int object_open(struct object *o, const char *name, int create, struct why *w)
{
	int flags = O_RDWR | O_CLOEXEC;
	size_t bytes;

	if (find(o, name, create, w) < 0)
		return -1;
	if (!o->file)
		flags |= O_NOFOLLOW;
	o->fd = create ? open(o->path, flags | O_CREAT | O_EXCL, 0600) : -1;
	o->made = o->fd >= 0;
	if (o->fd < 0 && (!create || errno == EEXIST))
		o->fd = open(o->path, flags);
	if (o->fd < 0)
		return why(w, "%s", errno == ENOENT && !create ? "no such segment" : strerror(errno));
	return object_size(o, &bytes, w);
}

void object_close(struct object *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

int object_size(const struct object *o, size_t *bytes, struct why *w)
{
	struct stat st;

	if (fstat(o->fd, &st) < 0)
		return why(w, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return why(w, "not a regular file");
	if (st.st_uid != geteuid())
		return why(w, "belongs to another user");
	if (st.st_mode & (o->file ? 022 : 077))
		return why(w, "mode %04o: other users can access it", (unsigned)st.st_mode & 07777);
	*bytes = (size_t)st.st_size;
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

	if (fcntl(o->fd, F_SETLK, &l) < 0)
		return errno == EACCES || errno == EAGAIN ? why(w, "in use by process %ld", object_owner(o))
			: why(w, "cannot be locked: %s", strerror(errno));
	return object_is_gone(o) ? why(w, "removed while it was being opened") : 0;
}

int object_grow(const struct object *o, size_t old, size_t new, struct why *w)
{
	struct statvfs fs;
	int error;

	/* trying would take the remaining space from other processes */
	if (!fstatvfs(o->fd, &fs) && fs.f_blocks && (new - old) / fs.f_frsize > fs.f_bavail)
		error = ENOSPC;
	else
		error = system_allocate(o->fd, (off_t)old, (off_t)new);
	if (!error)
		return 0;
	if (ftruncate(o->fd, (off_t)old) < 0)
		error = errno;
	return why(w, "cannot grow by %zu KiB: %s%s", (new - old + 1023) >> 10, strerror(error),
		error == ENOSPC && !o->file ? " (a name with a slash, such as ./NAME, is a file on disk)" : "");
}

ssize_t object_read(const struct object *o, size_t at, void *to, size_t n)
{
	ssize_t got;

	do
		got = pread(o->fd, to, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Sets the time explicitly, because not every system does so when a mapping is written to. */
void object_touch(const struct object *o)
{
	if (o->fd >= 0)
		futimens(o->fd, NULL);
}

int object_used(const struct object *o, time_t *when, struct why *w)
{
	struct stat st;

	if (fstat(o->fd, &st) < 0)
		return why(w, "%s", strerror(errno));
	*when = st.st_mtime;
	return 0;
}

void object_shrink(const struct object *o, size_t bytes)
{
	struct stat st;

	if (!fstat(o->fd, &st) && (uintmax_t)st.st_size > bytes && ftruncate(o->fd, (off_t)bytes) < 0)
		return;
}

int object_remove(const struct object *o, struct why *w)
{
	if (unlink(o->path) == 0)
		return 0;
	return why(w, "%s", errno == ENOENT ? "no such segment" : strerror(errno));
}

int object_rename(const struct object *o, const struct object *to, struct why *w)
{
	return rename(o->path, to->path) < 0 ? why(w, "%s", strerror(errno)) : 0;
}

int object_is_gone(const struct object *o)
{
	struct stat st;

	return fstat(o->fd, &st) == 0 && !st.st_nlink;
}

int object_is_named(const struct object *o, const char *name)
{
	struct object other;
	struct why ignored;
	struct stat a, b;

	return find(&other, name, 0, &ignored) == 0 && stat(other.path, &a) == 0 && fstat(o->fd, &b) == 0
		&& a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- the list ---- */

static int has_prefix(const struct dirent *e)
{
	return !strncmp(e->d_name, PREFIX, sizeof PREFIX - 1);
}

/* 1 or 0, which it also is if it has been removed; -1: unknown. */
static int is_ours(const char *directory, const char *entry, struct why *w)
{
	char path[PATH];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", directory, entry);
	if (lstat(path, &st) == 0)
		return st.st_uid == geteuid();
	return errno == ENOENT ? 0 : why(w, "%s: %s", path, strerror(errno));
}

int object_each(int (*visit)(const char *name, void *context), void *context, struct why *w)
{
	char directory[DIRECTORY];
	struct dirent **entry;
	int n, status = 0;

	if (find_directory(directory, 0, w) < 0)
		return -1;
	n = scandir(directory, &entry, has_prefix, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0 : why(w, "%s: %s", directory, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!status && (status = is_ours(directory, entry[i]->d_name, w)) > 0)
			status = visit(entry[i]->d_name + sizeof PREFIX - 1, context);
		free(entry[i]);
	}
	free(entry);
	return status;
}
