/* feed: closes the loop of a generation in plain shell. Copies a prompt, then the ids that come back through a
 * FIFO, and guesses if asked to. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "feed_opts.h"
#include "find.h"
#include "loop.h"

static struct cli c = { .program = "feed", .synopsis = "[options] FIFO < prompt > ids",
	.purpose = "closes the loop of a generation: the prompt, then the sampled tokens", .opts = feed_opts };

/* Waits for the small model, too. 1 if it failed, and has said so. */
static int draft_failed(struct feed_settings *set)
{
	struct why w;

	draft_close(&set->draft);
	if (!stage_wait(&set->model, &w))
		return 0;
	fprintf(stderr, "feed: %s\n", w.text);
	return 1;
}

int main(int argc, char **argv)
{
	static struct feed_settings set;
	static struct loop l;
	char program[FIND_PATH];
	const char *argv0 = argv[0];
	struct why w;
	int status, fifo;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	feed_settings(&set, &c);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	set.model.argv[0] = find_program(program, argv0, "feed", "fwd");
	signal(SIGPIPE, SIG_IGN);
	loop_init(&l);
	l.out = STDOUT_FILENO;
	l.n = set.n;
	l.repeat = set.repeat;
	l.draft = set.drafts ? &set.draft : NULL;
	/* At once: tee, which writes to it, waits for that. */
	if ((fifo = open(c.argv[0], O_RDONLY | O_CLOEXEC)) < 0)
		cli_die(&c, "%s: %s", c.argv[0], strerror(errno));
	frame_open_in(&l.back, fifo, c.argv[0]);
	frame_open_in(&l.in, STDIN_FILENO, "standard input");
	status = loop_prompt(&l, &w);
	if (!status && l.draft && l.carded)
		status = draft_start(l.draft, &l.card, &w);
	if (!status)
		status = loop_run(&l, &w);
	if (draft_failed(&set))
		return 1;
	if (status && !l.gone)
		cli_die(&c, "%s", w.text);
	loop_close(&l);
	return 0;
}
