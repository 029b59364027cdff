/* A line for each piece of text, and for each id of which nothing is seen yet but its log-probability. */
#include "deltas.h"

#include <string.h>

#include "lib/base/members.h"
#include "lib/base/utf8.h"
#include "answers.h"
#include "envelope.h"
#include "parts.h"

/* One line about a choice: delta[n], which is a text or the JSON of a delta, and the ids from c->told_ids to `end`. */
static int put_delta(struct choice *c, const char *delta, size_t n, size_t end, int echo, const char *reason,
	struct why *w)
{
	struct job *j = c->job;
	struct json_writer to;
	struct why bad;

	if (j->failed)
		return 0;
	to = envelope_begin(j, 200);
	member_open(&to, "choices", '[');
	json_open(&to, '{');
	member_int(&to, "index", (int64_t)c->index);
	if (job_is_text(j))
		member_bytes(&to, "text", delta, n);
	else
		member_raw(&to, "delta", n ? delta : "{}");
	parts_logprobs(&to, c, c->told_ids, end, echo);
	c->told_ids = end;
	parts_reason(&to, c, reason);
	json_close(&to, '}');
	json_close(&to, ']');
	if (!envelope_end(j, &to, &bad))
		return 0;
	j->failed = 1;
	return answers_error(j, bad.text, 0, w);
}

/* The length of s[n] without a character that is begun at its end; bytes that are no UTF-8 are not held back. */
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
	parts_echo(c, &text);
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
	return put_delta(c, s, n, shown, 0, last ? parts_finish(c) : NULL, w);
}

static int tell_message(struct choice *c, int last, struct why *w)
{
	struct bytes *b = &c->lines;

	/* the end has been read already */
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
	return last ? put_delta(c, "", 0, choice_shown(c), 0, parts_finish(c), w) : 0;
}

int deltas_add(struct choice *c, int last, struct why *w)
{
	return (job_is_text(c->job) ? tell_text : tell_message)(c, last, w);
}
