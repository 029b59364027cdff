/* The command of a stage, and descriptors for it. */
#include "stages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/grow.h"

int stage_arg(struct stage *s, const char *arg, struct why *w)
{
	if (s->n + 1 >= s->room && grow(&s->argv, &s->room, sizeof *s->argv, 16))
		return why(w, "out of memory");
	s->argv[s->n++] = arg;
	s->argv[s->n] = NULL;
	return 0;
}

int stage_arg_path(struct stage *s, const char *option, int fd, char path[STAGE_PATH], struct why *w)
{
	snprintf(path, STAGE_PATH, "/dev/fd/%d", fd);
	return (option && stage_arg(s, option, w)) || stage_arg(s, path, w) ? -1 : 0;
}

void stage_cut(struct stage *s, size_t n)
{
	s->argv[s->n = n] = NULL;
}

/* The index of the option's last word, which is the one that counts, or s->n. */
static size_t find_option(const struct stage *s, const char *option)
{
	size_t i = s->n;

	while (i > 1 && strcmp(s->argv[i - 1], option))
		i--;
	return i > 1 ? i - 1 : s->n;
}

const char *stage_option(const struct stage *s, const char *option)
{
	size_t i = find_option(s, option);

	return i + 1 < s->n ? s->argv[i + 1] : NULL;
}

int stage_set_option(struct stage *s, const char *option, const char *value, struct why *w)
{
	size_t i = find_option(s, option);

	if (i == s->n)
		return stage_arg(s, option, w) || (value && stage_arg(s, value, w)) ? -1 : 0;
	if (value)
		s->argv[i + 1] = value;
	return 0;
}

void stage_drop_option(struct stage *s, const char *option, int has_value)
{
	size_t i, n = 1 + (has_value != 0);

	while ((i = find_option(s, option)) < s->n) {
		memmove(s->argv + i, s->argv + i + n, (s->n + 1 - i - n) * sizeof *s->argv);
		s->n -= n;
	}
}

/* Appends a word, quoted if the shell would interpret it. */
static void append_word(struct bytes *to, const char *s)
{
	size_t plain = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%");

	if (*s && !s[plain]) {
		bytes_puts(to, s);
		return;
	}
	bytes_puts(to, "'");
	for (; *s; s++)
		if (*s == '\'')
			bytes_puts(to, "'\\''");
		else
			bytes_put(to, s, 1);
	bytes_puts(to, "'");
}

int stage_words(const struct stage *s, struct bytes *to)
{
	for (size_t i = 0; i < s->n; i++) {
		if (i)
			bytes_puts(to, " ");
		append_word(to, s->argv[i]);
	}
	return to->failed ? -1 : 0;
}

/* ---- descriptors ---- */

int stage_pipe(int fd[2], struct why *w)
{
	if (pipe(fd))
		return why(w, "pipe: %s", strerror(errno));
	/* a stage that had the other's end would never see the end of its input */
	if (!fcntl(fd[0], F_SETFD, FD_CLOEXEC) && !fcntl(fd[1], F_SETFD, FD_CLOEXEC))
		return 0;
	why(w, "pipe: %s", strerror(errno));
	close(fd[0]);
	close(fd[1]);
	fd[0] = fd[1] = -1;
	return -1;
}

int stage_inherit(int fd, struct why *w)
{
	return fcntl(fd, F_SETFD, 0) ? why(w, "descriptor %d: %s", fd, strerror(errno)) : 0;
}

int stage_dup(int fd, struct why *w)
{
	int copy = dup(fd);

	return copy < 0 ? why(w, "descriptor %d: %s", fd, strerror(errno)) : copy;
}

int stage_file(struct why *w)
{
	FILE *f = tmpfile();
	int fd = f ? dup(fileno(f)) : -1;

	if (f)
		fclose(f);
	return fd < 0 ? why(w, "cannot create a temporary file") : fd;
}

int stage_rewind(int fd, struct why *w)
{
	return lseek(fd, 0, SEEK_SET) < 0 ? why(w, "temporary file: %s", strerror(errno)) : 0;
}
