/* A whole file as bytes. */
#include "slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

enum { STEP = 1 << 16 };

/* A regular file is read in one piece, with room for the read that finds its end. */
static size_t expected(int fd, const struct bytes *out)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
		(uintmax_t)st.st_size >= out->limit - out->n)
		return 0;
	return (size_t)st.st_size + 1;
}

int slurp_fd(int fd, const char *name, struct bytes *out, struct why *w)
{
	size_t step = expected(fd, out);
	char more;
	ssize_t got;

	if (!step)
		step = STEP;
	for (;; step = STEP) {
		if (step > out->limit - out->n)
			step = out->limit - out->n;
		if (out->n == out->cap && step && bytes_reserve(out, step))
			return why(w, "%s: out of memory", name);
		/* Where the limit is reached, one more byte tells whether that was all. */
		got = step ? io_read(fd, out->p + out->n, out->cap - out->n) : io_read(fd, &more, 1);
		if (got < 0)
			return why(w, "%s: %s", name, strerror(errno));
		if (!got)
			return 0;
		if (!step)
			return why(w, "%s: larger than %zu MiB", name, out->limit >> 20);
		out->n += (size_t)got;
	}
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
