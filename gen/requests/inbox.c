/* Lines are taken from the front of a buffer. */
#include "inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"

enum { PIECE = 1 << 16 };       /* bytes read at once */

int inbox_open(struct inbox *in, const char *name, struct why *w)
{
	int is_stdin = !name || !strcmp(name, "-");

	*in = (struct inbox){ .fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC),
		.name = is_stdin ? "standard input" : name, .text = { .limit = INBOX_LINE_MAX + 2 * PIECE } };
	return in->fd < 0 ? why(w, "%s: %s", name, strerror(errno)) : 0;
}

void inbox_close(struct inbox *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	bytes_free(&in->text);
}

/* Moves what is left to the front. */
static void pack(struct inbox *in)
{
	struct bytes *b = &in->text;

	if (!in->at)
		return;
	b->n -= in->at;
	memmove(b->p, b->p + in->at, b->n);
	in->searched -= in->at;
	in->at = 0;
}

int inbox_read(struct inbox *in, struct why *w)
{
	struct bytes *b = &in->text;
	ssize_t got;

	pack(in);
	if (bytes_reserve(b, PIECE))
		return why(w, "%s: out of memory", in->name);
	if ((got = io_read(in->fd, b->p + b->n, PIECE)) < 0)
		return why(w, "%s: %s", in->name, strerror(errno));
	b->n += (size_t)got;
	in->ended = !got;
	return 0;
}

/* The end of the line, or where the next begins in a file that ends without one; NULL: it is not complete. */
static const char *line_end(struct inbox *in)
{
	const struct bytes *b = &in->text;
	const char *end = b->n > in->searched ? memchr(b->p + in->searched, '\n', b->n - in->searched) : NULL;

	in->searched = b->n;
	return end || !in->ended || b->n == in->at ? end : b->p + b->n;
}

int inbox_line(struct inbox *in, const char **line, size_t *n)
{
	const char *end = line_end(in);
	struct bytes *b = &in->text;
	int dropped = in->dropping;

	if (!end) {
		if (b->n - in->at > INBOX_LINE_MAX)
			in->dropping = 1;
		if (in->dropping)
			b->n = in->at = in->searched = 0;
		/* a file that ends within a line that is too long */
		in->dropping &= !in->ended;
		return dropped && in->ended ? INBOX_LONG : 0;
	}
	*line = b->p + in->at;
	*n = (size_t)(end - *line);
	in->at += *n + (end < b->p + b->n);
	in->searched = in->at;
	in->dropping = 0;
	return dropped || *n > INBOX_LINE_MAX ? INBOX_LONG : 1;
}
