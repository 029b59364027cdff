/* Keeps lines in memory and appends them to the file; rewrites a file that has grown long. */
#include "recall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/grow.h"
#include "lib/base/io.h"
#include "lib/base/slurp.h"

enum { FILE_MAX = 64 << 20 };

/* Takes over the line. */
static void keep(struct recall *r, char *line)
{
	if (r->n == 2 * RECALL_MAX) {
		for (size_t i = 0; i < RECALL_MAX; i++)
			free(r->line[i]);
		memmove(r->line, r->line + RECALL_MAX, RECALL_MAX * sizeof *r->line);
		r->n = RECALL_MAX;
	}
	if (r->n == r->room && grow(&r->line, &r->room, sizeof *r->line, 64))
		free(line);
	else
		r->line[r->n++] = line;
}

/* The text of a line of the file; NULL: out of memory. */
static char *decode(const char *s, size_t n)
{
	char *line = malloc(n + 1);
	size_t k = 0;

	for (size_t i = 0; line && i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			line[k++] = s[++i] == 'n' ? '\n' : s[i];
		else if (s[i])
			line[k++] = s[i];
	}
	if (line)
		line[k] = 0;
	return line;
}

static int encode(struct bytes *b, const char *s)
{
	for (; *s; s++)
		if (*s == '\n')
			bytes_puts(b, "\\n");
		else {
			if (*s == '\\')
				bytes_puts(b, "\\");
			bytes_put(b, s, 1);
		}
	return bytes_puts(b, "\n");
}

/* Creates the directories of a file. */
static void make_folders(const char *path)
{
	char *s = malloc(strlen(path) + 1);

	if (!s)
		return;
	strcpy(s, path);
	for (char *slash = strchr(s + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(s, 0700);
		*slash = '/';
	}
	free(s);
}

/* Rewrites a file that has grown long, with the lines that are kept. */
static void shorten(struct recall *r)
{
	struct bytes all = { .limit = FILE_MAX };
	struct why ignored;
	int failed = 0;

	for (size_t i = r->n - RECALL_MAX; !failed && i < r->n; i++)
		failed = encode(&all, r->line[i]);
	if (!failed && !ftruncate(r->fd, 0))
		io_write(r->fd, all.p, all.n, &ignored);
	bytes_free(&all);
}

void recall_open(struct recall *r, const char *path)
{
	struct bytes all = { .limit = FILE_MAX };
	struct why ignored;
	size_t n, number = 0;
	char *line;

	make_folders(path);
	if ((r->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600)) < 0) {
		r->fd = 0;
		return;
	}
	if (!slurp_fd(r->fd, path, &all, &ignored))
		for (size_t at = 0; at < all.n; at += n + 1, number++) {
			const char *end = memchr(all.p + at, '\n', all.n - at);

			n = end ? (size_t)(end - all.p) - at : all.n - at;
			if (n && (line = decode(all.p + at, n)))
				keep(r, line);
		}
	if (number >= 2 * RECALL_MAX && r->n >= RECALL_MAX)
		shorten(r);
	bytes_free(&all);
}

void recall_add(struct recall *r, const char *text, size_t n)
{
	struct bytes b = { .limit = FILE_MAX };
	struct why ignored;
	char *line;

	if (!n || memchr(text, 0, n))
		return;
	if (r->n && strlen(r->line[r->n - 1]) == n && !memcmp(r->line[r->n - 1], text, n))
		return;
	if (!(line = malloc(n + 1)))
		return;
	memcpy(line, text, n);
	line[n] = 0;
	if (r->fd && !encode(&b, line))
		io_write(r->fd, b.p, b.n, &ignored);
	bytes_free(&b);
	keep(r, line);
}

void recall_close(struct recall *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->line[i]);
	free(r->line);
	if (r->fd)
		close(r->fd);
	*r = (struct recall){ 0 };
}
