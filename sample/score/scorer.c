/* Tokens are written by a thread, since scores come back long before the last of them is written. */
#include "scorer.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* If the stream ends early, so has fwd, which reports the reason itself. */
static void *write_items(void *context)
{
	struct scorer *s = context;
	sigset_t pipe;
	struct why w;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	items_write(s->items, s->to, &w);
	close(s->to);
	return NULL;
}

int scorer_start(struct scorer *s, const struct items *items, struct why *w)
{
	int in[2], out[2], error;

	s->items = items;
	if (stage_pipe(in, w) < 0)
		return -1;
	if (stage_pipe(out, w) < 0) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	s->to = in[1];
	error = stage_start(&s->fwd, in[0], out[1], w);
	if (!error && (error = pthread_create(&s->thread, NULL, write_items, s)))
		why(w, "%s", strerror(error));
	if (!error)
		return out[0];
	close(in[1]);
	close(out[0]);
	return -1;
}

int scorer_wait(struct scorer *s, struct why *w)
{
	pthread_join(s->thread, NULL);
	return stage_wait(&s->fwd, w);
}
