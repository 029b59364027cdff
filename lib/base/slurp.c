/* A whole file as bytes. */
#include "slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "size.h"
#include "utf8.h"

int slurp_fd(int fd, const char *name, struct bytes *out, struct why *w)
{
	enum { LEAST = 1 << 16 };
	char more;
	ssize_t got;
	int full;

	for (;; out->n += (size_t)got) {
		full = out->n == out->limit;
		if (!full && out->n == out->cap && bytes_reserve(out, size_min(LEAST, out->limit - out->n)))
			return why(w, "%s: out of memory", name);
		/* at the limit, one more byte tells whether that was all */
		got = full ? io_read(fd, &more, 1) : io_read(fd, out->p + out->n, out->cap - out->n);
		if (got < 0)
			return why(w, "%s: %s", name, strerror(errno));
		if (!got)
			return 0;
		if (full)
			return why(w, "%s: larger than %zu MiB", name, out->limit >> 20);
	}
}

int slurp_is_stdin(const char *name)
{
	return !strcmp(name, "-") || !strcmp(name, "/dev/stdin") || !strcmp(name, "/dev/fd/0")
		|| !strcmp(name, "/proc/self/fd/0");
}

int slurp(const char *name, struct bytes *out, struct why *w)
{
	int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, failed;

	if (fd < 0)
		return why(w, "%s: %s", name, strerror(errno));
	failed = slurp_fd(fd, fd == STDIN_FILENO ? "standard input" : name, out, w);
	if (fd != STDIN_FILENO)
		close(fd);
	return failed;
}

int slurp_text(const char *name, struct bytes *out, struct why *w)
{
	size_t start = out->n, mark;

	if (slurp(name, out, w))
		return -1;
	if (out->n == start)
		return 0;
	mark = utf8_mark(out->p + start, out->n - start);
	out->n -= mark;
	if (mark)
		memmove(out->p + start, out->p + start + mark, out->n - start);
	return 0;
}
