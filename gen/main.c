/* gen: text from a prompt. Starts tok, fwd, sample and detok and loops sample's ids back to fwd; what each option means is the stages' affair. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/chat/chat_opts.h"
#include "lib/base/cli.h"
#include "fwd/fwd_opts.h"
#include "lib/gguf/gguf.h"
#include "lib/sampler/opts.h"
#include "draft.h"
#include "gen.h"
#include "options.h"
#include "person.h"
#include "place.h"

static const char *const names[STAGES] = { "tok", "fwd", "sample", "detok", "prompt", "draft" };

static struct request q;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	if (sig == SIGINT && q.interactive && person_interrupts())
		return;
	interrupted = sig;
	person_leaves();
	stages_kill(q.stage, STAGES, SIGTERM);
}

static int stage_status(const struct cli *c, const struct stage *s)
{
	if (WIFSIGNALED(s->status))
		fprintf(stderr, "%s: %s: killed by signal %d\n", c->program, s->name, WTERMSIG(s->status));
	else
		fprintf(stderr, "%s: %s: exit status %d\n", c->program, s->name, WEXITSTATUS(s->status));
	return WIFEXITED(s->status) && WEXITSTATUS(s->status) == 2 ? 2 : 1;
}

/* A file that is no model is told once, here, and not by three stages. */
static void open_model(const struct cli *c)
{
	struct why w;

	int needed = q.chat || q.json || q.stop || q.draft;

	q.g = gguf_open(q.model, 0, &w);
	if (q.g && needed)
		q.vocab = vocab_open(q.g, q.chat ? VOCAB_ENCODE : VOCAB_PIECES, &w);
	if (!q.g || (needed && !q.vocab) || (q.draft && !q.lookup && draft_check(&q, &w)))
		cli_die(c, "%s", w.text);
}

static void close_model(void)
{
	stop_close(q.stop);
	vocab_close(q.vocab);
	gguf_close(q.g);
}

static int run(const struct cli *c)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct result r = { 0 };
	struct why w;
	int failed, status, ours;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	status = q.chat ? talk(&q, &w) : once(&q, &r, &w);
	ours = status || interrupted ? SIGTERM : 0;
	if (status)
		stages_kill(q.stage, STAGES, ours);
	failed = stages_wait(q.stage, STAGES, ours);
	if (q.prompted && write(STDOUT_FILENO, "\n", 1) < 0)
		failed = failed < 0 ? DETOK : failed;
	if (q.verbose && r.ids.n)
		report(&q, &r);
	if (q.json && !q.chat && !interrupted && failed < 0 && (!status || stage_was_killed(&q.stage[FWD], SIGPIPE)))
		report_json(&q, &r);
	result_free(&r);
	if (interrupted) {
		signal(interrupted, SIG_DFL);
		raise(interrupted);
	}
	if (failed >= 0)
		return stage_status(c, &q.stage[failed]);
	if (stage_was_killed(&q.stage[DETOK], SIGPIPE))
		return 0;
	if (stage_was_killed(&q.stage[FWD], SIGPIPE)) {         /* sample had enough */
		if (q.chat)
			cli_die(c, "sample ended before the conversation did");
		return 0;
	}
	if (status)
		cli_die(c, "%s", w.text);
	return 0;
}

int main(int argc, char **argv)
{
	struct cli c = { .program = "gen", .synopsis = "[options] [PROMPT] (default: the prompt from stdin)",
		.purpose = "text from a prompt: tok, fwd, sample and detok, looped", .opts = options_table, .more = { fwd_opts, chat_opts, sampler_opts },
		.argc = argc, .argv = argv };
	struct place place;
	struct why w;
	int status;

	for (int i = 0; i < STAGES; i++)
		q.stage[i] = (struct stage){ .name = names[i], .n = 1 };
	cli_start(&c);
	options(&q, &c);
	if (place_find(&place, argv[0], &w))
		cli_die(&c, "%s", w.text);
	q.model = q.model ? q.model : place.model;
	if (!q.model)
		cli_usage(&c, "no model: name one with -m or $LMPIPE_MODEL");
	commands(&q, &c, &place);
	if (q.print) {
		print_pipeline(&q);
		return cli_end(&c);
	}
	open_model(&c);
	status = run(&c);
	close_model();
	return status ? status : cli_end(&c);
}
