/* requests_test: random requests, most of them damaged, answered in process with random ids in place of a model's: each
 * gets lines of valid JSON, and nothing else happens. Requests that find their format and grammar kept; and lines that
 * come in pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/requests/answers.h"
#include "gen/requests/conversions.h"
#include "gen/requests/deltas.h"
#include "gen/requests/inbox.h"
#include "check.h"
#include "random.h"

enum { ROUNDS = 6000, LEARNED = 1000, ROOM = 1 << 14 };

#define TOOL(name, type) "{'type': 'function', 'function': {'name': '" name "', 'parameters': {'type': 'object', " \
	"'properties': {'a': {'type': '" type "'}}}}}"

/* Each with ' in place of ". */
static const char *const lines[] = {
	"{'id': 1, 'prompt': 'Why is the sky blue?', 'max_tokens': 5, 'temperature': 0.5, 'stop': ['a', 'b']}",
	"{'id': 'x', 'messages': [{'role': 'user', 'content': 'hi'}], 'stream': true, 'logprobs': true, "
		"'top_logprobs': 2, 'n': 2}",
	"{'id': [], 'prompt': [[1, 2], [3]], 'echo': true, 'logprobs': 1, 'best_of': 3, 'n': 2, "
		"'logit_bias': {'5': -1.5, '6': false}}",
	"{'messages': [{'role': 'user', 'content': 'hi'}], 'tools': [{'type': 'function', 'function': {'name': 'f', "
		"'parameters': {'type': 'object', 'properties': {'a': {'type': 'string'}}}}}], "
		"'tool_choice': 'required', 'parallel_tool_calls': false}",
	"{'prompt': '\\u00e9\\ud83d\\ude00', 'json_schema': {'type': 'array', 'items': {'type': 'integer'}}, "
		"'stream': true, 'echo': true}",
	"{'prompt': 'a', 'response_format': {'type': 'json_schema', 'json_schema': {'schema': {}}}, "
		"'grammar': null, 'seed': -1, 'max_tokens': 0}",
	"{'custom_id': 'c', 'url': '/v1/completions', 'body': {'prompt': 'a', 'n': 2, 'model': 'm'}}",
	"{'custom_id': 'd', 'url': '/v1/chat/completions', 'body': {'messages': [{'role': 'system', "
		"'content': [{'type': 'text', 'text': 'x'}]}], 'chat_template_kwargs': {'enable_thinking': false}}}",
	"{'prompt': 'a', 'kv': 'x', 'append': true}", "{'messages': [{'role': 'user', 'content': 'a'}], 'kv': './x'}",
	"{'id': 1.5, 'tokenize': 'hello', 'with_pieces': true, 'add_special': true}",
	"{'detokenize': [1, 2, 3, 2047]}",
	"{'apply_template': true, 'messages': [{'role': 'user', 'content': 'a'}, {'role': 'assistant', "
		"'content': 'b'}], 'continue_final_message': true}",
	"{'model': true}", "{'cancel': 1}"
};
static const char *const bits[] = { "\"", "{", "}", "[", "]", ",", ":", "null", "true", "-1", "1e999", "0",
	"\\u0000", "\\ud800", "\xff", "\"n\": 128", "\"stream\": true", "\"logprobs\": 5", "\"prompt\": \"\"",
	"99999999999999999999" };
static struct lessons lessons;
static struct model model = { .lessons = &lessons };
static struct defaults defaults = { .limit = -1, .seed = -1 };
static struct why w;

/* Damages line[n], which has room for more. Returns its new length. */
static size_t damage(char *line, size_t n)
{
	for (size_t k = random_below(4); k && n > 1; k--) {
		size_t at = random_below(n), size = random_below(n - at) / 4;
		const char *bit = bits[random_below(sizeof bits / sizeof *bits)];

		switch (random_below(4)) {
		case 0: line[at] = (char)random_bits(); break;
		case 1: memmove(line + at, line + at + size, n - at - size); n -= size; break;
		case 2:
			memmove(line + at + strlen(bit), line + at, n - at);
			memcpy(line + at, bit, strlen(bit));
			n += strlen(bit);
			break;
		default: memmove(line + at + size, line + at, n - at); n += size;
		}
	}
	return n;
}

/* Whether all lines are JSON. */
static int is_valid(const struct bytes *out)
{
	struct arena a = { .limit = 1 << 28 };
	int valid = out->n > 0;

	for (size_t at = 0, n; at < out->n && valid; at += n + 1) {
		n = (size_t)((char *)memchr(out->p + at, '\n', out->n - at) - out->p) - at;
		valid = json_parse(&a, out->p + at, n, &w) != NULL;
	}
	arena_free(&a);
	return valid;
}

/* Gives a choice some ids, as the loop does. */
static int run_choice(struct choice *c)
{
	uint32_t pos = (uint32_t)c->prompt->ids.n, last = random_below(2) ? FRAME_END_LENGTH : FRAME_END_INTERRUPT;
	int reason = 0;

	c->r.begin = 1;
	c->scored.pos = 1;
	if (c->job->echo && c->job->logprobs >= 0
	    && result_ids(&c->scored, c->prompt->ids.id + 1, c->prompt->ids.n - 1, 1, &w))
		return -1;
	for (size_t k = random_below(12); k && !reason; k--) {
		int32_t id = (int32_t)random_below((size_t)model.card.n_vocab);
		const float pairs[3][2] = { { (float)id, -1.5f }, { 7, -0.25f }, { 8, -3 } };

		reason = choice_drawn(c, id, &w);
		if (reason >= 0 && c->job->logprobs >= 0 && choice_logprobs(c, pos++, pairs, 1 + random_below(3), &w))
			return -1;
		if (reason >= 0 && c->job->stream && deltas_add(c, 0, &w))
			return -1;
		if (card_is_eog(&model.card, id))
			reason = FRAME_END_EOG;
	}
	if (reason < 0 || choice_over(c, reason ? (uint32_t)reason : last, &w))
		return -1;
	return c->job->stream ? deltas_add(c, 1, &w) : 0;
}

static int run_job(struct job *j)
{
	for (size_t i = 0; i < j->n_choices; i++)
		if (run_choice(&j->choice[i]))
			return -1;
	return answers_end(j, &w);
}

/* Answers a line as gen --requests does. */
static void answer(const char *line, size_t n)
{
	int failed;
	struct job *j = job_read(line, n, 1, &failed, &w);

	if (!failed && j->kind != JOB_CANCEL)
		failed = j->kind != JOB_TEXT && j->kind != JOB_CHAT ? conversions_answer(j, &model, &w)
			: job_prepare(j, &model, &defaults, &w);
	if (failed)
		failed = answers_error(j, w.text, 0, &w);
	else if (j->kind == JOB_TEXT || j->kind == JOB_CHAT)
		failed = run_job(j);
	if (failed || (j->kind != JOB_CANCEL && !is_valid(&j->out)))
		check(0, "%.*s: %s", (int)n, line, failed ? w.text : "not JSON");
	else
		check(1, "answered");
	job_free(j);
}

static void damaged(void)
{
	static char line[ROOM];

	for (size_t i = 0; i < ROUNDS; i++) {
		const char *from = lines[random_below(sizeof lines / sizeof *lines)];
		size_t n = strlen(from);

		for (size_t k = 0; k < n; k++)
			line[k] = from[k] == '\'' ? '"' : from[k];
		n = damage(line, n);
		if (check_takes())
			answer(line, n);
	}
}

/* ---- what is learned once ---- */

/* A line that asks for messages to be answered: one of its members is not that of the last line. */
static size_t vary(char *line, size_t room)
{
	static size_t drawn[6];
	static const char *const members[][4] = {
		{ "", "'tools': [" TOOL("f", "string") "], ", "'tools': [" TOOL("g", "string") "], ",
			"'tools': [" TOOL("f", "integer") ", " TOOL("g", "string") "], " },
		{ "", "'tool_choice': 'required', ", "'tool_choice': {'type': 'function', 'function': {'name': 'f'}}, ",
			"'tool_choice': {'type': 'function', 'function': {'name': 'g'}}, " },
		{ "", "", "'parallel_tool_calls': false, ", "'parallel_tool_calls': true, " },
		{ "", "", "'json_schema': {'type': 'integer'}, ", "'json_schema': {'type': 'array'}, " },
		{ "", "'chat_template_kwargs': {'think': false}, ", "'reasoning_effort': 'low', ",
			"'chat_template_kwargs': {'think': true}, " },
		{ "'messages': [{'role': 'user', 'content': 'a'}]", "'messages': [{'role': 'user', 'content': 'b'}]",
			"'messages': [{'role': 'system', 'content': 'c'}, {'role': 'user', 'content': 'a'}]",
			"'continue_final_message': true, 'messages': [{'role': 'user', 'content': 'a'}, "
			"{'role': 'assistant', 'content': '\\n<calls>'}]" }
	};
	size_t n = (size_t)snprintf(line, room, "{");

	drawn[random_below(6)] = random_below(4);
	for (size_t i = 0; i < 6; i++)
		n += (size_t)snprintf(line + n, room - n, "%s", members[i][drawn[i]]);
	n += (size_t)snprintf(line + n, room - n, "}");
	for (size_t i = 0; i < n; i++)
		line[i] = line[i] == '\'' ? '"' : line[i];
	return n;
}

/* Everything that preparing the line has found out, as text. */
static void prepare(const char *line, size_t n, struct lessons *from, struct bytes *out)
{
	int failed;
	struct model m = model;
	struct job *j = job_read(line, n, 1, &failed, &w);

	m.lessons = from;
	if (failed || job_prepare(j, &m, &defaults, &w)) {
		bytes_puts(out, w.text);
	} else {
		format_show(&j->learned->format, out);
		bytes_put(out, j->begun.p, j->begun.n);
		if (j->opts.n)
			bytes_put(out, j->opts.p, j->opts.n);
		for (size_t i = 0; i < j->prompt->ids.n; i++)
			bytes_print(out, " %d", (int)j->prompt->ids.id[i]);
	}
	job_free(j);
}

/* Requests with what earlier ones have found out, of which little is kept, are prepared as without. */
static void learned(void)
{
	struct lessons few;
	static char line[ROOM];

	lessons_open(&few);
	few.learned.items = 3;
	few.grammars.items = 6;
	for (size_t i = 0; i < LEARNED; i++) {
		struct bytes with = { .limit = 1 << 28 }, without = { .limit = 1 << 28 };
		struct lessons none;
		size_t n = vary(line, sizeof line);

		if (!check_takes())
			continue;
		lessons_open(&none);
		prepare(line, n, &few, &with);
		prepare(line, n, &none, &without);
		check(with.n == without.n && !memcmp(with.p, without.p, with.n), "%.*s: %.*s, not %.*s", (int)n, line,
			(int)with.n, with.p, (int)without.n, without.p);
		lessons_close(&none);
		bytes_free(&with);
		bytes_free(&without);
	}
	lessons_close(&few);
}

/* Lines that arrive in pieces, the last without an end. */
static void pieces(void)
{
	static const char text[] = "one\n\ntwo\r\nthree", *const want[] = { "one", "", "two\r", "three" };
	struct inbox in;
	const char *line;
	size_t n, k = 0;
	int fd[2], got;

	if (!check(!pipe(fd), "no pipe") || !check(!inbox_open(&in, NULL, &w), "%s", w.text))
		return;
	in.fd = fd[0];
	for (size_t i = 0; i <= strlen(text); i++) {
		if (i == strlen(text))
			close(fd[1]);
		else if (write(fd[1], text + i, 1) != 1)
			return;
		check(!inbox_read(&in, &w), "%s", w.text);
		while ((got = inbox_line(&in, &line, &n))) {
			check(got == 1 && k < 4 && strlen(want[k]) == n && !memcmp(want[k], line, n),
				"line %zu: %.*s", k, (int)n, line);
			k++;
		}
	}
	check(k == 4 && in.ended, "%zu lines, not 4", k);
	inbox_close(&in);
}

int main(void)
{
	static char path[4096], template[4096];
	const char *tests = getenv("TESTS");

	snprintf(path, sizeof path, "%s/../examples/clerk-q8_0.gguf", tests ? tests : "tests");
	lessons_open(&lessons);
	model.path = path;
	if (!(model.gguf = gguf_open(path, 0, &w)) || !(model.vocab = vocab_open(model.gguf, VOCAB_ENCODE, &w))
	    || !(defaults.stop = stop_open(&w))) {
		check(0, "%s", w.text);
		return check_end("requests_test");
	}
	vocab_card(model.vocab, &model.card);
	model.card.n_ctx = 512;
	damaged();
	snprintf(template, sizeof template, "%s/answers/tags.jinja", tests ? tests : "tests");
	model.setup.template = template;
	learned();
	pieces();
	lessons_close(&lessons);
	stop_close(defaults.stop);
	vocab_close(model.vocab);
	gguf_close(model.gguf);
	return check_end("requests_test");
}
