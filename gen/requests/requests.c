/* Jobs are in a list, the oldest first, until their answers have been queued for output. */
#include "gen/requests/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/pipeline.h"
#include "gen/requests/answered.h"
#include "gen/requests/answers.h"
#include "gen/requests/choice.h"
#include "gen/requests/conversions.h"
#include "gen/requests/deltas.h"
#include "gen/requests/inbox.h"
#include "gen/requests/job.h"
#include "gen/requests/opts.h"
#include "lib/base/io.h"
#include "lib/chat/chat_opts.h"
#include "lib/gguf/description.h"

enum { WAITING_MAX = 64 << 20, OUT_MOST = 1 << 20 };    /* bytes of jobs that wait, and of answers */

static struct requests {
	struct request *q;
	struct loop *loop;
	struct model model;
	struct lessons lessons;
	struct defaults defaults;
	struct inbox inbox;
	struct answered answered;
	struct job *first, *last;       /* of the list */
	size_t lines;
	size_t waiting;         /* bytes of the jobs in the list */
	uint64_t ticks;         /* lines taken and choices that were over: a clock */
	int failed;             /* the input cannot be read, for this reason: */
	struct why why;
} all;

/* ---- answers on their way ---- */

static void unlink_job(struct requests *r, struct job *j)
{
	struct job **at = &r->first, *before = NULL;

	for (; *at != j; at = &(*at)->next)
		before = *at;
	*at = j->next;
	if (r->last == j)
		r->last = before;
	r->waiting -= j->arena.used;
	job_free(j);
}

static int send(struct requests *r, struct job *j, struct why *w)
{
	int failed = j->out.n && bytes_put(&r->loop->to_copy.bytes, j->out.p, j->out.n);

	j->out.n = 0;
	return failed ? why(w, "out of memory for answers that wait") : 0;
}

/* Lets the next job with the same segment start. */
static void let_follow(struct requests *r, const struct job *j)
{
	struct job *next = j->next;

	while (j->kv && next && next->after != j)
		next = next->next;
	if (j->kv && next)
		next->after = NULL;
}

/* Sends what there is of a job's answer, unless earlier ones come first. A job that is done is freed. */
static int deliver(struct requests *r, struct job *j, struct why *w)
{
	int done = j->done;

	if (done)
		let_follow(r, j);
	if (r->q->ordered && j != r->first)
		return 0;
	if (send(r, j, w))
		return -1;
	if (!done)
		return 0;
	unlink_job(r, j);
	while (r->q->ordered && r->first && (done || r->first->out.n)) {
		if (send(r, r->first, w))
			return -1;
		if (!(done = r->first->done))
			break;
		unlink_job(r, r->first);
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

static void append(struct requests *r, struct job *j)
{
	for (const struct job *before = r->first; j->kv && before; before = before->next)
		if (!before->done && before->kv && !strcmp(before->kv, j->kv))
			j->after = before;
	*(r->last ? &r->last->next : &r->first) = j;
	r->last = j;
	r->waiting += j->arena.used;
	j->waits_since = ++r->ticks;
}

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
	struct job *j = r->first;

	while (j && (j->done || !by->key.n || j->key.n != by->key.n || memcmp(j->key.p, by->key.p, j->key.n)))
		j = j->next;
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
	append(r, j);
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
	append(r, j);
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
	return r->waiting < WAITING_MAX && queue_pending(&r->loop->to_copy) < OUT_MOST;
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
	r->loop->ended = r->inbox.ended && !got && !r->first;
	return 0;
}

/* The input can be read. */
static void read_more(struct loop *l)
{
	if (inbox_read(&all.inbox, &all.why))
		all.failed = 1;
}

/* ---- sequences ---- */

static int has_choices_left(const struct job *j)
{
	return !j->done && !j->failed && !(j->choice && j->n_started == j->n_choices);
}

/* Whether a job gets a free place before another (NULL: none): fewer of its choices are running or, of as many, it has
 * waited longer. */
static int comes_before(const struct job *j, const struct job *other)
{
	size_t running = j->n_started - j->n_over, others = other ? other->n_started - other->n_over : SIZE_MAX;

	return running < others || (running == others && j->waits_since < other->waits_since);
}

/* The job whose turn it is. NULL: none has choices to start. */
static struct job *next_job(const struct requests *r)
{
	struct job *found = NULL;

	for (struct job *j = r->first; j; j = j->next) {
		if (!has_choices_left(j) || j->after)
			continue;
		if (comes_before(j, found))
			found = j;
		/* later jobs have not waited longer than one that has not started */
		if (!j->n_started)
			break;
	}
	return found;
}

/* Starts a choice, or prepares a job. Returns 1 if there may be more to start; 0; or -1. */
static int start(struct requests *r, struct why *w)
{
	struct why bad;
	struct job *j = r->loop->active < r->loop->jobs ? next_job(r) : NULL;

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
	int reason = choice_drawn(c, id, w);

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
	j->waits_since = ++all.ticks;
	if (++j->n_over < j->n_choices)
		return deliver(&all, j, w);
	return finish(&all, j, w);
}

/* ---- start and end ---- */

/* Whether the template takes the tools, whatever the conversation. */
static int check_tools(struct chat *c, const char *tools, const struct bytes *template, struct why *w)
{
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	int failed = chat_add_text(c, "user", "a", 1, w)
		|| chat_render(c, template->p ? template->p : "", template->n, NULL, &text, w);

	bytes_free(&text);
	return failed ? why_in(w, tools) : 0;
}

/* What is wrong with options of conversations is found here, not by each request. */
static int check_setup(const struct model *m, struct why *w)
{
	const struct chat_setup *s = &m->setup;
	struct bytes template = { .limit = CHAT_FILE_MAX };
	struct jinja *t = NULL;
	struct chat c;
	int failed = chat_open(&c, s, m->vocab, w) || chat_choose(&c, s, m->gguf, &template, w) < 0;

	if (!failed && s->template && !(t = jinja_parse(template.p ? template.p : "", template.n, w))) {
		chat_explain(template.p ? template.p : "", template.n, w);
		failed = why_in(w, s->template);
	}
	if (!failed && s->tools)
		failed = check_tools(&c, s->tools, &template, w);
	jinja_free(t);
	bytes_free(&template);
	chat_end(&c);
	return failed ? -1 : 0;
}

static int open_model(struct requests *r, struct why *w)
{
	const struct request *q = r->q;
	struct model *m = &r->model;

	lessons_open(&r->lessons);
	m->lessons = &r->lessons;
	m->path = q->model;
	m->kv = &r->q->stage[KV];
	description_name(m->name, sizeof m->name, m->path);
	for (size_t i = 0; i < q->n_given; i++)
		if (chat_take(&m->setup, q->given[i].o, q->given[i].value, w) < 0)
			return -1;
	if (!(m->gguf = gguf_open(m->path, 0, w)) || !(m->vocab = vocab_open(m->gguf, VOCAB_ENCODE, w)))
		return -1;
	vocab_card(m->vocab, &m->card);
	return m->setup.tools || m->setup.template || m->setup.name || m->setup.n_set ? check_setup(m, w) : 0;
}

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

int requests(struct request *q, struct loop *l, struct why *w)
{
	static struct loop_calls calls = { &all, next, drawn, logprobs, over };

	all.q = q;
	all.loop = l;
	if (inbox_open(&all.inbox, q->file, w) || (q->resume && answered_read(&all.answered, q->resume, w))
	    || set_defaults(&all, w) || pipeline_start(q, l, -1, w)
	    || open_model(&all, w))
		return -1;
	l->calls = &calls;
	l->copy = STDOUT_FILENO;
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
	while (r->first && !(r->loop->gone & LOOP_COPY)) {
		struct job *j = r->first;

		if ((!j->done && !j->failed && answers_error(j, why_now.text, 1, &w))
		    || io_write(STDOUT_FILENO, j->out.p, j->out.n, &w))
			break;
		unlink_job(r, j);
	}
	while (r->first)
		unlink_job(r, r->first);
	inbox_close(&r->inbox);
	answered_free(&r->answered);
	stop_close(r->defaults.stop);
	lessons_close(&r->lessons);
	vocab_close(r->model.vocab);
	gguf_close(r->model.gguf);
}
