/* An item is in the list before tok sees its line. */
#include "pipeline.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"

static void add(struct pipeline *p, struct item *item)
{
	pthread_mutex_lock(&p->lock);
	*p->last = item;
	p->last = &item->next;
	pthread_mutex_unlock(&p->lock);
}

struct item *pipeline_take(struct pipeline *p)
{
	struct item *item;

	pthread_mutex_lock(&p->lock);
	if ((item = p->first) && !(p->first = item->next))
		p->last = &p->first;
	pthread_mutex_unlock(&p->lock);
	return item;
}

/* If tok has ended early, it reports the reason itself. */
static void *write_items(void *context)
{
	struct pipeline *p = context;
	struct item *item;
	struct bytes line = { .limit = PTRDIFF_MAX };
	sigset_t pipe;
	struct why w;
	int got = 0, failed = 0;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	while (!failed && (got = items_next(&p->items, &item, &p->why)) > 0) {
		line.n = 0;
		failed = bytes_put(&line, item->line.p, item->line.n) || bytes_put(&line, "\n", 1);
		add(p, item);
		failed = failed || io_write(p->to, line.p, line.n, &w);
	}
	pthread_mutex_lock(&p->lock);
	p->failed = got < 0;
	p->done = 1;
	pthread_mutex_unlock(&p->lock);
	close(p->to);
	bytes_free(&line);
	return NULL;
}

static int start_thread(struct pipeline *p, struct why *w)
{
	int error = pthread_create(&p->thread, NULL, write_items, p);

	return error ? why(w, "%s", strerror(error)) : 0;
}

int pipeline_start(struct pipeline *p, struct why *w)
{
	int in[2], ids[2], out[2];

	p->last = &p->first;
	pthread_mutex_init(&p->lock, NULL);
	if (stage_pipe(in, w) || stage_pipe(ids, w) || stage_pipe(out, w))
		return -1;
	p->to = in[1];
	if (stage_start(&p->stage[PIPELINE_TOK], in[0], ids[1], w)
		|| stage_start(&p->stage[PIPELINE_FWD], ids[0], out[1], w) || start_thread(p, w))
		return -1;
	return out[0];
}

/* If the stream has ended early, the thread may wait for texts that never come. */
int pipeline_wait(struct pipeline *p, struct why *w)
{
	int complete, blamed;

	pthread_mutex_lock(&p->lock);
	complete = p->done && !p->first;
	pthread_mutex_unlock(&p->lock);
	if (complete)
		pthread_join(p->thread, NULL);
	blamed = stages_wait(p->stage, PIPELINE_STAGES, !complete, w);
	if (complete && p->failed) {
		*w = p->why;
		return -1;
	}
	if (!complete && blamed < 0)
		why(w, "fwd: ended before all texts were done");
	return !complete ? -1 : blamed >= 0;
}
