/* Saving truncates the file to what has not changed and appends the rest; a file that holds what is no longer in the
 * text is kept, and a new one replaces it. */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/slurp.h"

static int open_locked(const char *path, int flags, struct why *w)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | flags, 0600);

	if (fd < 0)
		return why(w, "%s: %s", path, strerror(errno));
	if (fcntl(fd, F_SETLK, &all) && (errno == EACCES || errno == EAGAIN)) {
		close(fd);
		return why(w, "%s: in use by another conversation", path);
	}
	return fd;
}

int messages_open(struct messages *m, const char *path, struct why *w)
{
	struct stat st;
	int status;

	m->path = path;
	if ((m->file = open_locked(path, O_CREAT, w)) < 0)
		return -1;
	if (fstat(m->file, &st) || !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
		return why(w, "%s: not a regular file", path);
	m->device = !S_ISREG(st.st_mode);
	if (slurp_fd(m->file, path, &m->text, w))
		return -1;
	m->in_file = m->text.n;
	status = messages_index(m, path, &m->saved, w);
	m->keep = status > 0 && !m->device;
	m->first = messages_turn(m, 0);
	return status;
}

int messages_read(struct messages *m, const char *path, struct why *w)
{
	struct messages fresh = { .text.limit = m->text.limit, .file = m->file, .device = m->device,
		.path = m->path, .in_file = m->in_file, .keep = 1 };
	size_t good;
	int status = slurp(path, &fresh.text, w) ? -1 : messages_index(&fresh, path, &good, w);
	struct messages old = *m;

	if (status >= 0) {
		fresh.first = messages_turn(&fresh, 0);
		*m = fresh;
	} else
		old = fresh;
	old.file = -1;
	messages_close(&old);
	return status;
}

/* The first of PATH~, PATH~2, PATH~3 and so on that is no file yet: what an earlier one keeps is never lost. NULL: out
 * of memory. The caller frees it. */
static char *backup_name(const char *path)
{
	size_t room = strlen(path) + 24;
	char *name = malloc(room);
	struct stat st;

	if (!name)
		return NULL;
	snprintf(name, room, "%s~", path);
	/* a link to nothing has the name, too */
	for (int i = 2; !lstat(name, &st); i++)
		snprintf(name, room, "%s~%d", path, i);
	return name;
}

/* Waits until the name of a new file is on disk. Not every file system can. */
static void sync_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strdup(path) : NULL;
	int fd;

	if (folder)
		folder[slash == path ? 1 : slash - path] = 0;
	fd = slash && !folder ? -1 : open(folder ? folder : ".", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

/* Writes the messages to `next`, a new file, and lets it take the place of `path`, whose old file is kept as `old`.
 * Returns 1, with a line for the user; 0 if there was no file any more; or -1. */
static int swap_files(struct messages *m, const char *path, const char *next, const char *old, struct why *w)
{
	int fd = open_locked(next, O_CREAT | O_EXCL, w), kept = 0;
	struct stat st;

	if (fd < 0)
		return -1;
	if (io_write(fd, m->text.p, m->text.n, w)) {
		why_in(w, m->path);
	} else if (fstat(m->file, &st) || fchmod(fd, st.st_mode & 07777) || fsync(fd)
	    || ((kept = !link(path, old)) == 0 && errno != ENOENT) || rename(next, path)) {
		why(w, "%s: %s", m->path, strerror(errno));
	} else {
		sync_name(path);
		close(m->file);
		m->file = fd;
		m->saved = m->in_file = m->text.n;
		m->keep = 0;
		if (kept)
			why(w, "%s: the previous content is kept in %s", m->path, old);
		return kept;
	}
	unlink(next);
	close(fd);
	return -1;
}

/* Atomically replaces the file by a new one, and keeps the old one. A link goes on naming the file. */
static int replace_file(struct messages *m, struct why *w)
{
	char *real = readlink(m->path, &(char){ 0 }, 1) < 0 ? NULL : realpath(m->path, NULL), *old, *next = NULL;
	const char *path = real ? real : m->path;
	size_t room = strlen(path) + 24;
	int status;

	if ((old = backup_name(path)) && (next = malloc(room))) {
		snprintf(next, room, "%s.%" PRIdMAX, path, (intmax_t)getpid());
		status = swap_files(m, path, next, old, w);
	} else
		status = why(w, "out of memory");
	free(next);
	free(old);
	free(real);
	return status;
}

int messages_save(struct messages *m, struct why *w)
{
	if (m->device)
		m->in_file = m->saved;
	if (m->device || !m->in_file)
		m->keep = 0;
	if (m->file < 0 || (m->saved == m->text.n && m->in_file == m->text.n))
		return 0;
	if (m->keep)
		return replace_file(m, w);
	if (m->in_file > m->saved && ftruncate(m->file, (off_t)m->saved))
		return why(w, "%s: %s", m->path, strerror(errno));
	m->in_file = m->saved;
	if (io_write(m->file, m->text.p + m->saved, m->text.n - m->saved, w))
		return why_in(w, m->path);
	m->saved = m->in_file = m->text.n;
	if (fsync(m->file) && errno != EINVAL)
		return why(w, "%s: %s", m->path, strerror(errno));
	if (!m->named++)
		sync_name(m->path);
	return 0;
}

void messages_close(struct messages *m)
{
	if (m->file >= 0)
		close(m->file);
	m->file = -1;
	free(m->list);
	bytes_free(&m->text);
}
