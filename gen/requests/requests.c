/* What becomes of a job: its line is taken, its choices start and end, its answer is queued for output. */
#include "requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "gen/pipeline.h"
#include "answered.h"
#include "answers.h"
#include "choice.h"
#include "conversions.h"
#include "deltas.h"
#include "inbox.h"
#include "job.h"
#include "jobs.h"
#include "opts.h"
#include "prompts.h"

enum { WAITING_MAX = 64 << 20, OUT_MOST = 1 << 20 };    /* bytes of jobs that wait, and of answers */

static struct requests {
	struct request *q;
	struct loop *loop;
	struct model model;
	struct lessons lessons;
	struct defaults defaults;
	struct inbox inbox;
	struct answered answered;
	struct jobs jobs;       /* until their answers have been queued for output */
	size_t lines;
	int failed;             /* the input cannot be read, for this reason: */
	struct why why;
} all;

/* ---- answers on their way ---- */

static int send(struct requests *r, struct job *j, struct why *w)
{
	int failed = j->out.n && bytes_put(&r->loop->to_copy.bytes, j->out.p, j->out.n);

	j->out.n = 0;
	return failed ? why(w, "out of memory for answers that wait") : 0;
}

/* Sends what there is of a job's answer, unless earlier ones come first. A job that is done is freed. */
static int deliver(struct requests *r, struct job *j, struct why *w)
{
	struct jobs *jobs = &r->jobs;
	int done = j->done;

	if (done)
		jobs_done(j);
	if (r->q->ordered && j != jobs->first)
		return 0;
	if (send(r, j, w))
		return -1;
	if (!done)
		return 0;
	jobs_remove(jobs, j);
	while (r->q->ordered && jobs->first && (done || jobs->first->out.n)) {
		if (send(r, jobs->first, w))
			return -1;
		if (!(done = jobs->first->done))
			break;
		jobs_remove(jobs, jobs->first);
	}
	return 0;
}

/* Answers a job with an error. */
static int refuse(struct requests *r, struct job *j, const struct why *reason, int server, struct why *w)
{
	if (answers_error(j, reason->text, server, w))
		return -1;
	j->failed = j->done = 1;
	return deliver(r, j, w);
}

/* ---- lines ---- */

/* The job is over: every choice is. */
static int finish(struct requests *r, struct job *j, struct why *w)
{
	if (!j->failed && answers_end(j, w))
		return -1;
	j->done = 1;
	return deliver(r, j, w);
}

/* Ends a choice that was never started. */
static int skip_choice(struct job *j, struct choice *c, struct why *w)
{
	j->n_over++;
	return choice_over(c, FRAME_END_INTERRUPT, w) || (j->stream && !j->failed && deltas_add(c, 1, w)) ? -1 : 0;
}

/* Ends all choices of a job. */
static int stop_job(struct requests *r, struct job *j, struct why *w)
{
	size_t started = j->n_started, running = 0;

	j->n_started = j->n_choices;
	for (size_t i = started; i < j->n_choices; i++)
		if (skip_choice(j, &j->choice[i], w))
			return -1;
	for (size_t i = 0; i < started; i++)
		running += !j->choice[i].over;
	if (j->n_over == j->n_choices)
		return finish(r, j, w);
	/* the last end may free the job */
	for (struct choice *c = j->choice; running; c++) {
		if (c->over)
			continue;
		running--;
		if (loop_cancel(r->loop, c->sequence, w))
			return -1;
	}
	return 0;
}

/* A job that waits has not been prepared yet. */
static int cancel(struct requests *r, const struct job *by, struct why *w)
{
	struct why bad;
	struct job *j = jobs_find(&r->jobs, &by->key);

	if (!j)
		return 0;
	if (!j->choice && job_prepare(j, &r->model, &r->defaults, &bad))
		return refuse(r, j, &bad, 0, w);
	return stop_job(r, j, w);
}

static int take_line(struct requests *r, const char *line, size_t n, struct why *w)
{
	struct why bad;
	int failed;
	struct job *j = job_read(line, n, ++r->lines, &failed, &bad);

	if (!j)
		return why(w, "out of memory for a request");
	if (!failed && j->kind == JOB_CANCEL) {
		failed = cancel(r, j, w);
		job_free(j);
		return failed;
	}
	if (answered_has(&r->answered, j->key.p, j->key.n)) {
		job_free(j);
		return 0;
	}
	jobs_add(&r->jobs, j);
	if (failed)
		return refuse(r, j, &bad, 0, w);
	if (j->kind == JOB_TEXT || j->kind == JOB_CHAT)
		return 0;
	if (conversions_answer(j, &r->model, &bad))
		return refuse(r, j, &bad, 0, w);
	j->done = 1;
	return deliver(r, j, w);
}

/* A line that was too long to read. */
static int take_long(struct requests *r, struct why *w)
{
	struct why bad;
	int failed;
	struct job *j = job_read("null", 4, ++r->lines, &failed, &bad);

	if (!j)
		return why(w, "out of memory for a request");
	jobs_add(&r->jobs, j);
	why(&bad, "the line is longer than %d MiB", INBOX_LINE_MAX >> 20);
	return refuse(r, j, &bad, 0, w);
}

static int is_blank(const char *line, size_t n)
{
	return json_blank(line, n) == n;
}

/* Whether the input is read: not while too much waits. */
static int has_room(const struct requests *r)
{
	return r->jobs.bytes < WAITING_MAX && queue_pending(&r->loop->to_copy) < OUT_MOST;
}

/* Takes the lines that have come. */
static int take_lines(struct requests *r, struct why *w)
{
	const char *line;
	size_t n;
	int got = 0;

	while (has_room(r) && (got = inbox_line(&r->inbox, &line, &n)))
		if (got == INBOX_LONG ? take_long(r, w) : !is_blank(line, n) && take_line(r, line, n, w))
			return -1;
	r->loop->text = has_room(r) && !r->inbox.ended ? r->inbox.fd : -1;
	r->loop->ended = r->inbox.ended && !got && !r->jobs.first;
	return 0;
}

/* The input can be read. */
static void read_more(struct loop *l)
{
	if (inbox_read(&all.inbox, &all.why))
		all.failed = 1;
}

/* ---- sequences ---- */

/* Starts a choice, or prepares a job. Returns 1 if there may be more to start; 0; or -1. */
static int start(struct requests *r, struct why *w)
{
	struct why bad;
	struct job *j = r->loop->active < r->loop->jobs ? jobs_next(&r->jobs) : NULL;

	if (!j)
		return 0;
	if (!j->choice && job_prepare(j, &r->model, &r->defaults, &bad))
		return refuse(r, j, &bad, 0, w) ? -1 : 1;
	return choice_start(&j->choice[j->n_started++], r->loop, w) ? -1 : 1;
}

static int next(void *context, struct why *w)
{
	struct requests *r = context;

	if (r->failed) {
		*w = r->why;
		return -1;
	}
	return take_lines(r, w) ? -1 : start(r, w);
}

/* Sends what is new of a choice. */
static int tell(struct choice *c, struct why *w)
{
	struct job *j = c->job;

	if (!j->stream || j->failed)
		return 0;
	return deltas_add(c, 0, w) || deliver(&all, j, w) ? -1 : 0;
}

static int drawn(void *owner, int32_t id, struct why *w)
{
	struct choice *c = owner;
	int reason = c->job->failed ? FRAME_END_INTERRUPT : choice_drawn(c, id, w);

	if (reason < 0 || c->job->logprobs >= 0)
		return reason;
	return tell(c, w) ? -1 : reason;
}

static int logprobs(void *owner, uint32_t pos, const float (*pairs)[2], size_t n, struct why *w)
{
	struct choice *c = owner;

	if (choice_logprobs(c, pos, pairs, n, w))
		return -1;
	return c->job->logprobs < 0 || pos < c->prompt->ids.n ? 0 : tell(c, w);
}

/* Makes the job's answer an error, because of this choice. */
static int fail(struct requests *r, struct choice *c, uint32_t reason, const char *text, size_t n, struct why *w)
{
	struct job *j = c->job;
	struct why bad, told;

	if (reason == FRAME_END_REFUSED)
		why(&told, "%.*s", (int)n, text);
	else
		why(&told, "the model cannot continue the text");
	j->failed = 1;
	j->param = opts_member(told.text);
	/* in the words of the request */
	why(&bad, "%s%s", j->param ? j->param : "", told.text + (j->param ? strcspn(told.text, ": ") : 0));
	return answers_error(j, bad.text, reason != FRAME_END_REFUSED, w) || stop_job(r, j, w) ? -1 : 0;
}

static int over(void *owner, uint32_t reason, const char *text, size_t n, struct why *w)
{
	struct choice *c = owner;
	struct job *j = c->job;
	int failed = reason == FRAME_END_ERROR || reason == FRAME_END_REFUSED;

	if (choice_over(c, reason, w) || (j->stream && !j->failed && !failed && deltas_add(c, 1, w)))
		return -1;
	if (failed && !j->failed && fail(&all, c, reason, text, n, w))
		return -1;
	/* a delta was too long */
	if (j->failed && j->n_started < j->n_choices && stop_job(&all, j, w))
		return -1;
	jobs_choice_over(&all.jobs, j);
	if (++j->n_over < j->n_choices)
		return deliver(&all, j, w);
	return finish(&all, j, w);
}

/* ---- start and end ---- */

static int set_defaults(struct requests *r, struct why *w)
{
	const struct request *q = r->q;

	r->defaults.limit = q->n;
	r->defaults.seed = q->seeded ? q->seed : -1;
	if (!(r->defaults.stop = stop_open(w)))
		return -1;
	for (size_t i = 0; i < q->n_given; i++) {
		const char *name = q->given[i].o->name;

		r->defaults.special |= !strcmp(name, "special");
		if (!strcmp(name, "stop") && stop_add_quoted(r->defaults.stop, q->given[i].value, w))
			return why_in(w, "--stop");
	}
	return 0;
}

/* Makes a prompt of a message while fwd starts: deriving the format of the template and indexing the vocabulary, all of
 * it for a long word, take milliseconds that the first answers need not wait for. A failure is found again by the
 * request that it concerns. */
static void rehearse(const struct requests *r)
{
	char word[1024], line[sizeof word + 80];
	struct why w;
	struct job *j;
	int failed, n;

	memset(word, 'x', sizeof word);
	n = snprintf(line, sizeof line, "{\"messages\": [{\"role\": \"user\", \"content\": \"%.*s\"}]}",
		(int)sizeof word, word);
	j = job_read(line, (size_t)n, 1, &failed, &w);
	if (j && !failed)
		prompts_make(j, &r->model, &w);
	if (j)
		job_free(j);
}

int requests(struct request *q, struct loop *l, struct why *w)
{
	static struct loop_calls calls = { &all, next, drawn, logprobs, over };

	all.q = q;
	all.loop = l;
	if (inbox_open(&all.inbox, q->file, w) || (q->resume && answered_read(&all.answered, q->resume, w))
	    || set_defaults(&all, w) || pipeline_start(q, l, -1, w) || model_open(&all.model, q, &all.lessons, w))
		return -1;
	l->calls = &calls;
	l->copy = STDOUT_FILENO;
	rehearse(&all);
	if (loop_card(l, w))
		return l->gone ? 0 : -1;
	l->ended = 0;
	all.model.card = l->card;
	l->cache = q->cache >= 0 ? (size_t)q->cache : 2 * (size_t)l->card.n_ctx;
	l->show = read_more;
	return loop_run(l, w);
}

void requests_end(const char *reason)
{
	struct requests *r = &all;
	const struct queue *sent = &r->loop->to_copy;
	struct why w, why_now;

	why(&why_now, "%s", reason);
	if (io_write(STDOUT_FILENO, sent->bytes.p + sent->sent, queue_pending(sent), &w))
		r->loop->gone |= LOOP_COPY;
	while (r->jobs.first && !(r->loop->gone & LOOP_COPY)) {
		struct job *j = r->jobs.first;

		if ((!j->done && !j->failed && answers_error(j, why_now.text, 1, &w))
		    || io_write(STDOUT_FILENO, j->out.p, j->out.n, &w))
			break;
		jobs_remove(&r->jobs, j);
	}
	while (r->jobs.first)
		jobs_remove(&r->jobs, r->jobs.first);
	inbox_close(&r->inbox);
	answered_free(&r->answered);
	stop_close(r->defaults.stop);
	lessons_close(&r->lessons);
	model_close(&r->model);
}
