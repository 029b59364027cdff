/* feed: closes the loop of a generation in plain shell: copies a prompt, then the ids that come back through a FIFO,
 * and appends guesses if asked to. It can also do this for several sequences at once. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/process/find.h"
#include "feed_opts.h"
#include "loop.h"

enum { PATIENCE = 5 };          /* seconds without a writer */

static struct cli c = { .program = "feed", .synopsis = "[options] FIFO < prompt > ids",
	.purpose = "closes the loop of a generation: the prompt, then the sampled tokens", .opts = feed_opts,
	.rules = feed_rules,
	.examples = "  mkfifo f\n"
		"  tok m.gguf < prompt | feed f | fwd m.gguf | sample | tee f | detok m.gguf\n"
		"  tok m.gguf < prompt | feed --draft lookup f | fwd m.gguf | ...\n" };

static void on_alarm(int sig)
{
}

/* Opens the FIFO, which waits for its writer. Without one the whole pipeline hangs, so the user is told. */
static int open_fifo(const char *path)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct stat st;
	int fd;

	sigaction(SIGALRM, &act, NULL);
	alarm(PATIENCE);
	while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR)
		cli_warn(&c, "%s: nobody has opened it for writing (sample | tee %s)", path, path);
	alarm(0);
	if (fd < 0 || fstat(fd, &st))
		cli_die(&c, "%s: %s", path, strerror(errno));
	/* what comes from a file or a device does not come from this loop */
	if (!S_ISFIFO(st.st_mode))
		cli_die(&c, "%s: not a FIFO (mkfifo makes one)", path);
	return fd;
}

/* The status of --replay. */
static int end_replay(const struct loop *l)
{
	struct why w;

	if (l->replay->differs) {
		replay_tell(l->replay, &w);
		cli_warn(&c, "%s: %s", l->replay->name, w.text);
		return 1;
	}
	if (!l->whole)
		cli_die(&c, "%s ended before the text was complete", l->back.name);
	if (l->replay->left)
		cli_die(&c, "%s: %zu text%s no prompt", l->replay->name, l->replay->left,
			l->replay->left == 1 ? " has" : "s have");
	return 0;
}

int main(int argc, char **argv)
{
	static struct stage model;
	static struct draft draft;
	static struct replay replay;
	static struct loop l;
	const char *argv0 = argv[0];
	struct why w, of_model;
	int status, fifo;

	cli_start(&c, argc, argv);
	feed_options(&l, &draft, &replay, &model, &c);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	model.argv[0] = find_program(argv0, "feed", "fwd");
	signal(SIGPIPE, SIG_IGN);
	l.out = STDOUT_FILENO;
	/* opened now, because tee's open() of the other end waits for it */
	fifo = open_fifo(c.argv[0]);
	cli_must(&c, l.replay && replay_read(&replay, &w), &w);
	frame_open_in(&l.back, fifo, c.argv[0]);
	frame_open_in(&l.in, STDIN_FILENO, "standard input");
	status = loop_run(&l, &w);
	replay_close(&replay);
	draft_close(&draft);
	/* the small model's own error says more than what its death did to the loop */
	if (stage_wait(&model, &of_model))
		cli_die(&c, "%s", of_model.text);
	cli_must(&c, status && !l.gone, &w);
	if (l.replay)
		return end_replay(&l);
	loop_close(&l);
	if (l.full && !l.gone)
		cli_cut(&c, "the context of %" PRId32 " tokens is full (fwd -c): %zu text%s early", l.card.n_ctx,
			l.full, l.full == 1 ? " ends" : "s end");
	return 0;
}
