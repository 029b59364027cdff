/* gen: text from a prompt. Starts the stages and is the loop between them; what each option means is for the stages
 * to say. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/cli.h"
#include "lib/base/clock.h"
#include "lib/chat/chat_opts.h"
#include "lib/sampler/opts.h"
#include "console.h"
#include "conversation.h"
#include "feed_opts.h"
#include "options.h"
#include "pipeline.h"
#include "progress.h"
#include "report.h"

enum { TEXT_MAX = 1 << 30 };

static const char *const names[STAGES] = {
	[SCHEMA] = "schema", [PROMPT] = "prompt", [TOK] = "tok", [FEED] = "feed", [FWD] = "fwd", [SAMPLE] = "sample",
	[STOPS] = "detok --frames", [TEE] = "tee", [BEST] = "best", [DETOK] = "detok", [DRAFT] = "draft",
	[CHAT] = "chat", [ANSWER] = "detok", [KV] = "kv"
};

static struct request q;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	if (sig == SIGINT && q.interactive && console_interrupt())
		return;
	interrupted = sig;
	console_quit();
	stages_kill(q.stage, STAGES, SIGTERM);
}

static void take_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The settings of the loop are those of the feed that is printed. */
static void set_loop(struct loop *l, struct feed_settings *set)
{
	static char fifo[] = "ids";
	static char *argv[STAGE_ARGS + 1];
	struct stage *s = &q.stage[FEED];
	struct cli c = { .program = "gen", .opts = feed_opts, .argc = s->n + 1, .argv = argv };

	memcpy(argv, s->argv, (size_t)s->n * sizeof *argv);
	argv[s->n] = fifo;
	feed_settings(set, &c);
	l->n = set->n;
	l->repeat = set->repeat;
	l->turns = set->repeat > 1;
	if (!set->drafts)
		return;
	l->draft = &set->draft;
	if (set->draft.model) {
		q.stage[DRAFT] = set->model;
		q.stage[DRAFT].argv[0] = find_program(q.program[DRAFT], q.stage[FWD].argv[0], "fwd", "fwd");
		set->draft.model = &q.stage[DRAFT];
	}
}

/* ---- what is observed ---- */

struct capture {                /* of --json: files without a name */
	FILE *text, *ends;      /* detok's text, and its `end ` frames, or NULL */
	char path[32];          /* of ends */
};

static int open_capture(struct capture *capture, struct why *w)
{
	if (q.json && !(capture->text = tmpfile()))
		return why(w, "cannot create a temporary file");
	if (!q.best_of || !(q.json || q.verbose))
		return 0;
	if (!(capture->ends = tmpfile()))
		return why(w, "cannot create a temporary file");
	snprintf(capture->path, sizeof capture->path, "/dev/fd/%d", fileno(capture->ends));
	return stage_arg(&q.stage[DETOK], "--end", w) || stage_arg(&q.stage[DETOK], capture->path, w);
}

/* Which of the texts of --best-of was the best. */
static size_t best_number(struct capture *capture)
{
	static struct frame_in in;
	struct frame f;
	struct why ignored;

	if (!capture->ends)
		return 0;
	rewind(capture->ends);
	frame_open_in(&in, fileno(capture->ends), "ends");
	return frame_next(&in, &f, &ignored) > 0 && f.seq < (uint32_t)q.best_of ? f.seq : 0;
}

static void print_json(struct capture *capture, const struct result *r)
{
	struct bytes text = { .limit = TEXT_MAX };
	char part[4096];
	size_t n;

	rewind(capture->text);
	while ((n = fread(part, 1, sizeof part, capture->text)) > 0)
		bytes_put(&text, part, n);
	report_json(&q, r, &text);
	bytes_free(&text);
}

/* -v and --json, of the generation that was printed. */
static void tell(struct capture *capture, struct result *all, int whole)
{
	size_t number = best_number(capture);
	struct result *r = &all[number];

	if (number)
		tokens_add(&r->prompt, all->prompt.id, all->prompt.n, &(struct why){ "" });
	q.seed += (int64_t)number;
	if (q.verbose && r->ids.n)
		report(&q, r);
	if (q.json && whole)
		print_json(capture, r);
}

/* ---- one prompt ---- */

static int generate(struct loop *l, struct capture *capture, struct why *w)
{
	if (open_capture(capture, w) || pipeline_start(&q, l, capture->text ? dup(fileno(capture->text)) : -1, w))
		return -1;
	if (q.chained)
		return loop_copy(l, w);
	if (loop_prompt(l, w) || (l->draft && l->carded && draft_start(l->draft, &l->card, w)) || loop_run(l, w) ||
	    loop_drain(l, w))
		return l->gone ? 0 : -1;
	return 0;
}

/* The exit status: a stage that failed has its line, or ours. */
static int finish(int status, int failed, const struct why *ours, const struct why *its)
{
	if (interrupted) {
		signal(interrupted, SIG_DFL);
		raise(interrupted);
	}
	if (failed < 0 && !status)
		return 0;
	fprintf(stderr, "gen: %s\n", failed < 0 ? ours->text : its->text);
	return failed >= 0 && stage_status(&q.stage[failed]) == 2 ? 2 : 1;
}

static int run(void)
{
	static struct feed_settings set;
	static struct loop l;
	struct capture capture = { 0 };
	struct result *results = calloc(q.best_of ? (size_t)q.best_of : 1, sizeof *results);
	struct why ours, its;
	int status, failed;

	if (!results) {
		fprintf(stderr, "gen: out of memory\n");
		return 1;
	}
	loop_init(&l);
	if (stage_used(&q.stage[FEED]))
		set_loop(&l, &set);
	l.r = results;
	l.r->begin = clock_now();
	l.logprobs = q.logprobs;
	l.wait = progress_wait;
	take_signals();
	status = q.chat ? conversation(&q, &l, &ours) : generate(&l, &capture, &ours);
	results->proposed = set.draft.proposed;
	results->accepted = set.draft.accepted;
	results->paused = set.draft.paused;
	draft_close(&set.draft);
	failed = pipeline_end(&q, &l, status || interrupted || l.gone, &its);
	if (!q.chat && !interrupted)
		tell(&capture, results, failed < 0 && !status);
	for (int i = 0; i < (q.best_of ? q.best_of : 1); i++)
		result_free(&results[i]);
	free(results);
	loop_close(&l);
	return finish(status, failed, &ours, &its);
}

int main(int argc, char **argv)
{
	static struct cli c = { .program = "gen", .synopsis = "[options] [PROMPT] (default: the prompt from stdin)",
		.purpose = "text from a prompt: the loop of tok, fwd, sample and detok", .opts = options_table,
		.more = { fwd_opts, chat_opts, sampler_opts } };
	static char path[FIND_PATH];
	const char *argv0 = argv[0];
	int status;

	for (int i = 0; i < STAGES; i++)
		q.stage[i].name = names[i];
	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	options(&q, &c);
	if (!q.model && !(q.model = find_model(path, argv0)))
		cli_usage(&c, "no model: name one with -m or $LMPIPE_MODEL");
	commands(&q, &c, argv0);
	if (q.print) {
		pipeline_print(&q);
		return cli_end(&c);
	}
	status = run();
	return status ? status : cli_end(&c);
}
