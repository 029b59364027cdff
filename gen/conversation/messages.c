/* Messages are kept as the text of their file, with an index of lines. Saving truncates the file to what has not
 * changed and appends the rest; a file that holds what is no longer in the text is kept, and a new one replaces it. */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/size.h"
#include "lib/base/slurp.h"
#include "lib/base/space.h"
#include "lib/chat/content.h"

enum { LINE_MEMORY = 512 << 20 };       /* bytes of a parsed line */

/* ---- in memory ---- */

static int note(struct messages *m, size_t at, int user, struct why *w)
{
	if (m->n == m->room && grow(&m->list, &m->room, sizeof *m->list, 64))
		return why(w, "out of memory");
	m->list[m->n].at = at;
	m->list[m->n++].user = user;
	return 0;
}

static int put_message(struct bytes *out, const char *role, const char *text, size_t n)
{
	struct json_writer json = json_to_bytes(out);

	json_open(&json, '{');
	member_text(&json, "role", role);
	member_bytes(&json, "content", text, n);
	json_close(&json, '}');
	return bytes_put(out, "\n", 1);
}

int messages_add(struct messages *m, const char *role, const char *text, size_t n, struct why *w)
{
	size_t at = m->text.n;

	if (put_message(&m->text, role, text, n))
		return why(w, "the conversation is too long");
	return note(m, at, !strcmp(role, "user"), w);
}

int messages_add_line(struct messages *m, const char *line, size_t n, struct why *w)
{
	size_t at = m->text.n;

	if (bytes_put(&m->text, line, n))
		return why(w, "the conversation is too long");
	return note(m, at, 0, w);
}

void messages_cut(struct messages *m, size_t n)
{
	if (n >= m->n)
		return;
	m->text.n = m->list[n].at;
	m->n = n;
	m->first = size_min(m->first, n);
	m->saved = size_min(m->saved, m->text.n);
}

size_t messages_turn(const struct messages *m, size_t i)
{
	for (size_t k = 0; k < m->n; k++)
		if (m->list[k].user && !i--)
			return k;
	return m->n;
}

size_t messages_turns(const struct messages *m)
{
	size_t turns = 0;

	for (size_t k = 0; k < m->n; k++)
		turns += (size_t)m->list[k].user;
	return turns;
}

static size_t start_of(const struct messages *m, size_t i)
{
	return i < m->n ? m->list[i].at : m->text.n;
}

int messages_replace_turn(struct messages *m, const struct messages *from, const char *text, size_t n, struct why *w)
{
	size_t head = start_of(from, messages_turn(from, 0)), rest = start_of(from, from->first + 1);

	if ((head && bytes_put(&m->text, from->text.p, head)) || messages_add(m, "user", text, n, w)
	    || (rest < from->text.n && bytes_put(&m->text, from->text.p + rest, from->text.n - rest)))
		return why(w, "the conversation is too long");
	return 0;
}

/* The messages from number `first` on are in the text from here; *head: the end of the head, which precedes them. */
static size_t rest_of(const struct messages *m, size_t first, size_t *head)
{
	*head = start_of(m, messages_turn(m, 0));
	return size_max(start_of(m, first), *head);
}

int messages_put(const struct messages *m, size_t first, struct bytes *out)
{
	size_t head, from = rest_of(m, first, &head);

	return (head && bytes_put(out, m->text.p, head))
		|| (from < m->text.n && bytes_put(out, m->text.p + from, m->text.n - from)) ? -1 : 0;
}

int messages_write(const struct messages *m, size_t first, int fd, struct why *w)
{
	size_t head, from = rest_of(m, first, &head);

	return io_write(fd, m->text.p, head, w) || io_write(fd, m->text.p + from, m->text.n - from, w) ? -1 : 0;
}

const char *messages_line(const struct messages *m, size_t i, size_t *n)
{
	size_t at = start_of(m, i);

	*n = start_of(m, i + 1) - at;
	return m->text.p + at;
}

int messages_content(const struct messages *m, size_t i, struct bytes *out)
{
	struct arena a = { .limit = LINE_MEMORY };
	size_t n;
	const char *line = messages_line(m, i, &n);
	struct why ignored;
	const struct json *content = json_get(json_parse(&a, line, n, &ignored), "content");
	int failed = content_text(content, out);

	arena_free(&a);
	return failed ? -1 : 0;
}

/* ---- the file ---- */

/* Reads a line of the file. Anything but a single message (chat also accepts arrays) begins no turn. Returns 1 if it is
 * damaged. */
static int read_line(struct messages *m, size_t at, size_t n, struct why *w)
{
	struct arena a = { .limit = LINE_MEMORY };
	struct why cause;
	const struct json *v;
	const char *role;
	int failed;

	if (space_leading(m->text.p + at, n) == n)
		return 0;
	v = json_parse(&a, m->text.p + at, n, &cause);
	role = v ? json_get_string(v, "role") : NULL;
	if (!role && (!v || (v->type != JSON_ARRAY && !json_get(v, "messages")))) {
		arena_free(&a);
		return why(w, "not a message in JSON"), 1;
	}
	failed = note(m, at, role && !strcmp(role, "user"), w);
	arena_free(&a);
	return failed;
}

/* Whether the last line, line[n] up to `end`, is what a power failure leaves of a write. */
static int is_torn(const char *line, size_t n, const char *end)
{
	return !end || memchr(line, 0, n);
}

/* Reads all lines of m->text, which come from `path`. Returns 1 if the last one is damaged; it is left out, and *good
 * is its offset. */
static int read_lines(struct messages *m, const char *path, size_t *good, struct why *w)
{
	size_t number = 1, at, n;
	int status;

	for (at = 0; at < m->text.n; at += n + 1, number++) {
		const char *end = memchr(m->text.p + at, '\n', m->text.n - at);

		n = end ? (size_t)(end - m->text.p) - at : m->text.n - at;
		if (!(status = read_line(m, at, n, w)))
			continue;
		if (status < 0 || at + n + 1 < m->text.n || !is_torn(m->text.p + at, n, end))
			return why(w, "%s: line %zu: %s", path, number, status < 0 ? "out of memory"
				: "not a message in JSON");
		m->text.n = at;
		/* the rest of its turn was written together with it */
		if (m->n && m->list[m->n - 1].user)
			messages_cut(m, m->n - 1);
		*good = m->text.n;
		why(w, "%s: line %zu is damaged: the conversation continues without its turn", path, number);
		return 1;
	}
	*good = m->text.n;
	return m->text.n && m->text.p[m->text.n - 1] != '\n' && bytes_put(&m->text, "\n", 1)
		? why(w, "%s: too long", path) : 0;
}

void messages_clear(struct messages *m)
{
	size_t head = messages_turn(m, 0);

	m->keep |= head < m->n;
	messages_cut(m, head);
}

int messages_set_system(struct messages *m, const char *text, size_t n, struct why *w)
{
	struct bytes all = { .limit = m->text.limit };
	size_t from = start_of(m, messages_turn(m, 0)), dropped = 0, good;

	if ((n && put_message(&all, "system", text, n))
	    || (from < m->text.n && bytes_put(&all, m->text.p + from, m->text.n - from))) {
		bytes_free(&all);
		return why(w, "the conversation is too long");
	}
	for (size_t i = 0; i < m->first; i++)
		dropped += (size_t)m->list[i].user;
	bytes_free(&m->text);
	m->text = all;
	m->saved = m->n = 0;
	m->keep = 1;
	if (read_lines(m, "system", &good, w))
		return -1;
	m->first = messages_turn(m, dropped);
	return 0;
}

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
	status = read_lines(m, path, &m->saved, w);
	m->keep = status > 0 && !m->device;
	m->first = messages_turn(m, 0);
	return status;
}

int messages_read(struct messages *m, const char *path, struct why *w)
{
	struct messages fresh = { .text.limit = m->text.limit, .file = m->file, .device = m->device,
		.path = m->path, .in_file = m->in_file, .keep = 1 };
	size_t good;
	int status = slurp(path, &fresh.text, w) ? -1 : read_lines(&fresh, path, &good, w);
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
