/* Lines are taken from the front of a buffer, which large reads fill. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "utf8.h"

enum { PIECE = 1 << 16 };       /* bytes read at once */

void lines_open_fd(struct lines *l, int fd, const char *name)
{
	*l = (struct lines){ .fd = fd, .name = name, .text = { .limit = PTRDIFF_MAX } };
}

int lines_open(struct lines *l, const char *name, struct why *w)
{
	int is_stdin = !strcmp(name, "-");

	lines_open_fd(l, is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC),
		is_stdin ? "standard input" : name);
	return l->fd < 0 ? why(w, "%s: %s", name, strerror(errno)) : 0;
}

void lines_close(struct lines *l)
{
	if (l->fd > STDIN_FILENO)
		close(l->fd);
	bytes_free(&l->text);
}

/* Reads more of the file, after dropping the lines that are done. */
static int read_more(struct lines *l, struct why *w)
{
	struct bytes *b = &l->text;
	ssize_t got;

	if (l->at) {
		memmove(b->p, b->p + l->at, b->n - l->at);
		b->n -= l->at;
		l->searched -= l->at;
		l->at = 0;
	}
	if (b->n == b->cap && bytes_reserve(b, PIECE))
		return why(w, "%s: out of memory", l->name);
	if ((got = io_read(l->fd, b->p + b->n, b->cap - b->n)) < 0)
		return why(w, "%s: %s", l->name, strerror(errno));
	b->n += (size_t)got;
	l->ended = !got;
	return 0;
}

int lines_next(struct lines *l, char **line, size_t *n, struct why *w)
{
	struct bytes *b = &l->text;
	char *end = NULL;
	size_t mark;

	while (!(end = b->n > l->searched ? memchr(b->p + l->searched, '\n', b->n - l->searched) : NULL) && !l->ended) {
		l->searched = b->n;
		if (read_more(l, w))
			return -1;
	}
	if (!end && l->at == b->n)
		return 0;
	*line = b->p + l->at;
	*n = (size_t)((end ? end : b->p + b->n) - *line);
	l->at += *n + (end != NULL);
	*n -= end && *n && end[-1] == '\r';
	l->searched = l->at;
	if (!l->number++ && (mark = utf8_mark(*line, *n))) {
		*line += mark;
		*n -= mark;
	}
	return 1;
}

int lines_ready(const struct lines *l)
{
	return (l->text.n > l->at && memchr(l->text.p + l->at, '\n', l->text.n - l->at)) || io_readable(l->fd, 0);
}
