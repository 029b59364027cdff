/* An answer is one line, or with stream several; each is written at once. */
#include "gen/requests/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gen/requests/fields.h"
#include "gen/requests/logprobs.h"
#include "gen/requests/prompts.h"
#include "lib/base/clock.h"
#include "lib/base/utf8.h"
#include "lib/gguf/description.h"

static void key(struct json_writer *to, const char *name)
{
	json_key(to, name, strlen(name));
}

static void put_text(struct json_writer *to, const char *name, const char *s, size_t n)
{
	key(to, name);
	json_string(to, n ? s : "", n);
}

static void put_word(struct json_writer *to, const char *name, const char *word)
{
	key(to, name);
	if (word)
		json_string(to, word, strlen(word));
	else
		json_raw(to, "null");
}

static void put_integer(struct json_writer *to, const char *name, int64_t i)
{
	key(to, name);
	json_int(to, i);
}

static void put_id(struct json_writer *to, const char *name, const struct json *id)
{
	key(to, name);
	if (id)
		json_value(to, id);
	else
		json_raw(to, "null");
}

/* ---- lines ---- */

static struct json_writer begin_line(struct job *j)
{
	struct json_writer to = json_to_bytes(&j->out);

	json_open(&to, '{');
	put_id(&to, "id", j->id);
	return to;
}

static int end_line(struct job *j, struct json_writer *to, struct why *w)
{
	json_close(to, '}');
	return bytes_puts(&j->out, "\n") || to->failed ? why(w, "out of memory for an answer") : 0;
}

/* Of OpenAI's batch form: up to the body of the response. */
static struct json_writer begin_batch(struct job *j, int status)
{
	struct json_writer to = json_to_bytes(&j->out);
	char id[40];

	snprintf(id, sizeof id, "batch_req_%zu", j->number);
	json_open(&to, '{');
	put_word(&to, "id", id);
	put_id(&to, "custom_id", j->id);
	key(&to, "response");
	json_open(&to, '{');
	put_integer(&to, "status_code", status);
	put_word(&to, "request_id", id);
	key(&to, "body");
	json_open(&to, '{');
	return to;
}

static int end_batch(struct job *j, struct json_writer *to, struct why *w)
{
	json_close(to, '}');
	json_close(to, '}');
	put_word(to, "error", NULL);
	return end_line(j, to, w);
}

/* ---- a choice ---- */

static const char *reason_word(const struct choice *c)
{
	switch (c->reason) {
	case FRAME_END_LENGTH: case FRAME_END_CONTEXT: return "length";
	case FRAME_END_INTERRUPT: return "cancelled";
	default: return c->answer && c->message.n_calls ? "tool_calls" : "stop";
	}
}

/* Why it ended (NULL: it has not), and the stop string, if one ended it. */
static void put_reason(struct json_writer *to, const struct choice *c, const char *reason)
{
	size_t n;
	const char *stop = reason && c->reason == FRAME_END_STOP && c->found >= 0
		? stop_string(c->stop, c->found, &n) : NULL;

	put_word(to, "finish_reason", reason);
	if (stop)
		put_text(to, "stop_reason", stop, n);
}

static int is_text(const struct job *j)
{
	return j->kind != JOB_CHAT;
}

/* Log-probabilities of the ids from number `first` to `end`, and with echo of those of the prompt. */
static void put_logprobs(struct json_writer *to, const struct choice *c, size_t first, size_t end, int echo)
{
	key(to, "logprobs");
	if (c->job->logprobs < 0 || (first == end && !echo && c->job->stream))
		json_raw(to, "null");
	else if (is_text(c->job))
		logprobs_text(to, c, first, end, echo);
	else
		logprobs_chat(to, c, first, end);
}

/* The text of the prompt, before that of the choice. */
static void put_echo(const struct choice *c, struct bytes *to)
{
	const struct prompt *p = c->prompt;
	int begins = 1;
	size_t n;

	if (p->text) {
		bytes_put(to, p->text, p->n);
		return;
	}
	for (size_t i = 0; i < p->ids.n; i++) {
		const char *piece = vocab_text(c->model->vocab, p->ids.id[i], c->special, &begins, &n);

		bytes_put(to, piece, n);
	}
}

/* All of a choice, as number `index`. */
static int put_choice(struct json_writer *to, struct choice *c, size_t index, struct why *w)
{
	struct bytes text = { .limit = c->text.limit };

	json_open(to, '{');
	put_integer(to, "index", (int64_t)index);
	if (is_text(c->job)) {
		if (c->job->echo)
			put_echo(c, &text);
		bytes_put(&text, c->text.p, c->text.n);
		put_text(to, "text", text.p, text.n);
	} else {
		if (message_end(&c->message) || bytes_put(&c->lines, "", 1))
			text.failed = 1;
		answer_close(c->answer);
		c->lines.p[strcspn(c->lines.p, "\n")] = 0;
		key(to, "message");
		json_raw(to, c->lines.p);
	}
	if (c->job->tokens) {
		key(to, "tokens");
		json_open(to, '[');
		for (size_t i = 0; i < c->r.ids.n; i++)
			json_int(to, c->r.ids.id[i]);
		json_close(to, ']');
	}
	put_logprobs(to, c, 0, choice_shown(c), c->job->echo);
	put_reason(to, c, reason_word(c));
	c->answer = NULL;
	json_close(to, '}');
	bytes_free(&text);
	return text.failed ? why(w, "out of memory for an answer") : 0;
}

/* ---- stream ---- */

/* One line about a choice: a text or delta[n], and the ids up to `end`. */
static int put_delta(struct choice *c, const char *delta, size_t n, size_t end, int echo, const char *reason,
	struct why *w)
{
	struct job *j = c->job;
	struct json_writer to = begin_line(j);

	key(&to, "choices");
	json_open(&to, '[');
	json_open(&to, '{');
	put_integer(&to, "index", (int64_t)c->index);
	if (is_text(j)) {
		put_text(&to, "text", delta, n);
	} else {
		key(&to, "delta");
		json_raw(&to, n ? delta : "{}");
	}
	put_logprobs(&to, c, c->told_ids, end, echo);
	c->told_ids = end;
	put_reason(&to, c, reason);
	json_close(&to, '}');
	json_close(&to, ']');
	return end_line(j, &to, w);
}

/* How much of s[n] are whole characters, or no characters at all. */
static size_t whole_characters(const char *s, size_t n)
{
	size_t back = 1;

	while (back < 4 && back < n && ((unsigned char)s[n - back] & 0xc0) == 0x80)
		back++;
	return back <= n && utf8_length((unsigned char)s[n - back]) > back ? n - back : n;
}

static int tell_echo(struct choice *c, struct why *w)
{
	struct bytes text = { .limit = c->text.limit };
	int failed;

	c->echoed = 1;
	put_echo(c, &text);
	failed = text.failed ? why(w, "out of memory for an answer")
		: put_delta(c, text.p, text.n, 0, c->job->logprobs >= 0, NULL, w);
	bytes_free(&text);
	return failed;
}

static int tell_text(struct choice *c, int last, struct why *w)
{
	size_t n = c->text.n - c->told, shown = choice_shown(c);
	const char *s = c->text.n ? c->text.p + c->told : "";

	if (c->job->echo && !c->echoed && tell_echo(c, w))
		return -1;
	if (!last)
		n = whole_characters(s, n);
	c->told += n;
	if (!n && !last && (c->job->logprobs < 0 || shown == c->told_ids))
		return 0;
	return put_delta(c, s, n, shown, 0, last ? reason_word(c) : NULL, w);
}

static int tell_message(struct choice *c, int last, struct why *w)
{
	struct bytes *b = &c->lines;

	/* the end has been read */
	if (!last && choice_read(c, w))
		return -1;
	while (c->told_lines < b->n) {
		char *line = b->p + c->told_lines, *end = memchr(line, '\n', b->n - c->told_lines);

		*end = 0;
		c->told_lines += (size_t)(end - line) + 1;
		if (put_delta(c, line, (size_t)(end - line), choice_shown(c), 0, NULL, w))
			return -1;
	}
	b->n = c->told_lines = 0;
	if (!last && c->job->logprobs >= 0 && choice_shown(c) > c->told_ids)
		return put_delta(c, "", 0, choice_shown(c), 0, NULL, w);
	return last ? put_delta(c, "", 0, choice_shown(c), 0, reason_word(c), w) : 0;
}

int answers_delta(struct choice *c, int last, struct why *w)
{
	return (is_text(c->job) ? tell_text : tell_message)(c, last, w);
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
	key(to, "usage");
	json_open(to, '{');
	put_integer(to, "prompt_tokens", (int64_t)prompt);
	put_integer(to, "completion_tokens", (int64_t)drawn);
	put_integer(to, "total_tokens", (int64_t)(prompt + drawn));
	key(to, "prompt_tokens_details");
	json_open(to, '{');
	put_integer(to, "cached_tokens", (int64_t)cached);
	json_close(to, '}');
	if (!is_text(j)) {
		key(to, "completion_tokens_details");
		json_open(to, '{');
		put_integer(to, "reasoning_tokens", (int64_t)reasoned);
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
	key(to, "timings");
	json_open(to, '{');
	key(to, "prompt_ms");
	json_float(to, j->began > 0 ? floor(1e6 * (first - j->began)) / 1e3 : 0);
	key(to, "predicted_ms");
	json_float(to, floor(1e6 * (now - first)) / 1e3);
	json_close(to, '}');
}

/* Whether a text is more likely than another, for each of its ids. */
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

	for (size_t p = 0; p < j->n_choices && j->n > j->kept; p += n)
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
	key(to, "choices");
	json_open(to, '[');
	for (size_t i = 0; i < j->n_choices && !j->stream; i++)
		if (i % (size_t)j->n < (size_t)j->kept && put_choice(to, &j->choice[i], index++, w))
			return -1;
	json_close(to, ']');
	return 0;
}

/* What OpenAI's API has around the choices. */
static void put_envelope(struct json_writer *to, const struct job *j)
{
	const struct json *model = field(j, "model");
	char id[40];

	snprintf(id, sizeof id, "%s-%zu", is_text(j) ? "cmpl" : "chatcmpl", j->number);
	put_word(to, "id", id);
	put_word(to, "object", is_text(j) ? "text_completion" : "chat.completion");
	put_integer(to, "created", (int64_t)time(NULL));
	put_word(to, "model", model && model->type == JSON_STRING ? model->s : j->choice->model->name);
}

int answers_end(struct job *j, struct why *w)
{
	struct json_writer to = j->batch ? begin_batch(j, 200) : begin_line(j);

	if (j->batch)
		put_envelope(&to, j);
	if (put_choices(&to, j, w))
		return -1;
	put_usage(&to, j);
	if (!j->batch)
		put_timings(&to, j);
	return j->batch ? end_batch(j, &to, w) : end_line(j, &to, w);
}

int answers_error(struct job *j, const char *reason, int server, struct why *w)
{
	struct json_writer to = j->batch ? begin_batch(j, server ? 500 : 400) : begin_line(j);

	key(&to, "error");
	json_open(&to, '{');
	put_word(&to, "message", reason);
	put_word(&to, "type", server ? "server_error" : "invalid_request_error");
	put_word(&to, "param", server ? NULL : j->param);
	put_word(&to, "code", NULL);
	json_close(&to, '}');
	return j->batch ? end_batch(j, &to, w) : end_line(j, &to, w);
}

/* ---- without a generation ---- */

/* The text of a token, or its bytes if they are not UTF-8. */
static void put_piece(struct json_writer *to, const struct model *m, int32_t id)
{
	size_t n;
	const char *piece = vocab_piece(m->vocab, id, 1, &n);

	if (utf8_valid(piece, n) == n) {
		put_text(to, "piece", piece, n);
		return;
	}
	key(to, "piece");
	json_open(to, '[');
	for (size_t i = 0; i < n; i++)
		json_int(to, (unsigned char)piece[i]);
	json_close(to, ']');
}

static int tokenize(struct job *j, const struct model *m, struct json_writer *to, struct why *w)
{
	const struct json *text = field(j, "tokenize");
	int ends = 0, pieces = 0, failed;
	struct ids ids = { 0 };

	if (text->type != JSON_STRING)
		return field_bad(j, "tokenize", why(w, "tokenize: expected a text, not %s", json_type_name(text)));
	if (field_flag(j, "add_special", &ends, w) || field_flag(j, "with_pieces", &pieces, w))
		return -1;
	if (!(failed = prompts_encode(m, text->s, text->n, ends, &ids, w))) {
		key(to, "tokens");
		json_open(to, '[');
		for (size_t i = 0; i < ids.n; i++) {
			if (!pieces) {
				json_int(to, ids.id[i]);
				continue;
			}
			json_open(to, '{');
			put_integer(to, "id", ids.id[i]);
			put_piece(to, m, ids.id[i]);
			json_close(to, '}');
		}
		json_close(to, ']');
	}
	free(ids.id);
	return failed;
}

static int detokenize(struct job *j, const struct model *m, struct json_writer *to, struct why *w)
{
	const struct json *list = field(j, "detokenize");
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	struct ids ids = { 0 };
	int begins = 1, failed;
	size_t n;

	if (list->type != JSON_ARRAY)
		return field_bad(j, "detokenize", why(w, "detokenize: expected a list of ids, not %s",
			json_type_name(list)));
	failed = field_ids(j, "detokenize", list, m->card.n_vocab, &ids, w);
	for (size_t i = 0; i < ids.n && !failed; i++) {
		const char *piece = vocab_text(m->vocab, ids.id[i], 0, &begins, &n);

		failed = bytes_put(&text, piece, n) ? why(w, "out of memory") : 0;
	}
	if (!failed)
		put_text(to, "content", text.p, text.n);
	free(ids.id);
	bytes_free(&text);
	return failed;
}

static int apply_template(struct job *j, const struct model *m, struct json_writer *to, struct why *w)
{
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	int failed = prompts_render(j, m, &text, w);

	if (!failed)
		put_text(to, "prompt", text.p, text.n);
	bytes_free(&text);
	return failed;
}

static int describe(const struct model *m, struct json_writer *to)
{
	key(to, "model");
	description_write(to, m->name, m->gguf, m->card.n_vocab, m->card.n_ctx, m->card.vocab);
	return 0;
}

int answers_now(struct job *j, const struct model *m, struct why *w)
{
	struct json_writer to = begin_line(j);
	int failed;

	switch (j->kind) {
	case JOB_TOKENIZE: failed = tokenize(j, m, &to, w); break;
	case JOB_DETOKENIZE: failed = detokenize(j, m, &to, w); break;
	case JOB_TEMPLATE: failed = apply_template(j, m, &to, w); break;
	default: failed = describe(m, &to);
	}
	if (!failed)
		return end_line(j, &to, w);
	j->out.n = 0;
	return -1;
}
