/* Runs the stages and the loop between them, and finds the exit status in how each of them ended. */
#include "run.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "gen/conversation/alone.h"
#include "gen/conversation/conversation.h"
#include "gen/loop/feed_opts.h"
#include "gen/loop/replay.h"
#include "gen/requests/requests.h"
#include "generate.h"
#include "pipeline.h"
#include "progress.h"
#include "signals.h"
#include "verify.h"

/* Configures the loop from the command of feed, as it is printed. */
static int set_loop(struct request *q, struct loop *l, struct draft *draft, struct replay *replay, struct why *w)
{
	static struct cli c = { .opts = feed_opts, .rules = feed_rules };
	const struct stage *feed = &q->stage[FEED];
	static char fifo[] = "ids";

	c.program = q->speaker;
	c.argc = (int)feed->n + 1;
	if (!(c.argv = calloc(feed->n + 2, sizeof *c.argv)))
		return why(w, "out of memory");
	memcpy(c.argv, feed->argv, feed->n * sizeof *c.argv);
	c.argv[feed->n] = fifo;
	feed_options(l, draft, replay, &q->stage[DRAFT], &c);
	q->stage[DRAFT].argv[0] = q->fwd;
	if (!l->replay)
		return 0;
	if (replay_read(replay, w))
		return -1;
	replay->name = "the record";
	return 0;
}

/* ---- how it ended ---- */

/* The exit status of a stage; -1 if a signal ended it, or there is no such stage. */
static int exit_status(const struct request *q, int stage)
{
	return stage >= 0 && WIFEXITED(q->stage[stage].status) ? WEXITSTATUS(q->stage[stage].status) : -1;
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
static int find_early(struct request *q, const struct loop *l, int status, struct why *w)
{
	int lost = !status && !l->whole && !q->conversation;

	if (l->gone ? l->gone != LOOP_OUT : !lost)
		return 0;
	stages_find_early(q->stage, KV, FWD, TEE);
	return why(w, "%s ended before the text was complete", l->back.name);
}

/* Whether a stop string has ended each text. sample does not know of that, and may have gone on to -n. */
static int ended_by_stop(const struct request *q, const struct result *results)
{
	int ended = !q->listed;

	for (int i = 0; i < q->texts && ended; i++)
		ended = results[i].reason == FRAME_END_STOP;
	return ended;
}

/* Whether the only failure is that sample stopped before the grammar was complete (its status 3). *failed is the stage
 * that failed, or -1; if it is sample for that reason, another stage that failed replaces it. */
static int is_cut(struct request *q, int *failed, const struct result *results, struct why *w)
{
	if (*failed != SAMPLE || q->stage[SAMPLE].shell || exit_status(q, SAMPLE) != 3)
		return 0;
	q->stage[SAMPLE].status = 0;
	*failed = stages_wait(q->stage, KV, 0, w);
	return *failed < 0 && !q->interactive && !q->requests && !ended_by_stop(q, results);
}

/* The exit status of the answers of ask: 3, with a line on stderr, if -n or a full context has stopped one, or if one
 * is empty. */
static int answer_status(const struct request *q, const struct loop *l, const struct result *results)
{
	size_t limited = 0, full = 0, empty;

	for (int i = 0; i < q->texts; i++) {
		limited += results[i].reason == FRAME_END_LENGTH;
		full += results[i].reason == FRAME_END_CONTEXT;
	}
	empty = limited + full ? 0 : alone_empty(q);
	if ((!limited && !full && !empty) || l->gone)
		return 0;
	if (full && !q->listed) {
		fprintf(stderr, "%s: the context of %" PRId32 " tokens is full (-c): the answer ends here\n",
			q->program, l->card.n_ctx);
		return 3;
	}
	fprintf(stderr, "%s: ", q->program);
	if (limited)
		fprintf(stderr, "-n/--n-predict%s", full ? " or " : "");
	if (full)
		fprintf(stderr, "the full context of %" PRId32 " tokens (-c)", l->card.n_ctx);
	if (empty)
		fprintf(stderr, "%zu of %d answers %s empty\n", empty, q->texts, empty == 1 ? "is" : "are");
	else if (q->listed)
		fprintf(stderr, " stopped %zu of %d answers\n", limited + full, q->texts);
	else
		fprintf(stderr, " stopped the answer\n");
	return 3;
}

/* The exit status where nothing has failed: 3, with a line on stderr, if a full context has ended a text. One that -n
 * has ended is complete: its user wanted so many tokens. */
static int full_status(const struct request *q, const struct loop *l, const struct result *r)
{
	int several = q->listed || q->all;
	size_t full = several ? l->full : r->reason == FRAME_END_CONTEXT;

	if (!full || l->gone || q->conversation || q->record || q->requests)
		return 0;
	fprintf(stderr, "%s: the context of %" PRId32 " tokens is full (-c): ", q->program, l->card.n_ctx);
	if (several)
		fprintf(stderr, "%zu text%s early\n", full, full == 1 ? " ends" : "s end");
	else
		fprintf(stderr, "the text ends here\n");
	return 3;
}

/* Whether there is a report about a text. */
static int reports(const struct request *q)
{
	return !q->conversation && !q->requests;
}

/* ---- all of it ---- */

/* Runs the loop until it is over. Returns an exit status, whose reason the user was told, or -1 with a reason. */
static int work(struct request *q, struct loop *l, struct result *results, struct capture *capture, struct why *w)
{
	static struct draft draft;
	static struct replay replay;
	char prefix[16];
	int status;

	loop_init(l);
	if (set_loop(q, l, &draft, &replay, w))
		return -1;
	l->r = q->lines || q->requests ? NULL : results;
	for (int i = 0; i < q->texts; i++)
		results[i].begin = clock_now();
	l->logprobs = q->logprobs;
	signals_take(q);
	snprintf(prefix, sizeof prefix, "%s: ", q->program);
	setenv("LMPIPE_ERROR_PREFIX", prefix, 1);
	if (progress_start(q, l, w))
		return -1;
	status = q->conversation ? conversation(q, l, w) : q->requests ? requests(q, l, w)
		: generate(q, l, capture, w);
	progress_end();
	draft_close(&draft);
	replay_close(&replay);
	return status;
}

/* Waits for all stages and prints the reports, and the line of what has failed. Returns the exit status. status, *ours:
 * from work(). */
static int finish(struct request *q, struct loop *l, struct result *results, struct capture *capture, int status,
	struct why *ours)
{
	const struct result *r = results;
	struct cli c = { 0 };
	const char *reason;
	struct why its;
	int failed, cut;

	if (l->replay && l->replay->differs) {
		pipeline_end(q, l, 1, &its);
		verify_ids(q, l->replay);
		return 1;
	}
	if (find_early(q, l, status, ours))
		status = -1;
	failed = pipeline_end(q, l, status < 0 || l->gone, &its);
	/* where a record's text was cut, so is the one that is drawn again */
	cut = is_cut(q, &failed, results, &its) && !q->record;
	if (l->replay && l->replay->left && failed < 0 && !status)
		status = why(ours, "no token was drawn");
	if (q->requests && l->whole && exit_status(q, failed) == 1)
		failed = -1;    /* a stage could not evaluate some text, whose request was answered by an error */
	if (reports(q) && !(r = generate_report(q, l, capture, results, failed < 0 && !status, ours)))
		status = -1;
	if (failed < 0 && !cut && !status && q->answer && !q->conversation)
		status = answer_status(q, l, results);
	else if (failed < 0 && !cut && !status)
		status = full_status(q, l, r);
	/* the conversation has said so */
	cut = cut && status != 3;
	if (failed < 0 && !cut && status >= 0) {
		if (q->requests)
			requests_end("");
		return status;
	}
	if (failed < 0 && !cut && reader_is_gone())
		exit(0);
	reason = (failed < 0 && !cut) || l->rejected ? ours->text : its.text;
	if (q->requests)
		requests_end(reason);
	c.program = q->speaker;
	cli_line(&c, "%s", reason);
	if (l->rejected)
		return 1;
	return cut ? 3 : exit_status(q, failed) == 2 && !q->stage[failed].shell ? 2 : 1;
}

int run(struct request *q)
{
	struct result *results = calloc((size_t)q->texts, sizeof *results);
	struct capture capture = { 0 };
	static struct loop l;
	struct why w;
	int status;

	if (!results) {
		fprintf(stderr, "%s: out of memory\n", q->program);
		return 1;
	}
	status = work(q, &l, results, &capture, &w);
	status = finish(q, &l, results, &capture, status, &w);
	for (int i = 0; i < q->texts; i++)
		result_free(&results[i]);
	free(results);
	loop_close(&l);
	return status;
}
