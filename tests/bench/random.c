/* There is one file at a time. It is removed by random_remove(), at exit, or by the signals that end programs. */
#include "random.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mkvocab.h"
#include "tests/mkweights.h"

static char template[4096], path[4096];
static volatile sig_atomic_t made;

void random_remove(void)
{
	if (made)
		unlink(path);
	made = 0;
}

static void end(int signal)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	random_remove();
	sigaction(signal, &usual, NULL);
	raise(signal);
}

int random_directory(const char *dir, struct why *w)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction action = { .sa_handler = end };

	if ((size_t)snprintf(template, sizeof template, "%s/lmpipe-bench-XXXXXX", dir) >= sizeof template)
		return why(w, "%s: too long", dir);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
	return atexit(random_remove) ? why(w, "out of memory") : 0;
}

const char *random_model(const char *shape, const char *type, struct why *w)
{
	struct mkweights k = { .s = *mkweights_shape(shape), .type = type, .rope = "", .seed = 1 };
	int fd;

	memcpy(path, template, sizeof path);
	fd = mkstemp(path);
	if (fd < 0) {
		why(w, "%s: %s", path, strerror(errno));
		return NULL;
	}
	close(fd);
	made = 1;
	k.m = mkgguf_open();
	mkweights_values(&k);
	mkvocab_bpe(k.m, k.s.pre, k.s.n_vocab, k.seed, 0);
	mkweights_tensors(&k);
	mkgguf_write(k.m, path, 3, 1);
	mkgguf_close(k.m);
	mkweights_free(&k);
	return path;
}
