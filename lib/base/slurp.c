/* A whole file as bytes. */
#include "slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

int slurp(const char *name, struct bytes *out, struct why *w)
{
	int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, failed = 0;
	const char *shown = fd == STDIN_FILENO ? "standard input" : name;
	struct pollfd wait = { fd, POLLIN, 0 };
	char part[16384];
	ssize_t got;

	if (fd < 0)
		return why(w, "%s: %s", name, strerror(errno));
	while (!failed && (got = read(fd, part, sizeof part)) != 0) {
		if (got > 0)
			failed = bytes_put(out, part, (size_t)got) ? why(w, "%s: larger than %zu MiB", shown, out->limit >> 20) : 0;
		else if (errno == EAGAIN)
			poll(&wait, 1, -1);
		else if (errno != EINTR)
			failed = why(w, "%s: %s", shown, strerror(errno));
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return failed;
}
