/* gen: text from a prompt. Starts the stages and runs the loop between them; the stages implement the options. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/cli.h"
#include "lib/base/clock.h"
#include "lib/base/out.h"
#include "lib/base/slurp.h"
#include "lib/chat/chat_opts.h"
#include "lib/sampler/opts.h"
#include "arguments.h"
#include "console.h"
#include "convert.h"
#include "conversation.h"
#include "feed_opts.h"
#include "options.h"
#include "parallel.h"
#include "pipeline.h"
#include "report.h"

enum { TEXT_MAX = 1 << 30 };

static struct request q;

/* Stops the stages before gen ends. */
static void on_signal(int sig)
{
	int before = errno, over = sig != SIGINT || !q.interactive || !console_interrupt();

	if (!over && console_ended())
		stages_kill(q.stage, STAGES);
	errno = before;
	if (!over)
		return;
	console_restore();
	stages_kill(q.stage, STAGES);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	signal(sig, SIG_DFL);
	raise(sig);
}

static void take_signals(void)
{
	/* otherwise the terminal's modes would outlive the program */
	static const int others[] = { SIGQUIT, SIGALRM, SIGUSR2, SIGVTALRM, SIGXCPU };
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	if (q.edited)
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			sigaction(others[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (q.interactive)
		stages_block_interrupts();
}

/* Configures the loop from the command of feed, as it is printed. */
static void set_loop(struct loop *l, struct draft *draft)
{
	const struct stage *feed = &q.stage[FEED];
	static char fifo[] = "ids";
	char **argv = calloc(feed->n + 2, sizeof *argv);
	static struct cli c = { .program = "gen", .opts = feed_opts };

	if (!argv)
		cli_die(&c, "out of memory");
	c.argc = (int)feed->n + 1;
	c.argv = argv;
	memcpy(argv, feed->argv, feed->n * sizeof *argv);
	argv[feed->n] = fifo;
	feed_options(l, draft, &q.stage[DRAFT], &c);
	q.stage[DRAFT].argv[0] = q.fwd;
	free(argv);
}

/* ---- one prompt ---- */

/* What is captured besides the loop's own observations: files without a name; 0: none. */
struct capture {
	int text;               /* detok's text, for --json */
	int ends;               /* and its `end ` frames, for the number of the best text, or the stop string */
	char path[32];          /* of ends */
};

static int open_capture(struct capture *capture, struct why *w)
{
	if (q.json && !q.listed && (capture->text = stage_file(w)) < 0)
		return -1;
	if ((!q.best_of && !q.stop) || q.listed || q.color || q.stage[DETOK].shell)
		return 0;
	if ((capture->ends = stage_file(w)) < 0)
		return -1;
	snprintf(capture->path, sizeof capture->path, "/dev/fd/%d", capture->ends);
	return stage_arg(&q.stage[DETOK], "--end", w) || stage_arg(&q.stage[DETOK], capture->path, w) ? -1 : 0;
}

/* The result of the text that was printed; with --best-of, one of several. */
static struct result *printed(const struct capture *capture, struct result *all, struct why *w)
{
	static struct frame_in in;
	struct result *r = all;
	struct frame f;

	if (!capture->ends)
		return all;
	if (stage_rewind(capture->ends, w))
		return NULL;
	frame_open_in(&in, capture->ends, "detok --end");
	if (frame_next(&in, &f, w) <= 0)
		return all;
	if (f.seq && f.seq < (uint32_t)q.texts) {
		r += f.seq;
		q.seed += f.seq;
		if (ids_append(&r->prompt, all->prompt.id, all->prompt.n, w))
			return NULL;
	}
	/* it may not have reached the loop */
	if (f.flags == FRAME_END_STOP)
		r->reason = FRAME_END_STOP;
	return r;
}

/* Prints what -v and --json ask for, about the generation that was printed. The JSON line is printed only if the
 * generation is complete. */
static int write_reports(const struct capture *capture, const struct loop *l, const struct result *r, int whole,
	struct why *w)
{
	struct bytes text = { .limit = TEXT_MAX };
	int failed = 0;

	if (q.verbose && r->ids.n)
		report(&q, l, r);
	if (capture->text && whole) {
		failed = stage_rewind(capture->text, w) || slurp_fd(capture->text, "temporary file", &text, w);
		if (!failed)
			failed = report_json(&q, r, &text, w);
		bytes_free(&text);
	}
	return failed;
}

/* Whether -n limits the text. */
static int has_limit(void)
{
	static const enum stage_number counting[] = { FEED, SAMPLE, FWD };
	const char *n = NULL;

	for (size_t i = 0; !n && i < sizeof counting / sizeof *counting; i++)
		n = stage_option(&q.stage[counting[i]], "--n-predict");
	return n && *n != '-';
}

/* The exit status of a complete text: 3, with a line on stderr, if a full context has ended it before -n. */
static int full_status(const struct loop *l, const struct result *r)
{
	int several = q.listed || q.all;
	size_t full = several ? l->full : r->reason == FRAME_END_CONTEXT;

	if (!full || l->gone || q.conversation || !has_limit())
		return 0;
	fprintf(stderr, "gen: the context of %" PRId32 " tokens is full (-c): ", l->card.n_ctx);
	if (several)
		fprintf(stderr, "%zu text%s before -n/--n-predict\n", full, full == 1 ? " ends" : "s end");
	else
		fprintf(stderr, "the text ends before -n/--n-predict\n");
	return 3;
}

/* Prints the prompt, as the stage that prints it for tok does. */
static int echo(struct why *w)
{
	struct bytes text = { .limit = TEXT_MAX };
	int failed;

	if (q.file)
		failed = slurp(q.file, &text, w);
	else
		failed = bytes_put(&text, q.prompt, q.prompt_n) && why(w, "out of memory");
	if (!failed) {
		out_shown(text.p, text.n);
		out_shown_end();
		failed = out_flush(w);
	}
	bytes_free(&text);
	return failed ? -1 : 0;
}

static int generate(struct loop *l, struct capture *capture, struct why *w)
{
	static struct ids kept;
	int text = -1, failed = 0;

	if (q.kv)
		convert_kept(&q, &kept);
	/* where nothing is kept, the prompt begins a text */
	if (q.append && !kept.n)
		stage_drop_option(&q.stage[TOK], "--append", 0);
	if (!q.append)
		l->kept = kept;
	l->kv = q.kv;
	if ((q.echo && echo(w)) || open_capture(capture, w)
	    || (capture->text && (text = stage_dup(capture->text, w)) < 0) || pipeline_start(&q, l, text, w))
		return -1;
	if (l->jobs)
		failed = parallel_run(l, w);
	else
		failed = loop_prompt(l, w) || loop_run(l, w);
	if (!l->jobs && (!failed || l->gone == LOOP_OUT))
		failed = loop_drain(l, w);
	if (failed)
		return l->gone ? 0 : -1;
	/* tok itself writes nothing for an empty prompt without BOS; a command in its place has ended too early */
	if (l->n && q.stage[TOK].shell && l->whole && !l->in.number) {
		stages_find_early(q.stage, KV, TOK, FEED);
		return why(w, "tok ended before the prompt was complete");
	}
	/* --lines keeps no results; there, an empty prompt has an empty answer */
	if (l->r && l->n && l->whole && !l->gone && !l->r->prompt.n)
		return why(w, "the prompt is empty, and has no BOS (--bos adds it)");
	return 0;
}

/* ---- all of it ---- */

/* The exit status of a stage; -1 if a signal ended it, or there is no such stage. */
static int exit_status(int stage)
{
	return stage >= 0 && WIFEXITED(q.stage[stage].status) ? WEXITSTATUS(q.stage[stage].status) : -1;
}

/* Whether nobody reads our output any more. */
static int reader_is_gone(void)
{
	/* without events, poll() reports a pipe without readers */
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

/* If the text is not complete, though it has a reader and nothing has failed, marks the stage that has ended too early.
 * Returns 0, or -1 with a reason in case there is none, because it has only closed its output. */
static int find_early(const struct loop *l, int status, struct why *w)
{
	int lost = !status && !l->whole && !q.conversation;

	if (l->gone ? l->gone != LOOP_OUT : !lost)
		return 0;
	stages_find_early(q.stage, KV, FWD, TEE);
	return why(w, "%s ended before the text was complete", l->back.name);
}

/* Whether a stop string has ended each text. sample does not know of that, and may have gone on to -n. */
static int ended_by_stop(const struct result *results)
{
	int ended = !q.listed;

	for (int i = 0; i < q.texts && ended; i++)
		ended = results[i].reason == FRAME_END_STOP;
	return ended;
}

/* Returns the exit status. If a stage failed, its error line is printed, or one of ours. */
static int run(void)
{
	struct result *results = calloc((size_t)q.texts, sizeof *results), *r;
	struct capture capture = { 0 };
	static struct draft draft;
	struct why ours, its;
	static struct loop l;
	int status, failed;     /* status 1: turns were refused, and the user was told */
	int cut;                /* sample's status 3: its output ended before the grammar allows an end */

	if (!results) {
		fprintf(stderr, "gen: out of memory\n");
		return 1;
	}
	loop_init(&l);
	set_loop(&l, &draft);
	l.r = q.lines ? NULL : results;
	for (int i = 0; i < q.texts; i++)
		results[i].begin = clock_now();
	l.logprobs = q.logprobs;
	l.idle = l.r ? report_wait : NULL;
	take_signals();
	setenv("LMPIPE_ERROR_PREFIX", "gen: ", 1);
	if (l.idle && report_progress(&q, &ours))
		status = -1;
	else
		status = q.conversation ? conversation(&q, &l, &ours) : generate(&l, &capture, &ours);
	draft_close(&draft);
	if (find_early(&l, status, &ours))
		status = -1;
	failed = pipeline_end(&q, &l, status < 0 || l.gone, &its);
	cut = failed == SAMPLE && !q.stage[SAMPLE].shell && exit_status(failed) == 3;
	if (cut) {
		/* another failure takes precedence */
		q.stage[SAMPLE].status = 0;
		failed = stages_wait(q.stage, KV, 0, &its);
		cut = failed < 0 && !q.interactive && !ended_by_stop(results);
	}
	if (!(r = printed(&capture, results, &ours))
	    || (!q.conversation && write_reports(&capture, &l, r, failed < 0 && !status, &ours)))
		status = -1;
	if (failed < 0 && !cut && !status)
		status = full_status(&l, r);
	for (int i = 0; i < q.texts; i++)
		result_free(&results[i]);
	free(results);
	loop_close(&l);
	if (failed < 0 && !cut && status >= 0)
		return status;
	if (failed < 0 && !cut && reader_is_gone())
		exit(0);
	fprintf(stderr, "gen: %s\n", (failed < 0 && !cut) || l.rejected ? ours.text : its.text);
	if (l.rejected)
		return 1;
	return cut ? 3 : exit_status(failed) == 2 && !q.stage[failed].shell ? 2 : 1;
}

int main(int argc, char **argv)
{
	static struct cli c = { .program = "gen", .synopsis = "[options] [PROMPT] (default: the prompt from stdin)",
		.purpose = "text from a prompt: the loop of tok, fwd, sample and detok", .opts = prompt_opts,
		.more = { chat_opts, model_opts, fwd_opts, pipeline_opts, sampler_opts, schema_opts },
		.rules = option_rules };
	int status = 0;
	struct why w;

	cli_start(&c, argc, argv);
	options(&q, &c);
	if (arguments(&q, argv[0], &w))
		cli_die(&c, "%s", w.text);
	if (q.print_pipeline)
		pipeline_print(&q);
	else
		status = run();
	return status ? status : cli_end(&c);
}
