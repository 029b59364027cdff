/* The answer to a job is one line, or with stream the last of its lines. */
#include "answers.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/members.h"
#include "envelope.h"
#include "parts.h"

/* ---- choices ---- */

/* A whole choice, which gets this index. */
static int put_choice(struct json_writer *to, struct choice *c, size_t index, struct why *w)
{
	struct bytes text = { .limit = c->text.limit };

	json_open(to, '{');
	member_int(to, "index", (int64_t)index);
	if (job_is_text(c->job)) {
		if (c->job->echo)
			parts_echo(c, &text);
		bytes_put(&text, c->text.p, c->text.n);
		member_bytes(to, "text", text.p, text.n);
	} else {
		if (message_end(&c->message) || bytes_put(&c->lines, "", 1))
			text.failed = 1;
		answer_close(c->answer);
		c->lines.p[strcspn(c->lines.p, "\n")] = 0;
		member_raw(to, "message", c->lines.p);
	}
	if (c->job->tokens)
		member_ints(to, "tokens", c->r.ids.id, c->r.ids.n);
	parts_logprobs(to, c, 0, choice_shown(c), c->job->echo);
	parts_reason(to, c, parts_finish(c));
	c->answer = NULL;
	json_close(to, '}');
	bytes_free(&text);
	return text.failed ? why(w, "out of memory for an answer") : 0;
}

/* ---- the end ---- */

static void put_usage(struct json_writer *to, const struct job *j)
{
	size_t prompt = 0, cached = 0, drawn = 0, reasoned = 0;

	for (size_t i = 0; i < j->n_prompts; i++) {
		prompt += j->prompt[i].ids.n;
		cached += j->prompt[i].cached;
	}
	for (size_t i = 0; i < j->n_choices; i++) {
		drawn += j->choice[i].r.ids.n;
		reasoned += j->choice[i].reasoned;
	}
	member_open(to, "usage", '{');
	member_int(to, "prompt_tokens", (int64_t)prompt);
	member_int(to, "completion_tokens", (int64_t)drawn);
	member_int(to, "total_tokens", (int64_t)(prompt + drawn));
	member_open(to, "prompt_tokens_details", '{');
	member_int(to, "cached_tokens", (int64_t)cached);
	json_close(to, '}');
	if (!job_is_text(j)) {
		member_open(to, "completion_tokens_details", '{');
		member_int(to, "reasoning_tokens", (int64_t)reasoned);
		json_close(to, '}');
	}
	json_close(to, '}');
}

static void put_timings(struct json_writer *to, const struct job *j)
{
	double now = clock_now(), first = now;

	for (size_t i = 0; i < j->n_choices; i++) {
		const struct result *r = &j->choice[i].r;

		if (r->ids.n && r->begin + r->each->time < first)
			first = r->begin + r->each->time;
	}
	member_open(to, "timings", '{');
	member_real(to, "prompt_ms", j->began > 0 ? floor(1e6 * (first - j->began)) / 1e3 : 0);
	member_real(to, "predicted_ms", floor(1e6 * (now - first)) / 1e3);
	json_close(to, '}');
}

/* Whether a text has a higher mean log-probability than another. */
static int is_better(const struct choice *a, const struct choice *b)
{
	double x = a->r.ids.n ? result_sum(&a->r) / (double)a->r.ids.n : -INFINITY;
	double y = b->r.ids.n ? result_sum(&b->r) / (double)b->r.ids.n : -INFINITY;

	return x > y;
}

/* With best_of: moves the most likely choices of each prompt to its front, the best first. */
static void sort_choices(struct job *j)
{
	size_t n = (size_t)j->n;

	for (size_t p = 0; p < j->n_choices && j->n > j->n_answered; p += n)
		for (size_t i = p; i < p + n; i++) {
			struct choice best = j->choice[i];
			size_t at = i;

			for (size_t k = i + 1; k < p + n; k++)
				if (is_better(&j->choice[k], &best)) {
					best = j->choice[k];
					at = k;
				}
			j->choice[at] = j->choice[i];
			j->choice[i] = best;
		}
}

static int put_choices(struct json_writer *to, struct job *j, struct why *w)
{
	size_t index = 0;

	sort_choices(j);
	member_open(to, "choices", '[');
	for (size_t i = 0; i < j->n_choices && !j->stream && !to->failed; i++)
		if (i % (size_t)j->n < (size_t)j->n_answered && put_choice(to, &j->choice[i], index++, w))
			return -1;
	json_close(to, ']');
	return 0;
}

int answers_end(struct job *j, struct why *w)
{
	struct json_writer to = envelope_begin(j, 200);
	struct why bad;

	envelope_response(j, &to);
	if (put_choices(&to, j, w))
		return -1;
	put_usage(&to, j);
	if (!j->batch)
		put_timings(&to, j);
	return envelope_end(j, &to, &bad) ? answers_error(j, bad.text, 0, w) : 0;
}

int answers_error(struct job *j, const char *reason, int server, struct why *w)
{
	struct json_writer to = envelope_begin(j, server ? 500 : 400);

	member_open(&to, "error", '{');
	member_text(&to, "message", reason);
	member_text(&to, "type", server ? "server_error" : "invalid_request_error");
	member_text(&to, "param", server ? NULL : j->param);
	member_null(&to, "code");
	json_close(&to, '}');
	return envelope_end(j, &to, w);
}
