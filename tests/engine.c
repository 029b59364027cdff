/* engine: takes the place of gen and embed --requests in the tests of serve: reads requests, one a line, and answers as
 * their last text says. The first word decides:
 *
 *	say WORDS       these words, each a delta of a stream
 *	think WORDS     the first of them as reasoning, the others as text
 *	call NAME JSON  a call of a tool
 *	stop WORDS      these words, ended by the stop string "."
 *	cut WORDS       these words, ended by the limit of tokens
 *	request         the request, as JSON
 *	wait            nothing, until it is cancelled
 *	many N          N words
 *	refuse, fail    an error of either kind
 *	garble          a line that is no JSON
 *	tear            half an answer, as a line
 *	die             ends with status 1 and a line on stderr
 *
 * Anything else is said as it is. A token is a byte of a text. The embedding of a text is its number of bytes, its
 * first byte and a half; the score of a document is its number of bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/json.h"
#include "lib/base/lines.h"
#include "lib/base/out.h"

enum { MEMORY = 256 << 20, WAITING_MAX = 1024 };

static const struct opt opts[] = { { 0 } };
static struct cli c = { .program = "gen", .synopsis = "< requests > answers", .purpose = "a pretended gen --requests",
	.opts = opts };

static int64_t waiting[WAITING_MAX];
static size_t n_waiting;

/* An answer that is being written. */
struct answer {
	const struct json *request, *id;
	int stream, chat;
	int64_t texts;
	size_t tokens, thought;         /* all, and those that are reasoning */
};

static void key(struct json_writer *w, const char *name)
{
	json_key(w, name, strlen(name));
}

static void text(struct json_writer *w, const char *name, const char *s, size_t n)
{
	key(w, name);
	json_string(w, s, n);
}

static void raw(struct json_writer *w, const char *name, const char *json)
{
	key(w, name);
	json_raw(w, json);
}

static struct json_writer begin(const struct json *id)
{
	struct json_writer w = json_to_out();

	json_open(&w, '{');
	key(&w, "id");
	if (id)
		json_value(&w, id);
	else
		json_raw(&w, "null");
	return w;
}

static void end(struct json_writer *w)
{
	struct why why;

	json_close(w, '}');
	out_char('\n');
	if (out_flush(&why))
		cli_die(&c, "%s", why.text);
}

/* The member of texts and documents by which serve finds them. */
static void write_index(struct json_writer *w, const struct json *request)
{
	const struct json *index = json_get(request, "index");

	if (!index)
		return;
	key(w, "index");
	json_value(w, index);
}

static void fail(const struct json *request, const char *type, const char *message)
{
	struct json_writer w = begin(json_get(request, "id"));

	write_index(&w, request);
	key(&w, "error");
	json_open(&w, '{');
	text(&w, "message", message, strlen(message));
	text(&w, "type", type, strlen(type));
	text(&w, "param", "prompt", 6);
	raw(&w, "code", "null");
	json_close(&w, '}');
	end(&w);
}

/* A line that is no JSON, with the id of the request if it is not 0. */
static void garble(int64_t id)
{
	char line[60];
	struct why why;

	snprintf(line, sizeof line, "{\"id\":%.0d%s\n", (int)id, id ? ",\"choices\":[" : "");
	out_text(line);
	if (out_flush(&why))
		cli_die(&c, "%s", why.text);
}

/* ---- answers ---- */

static void write_usage(struct json_writer *w, const struct answer *a)
{
	char usage[300];

	snprintf(usage, sizeof usage, "{\"prompt_tokens\": 7, \"completion_tokens\": %zu, \"total_tokens\": %zu, "
		"\"prompt_tokens_details\": {\"cached_tokens\": 3}, "
		"\"completion_tokens_details\": {\"reasoning_tokens\": %zu}}", a->tokens, a->tokens + 7, a->thought);
	raw(w, "usage", usage);
	raw(w, "timings", "{\"prompt_ms\": 1.5, \"predicted_ms\": 2.5}");
}

static int wants_logprobs(const struct answer *a)
{
	const struct json *v = json_get(a->request, "logprobs");

	return v && v->type != JSON_FALSE && v->type != JSON_NULL;
}

/* The members of a message, or of a delta: one of the three. */
static void write_message(struct json_writer *w, const struct answer *a, int first, const char *kind, const char *s,
	size_t n)
{
	const char *arguments;

	key(w, a->stream ? "delta" : "message");
	json_open(w, '{');
	if (first)
		text(w, "role", "assistant", 9);
	if (!n && a->stream) {
		json_close(w, '}');
		return;
	}
	if (!strcmp(kind, "tool_calls")) {
		arguments = memchr(s, ' ', n);
		raw(w, "content", "null");
		key(w, "tool_calls");
		json_open(w, '[');
		json_open(w, '{');
		if (a->stream)
			raw(w, "index", "0");
		text(w, "id", "call_1", 6);
		text(w, "type", "function", 8);
		key(w, "function");
		json_open(w, '{');
		text(w, "name", s, arguments ? (size_t)(arguments - s) : n);
		text(w, "arguments", arguments ? arguments + 1 : "", arguments ? n - (size_t)(arguments + 1 - s) : 0);
		json_close(w, '}');
		json_close(w, '}');
		json_close(w, ']');
	} else {
		text(w, kind, s, n);
	}
	json_close(w, '}');
}

static void write_choice(struct json_writer *w, const struct answer *a, int64_t index, int first, const char *kind,
	const char *s, size_t n, const char *reason)
{
	json_open(w, '{');
	key(w, "index");
	json_int(w, index);
	if (a->chat)
		write_message(w, a, first, kind, s, n);
	else
		text(w, "text", s, n);
	if (!wants_logprobs(a) || !n)
		raw(w, "logprobs", "null");
	else if (a->chat)
		raw(w, "logprobs", "{\"content\": [{\"token\": \"x\", \"logprob\": -0.5, \"bytes\": [120], "
			"\"top_logprobs\": []}]}");
	else
		raw(w, "logprobs", "{\"tokens\": [\"x\"], \"token_logprobs\": [-0.5], "
			"\"top_logprobs\": [{\"x\": -0.5}], \"text_offset\": [0]}");
	if (reason && !strcmp(reason, "."))
		text(w, "stop_reason", ".", 1);
	if (reason)
		text(w, "finish_reason", *reason == '.' ? "stop" : reason, *reason == '.' ? 4 : strlen(reason));
	else
		raw(w, "finish_reason", "null");
	json_close(w, '}');
}

/* A line with a delta of each choice. */
static void say_delta(const struct answer *a, int first, const char *kind, const char *s, size_t n, const char *reason)
{
	struct json_writer w = begin(a->id);

	key(&w, "choices");
	json_open(&w, '[');
	for (int64_t i = 0; i < a->texts; i++)
		write_choice(&w, a, i, first, kind, s, n, reason);
	json_close(&w, ']');
	end(&w);
}

static void say_last(const struct answer *a)
{
	struct json_writer w = begin(a->id);

	raw(&w, "choices", "[]");
	write_usage(&w, a);
	end(&w);
}

static void say(struct answer *a, const char *kind, const char *s, const char *reason)
{
	size_t n = strlen(s);
	struct json_writer w;
	int first = 1;

	a->tokens = n;
	if (a->stream) {
		for (const char *at = s; *at; first = 0) {
			size_t word = strcspn(at, " ") + (at[strcspn(at, " ")] != 0);

			word = strcmp(kind, "tool_calls") ? word : strlen(at);
			say_delta(a, first, kind, at, word, NULL);
			at += word;
		}
		say_delta(a, first, kind, "", 0, reason);
		say_last(a);
		return;
	}
	w = begin(a->id);
	key(&w, "choices");
	json_open(&w, '[');
	for (int64_t i = 0; i < a->texts; i++)
		write_choice(&w, a, i, 1, kind, s, n, reason);
	json_close(&w, ']');
	write_usage(&w, a);
	end(&w);
}

/* The first word as reasoning. */
static void say_thought(struct answer *a, const char *s)
{
	size_t n = strcspn(s, " ");
	const char *rest = s + n + (s[n] != 0);
	struct json_writer w;

	a->tokens = strlen(s);
	a->thought = n;
	if (a->stream) {
		say_delta(a, 1, "reasoning_content", s, n, NULL);
		say_delta(a, 0, "content", rest, strlen(rest), "stop");
		say_last(a);
		return;
	}
	w = begin(a->id);
	key(&w, "choices");
	json_open(&w, '[');
	json_open(&w, '{');
	raw(&w, "index", "0");
	key(&w, "message");
	json_open(&w, '{');
	text(&w, "role", "assistant", 9);
	text(&w, "reasoning_content", s, n);
	text(&w, "content", rest, strlen(rest));
	json_close(&w, '}');
	raw(&w, "finish_reason", "\"stop\"");
	json_close(&w, '}');
	json_close(&w, ']');
	write_usage(&w, a);
	end(&w);
}

static void say_many(struct answer *a, long n)
{
	struct bytes b = { .limit = MEMORY };

	for (long i = 0; i < n; i++)
		bytes_puts(&b, "word ");
	bytes_put(&b, "", 1);
	say(a, "content", b.p, "stop");
	bytes_free(&b);
}

static void say_request(struct answer *a)
{
	struct bytes b = { .limit = MEMORY };
	struct json_writer w = json_to_bytes(&b);

	json_value(&w, a->request);
	bytes_put(&b, "", 1);
	a->stream = 0;
	say(a, "content", b.p, "stop");
	bytes_free(&b);
}

static void embed(const struct json *request, const char *s)
{
	const struct json *dimensions = json_get(request, "dimensions");
	struct json_writer w = begin(json_get(request, "id"));
	char text[80];
	size_t n = strlen(s);

	write_index(&w, request);
	if (json_get(request, "query")) {
		snprintf(text, sizeof text, "%zu", n);
		raw(&w, "score", text);
	} else {
		snprintf(text, sizeof text, "[%zu, %d, 0.5]", n, *s);
		if (dimensions && dimensions->i == 1)
			snprintf(text, sizeof text, "[%zu]", n);
		raw(&w, "embedding", text);
	}
	snprintf(text, sizeof text, "{\"prompt_tokens\": %zu, \"total_tokens\": %zu}", n, n);
	raw(&w, "usage", text);
	end(&w);
}

/* ---- requests ---- */

/* Whether it is for an embedding or a score. */
static int is_embedded(const struct json *request)
{
	return json_get(request, "text") || json_get(request, "document");
}

/* The text of the last message, or of the prompt, or what is embedded. */
static const char *last_text(const struct json *request)
{
	const struct json *messages = json_get(request, "messages"), *content = json_get(request, "prompt");

	if (is_embedded(request))
		content = json_get(request, json_get(request, "text") ? "text" : "document");
	if (messages && messages->type == JSON_ARRAY && messages->last)
		content = json_get(messages->last, "content");
	if (content && content->type == JSON_ARRAY && content->last && content->last->type == JSON_OBJECT)
		content = json_get(content->last, "text");
	return content && content->type == JSON_STRING ? content->s : "";
}

static int begins(const char *s, const char *word, const char **rest)
{
	size_t n = strlen(word);

	if (strncmp(s, word, n) || (s[n] && s[n] != ' '))
		return 0;
	*rest = s + n + (s[n] != 0);
	return 1;
}

static void answer(const struct json *request)
{
	const struct json *stream = json_get(request, "stream"), *n = json_get(request, "n");
	struct answer a = { request, json_get(request, "id"), stream && stream->type == JSON_TRUE,
		json_get(request, "messages") != NULL, n && n->type == JSON_INT ? n->i : 1, 0, 0 };
	const char *s = last_text(request), *rest = s;

	if (begins(s, "think", &rest))
		say_thought(&a, rest);
	else if (begins(s, "call", &rest))
		say(&a, "tool_calls", rest, "tool_calls");
	else if (begins(s, "cut", &rest) || begins(s, "stop", &rest))
		say(&a, "content", rest, *s == 'c' ? "length" : ".");
	else if (begins(s, "request", &rest))
		say_request(&a);
	else if (begins(s, "many", &rest))
		say_many(&a, strtol(rest, NULL, 10));
	else if (begins(s, "refuse", &rest))
		fail(request, "invalid_request_error", "the prompt is refused");
	else if (begins(s, "fail", &rest))
		fail(request, "server_error", "the engine has failed");
	else if (begins(s, "garble", &rest))
		garble(0);
	else if (begins(s, "tear", &rest) && a.id)
		garble(a.id->i);
	else if (begins(s, "die", &rest))
		cli_die(&c, "told to die");
	else if (begins(s, "wait", &rest) && n_waiting < WAITING_MAX && a.id)
		waiting[n_waiting++] = a.id->i;
	else if (is_embedded(request))
		embed(request, s);
	else
		say(&a, "content", begins(s, "say", &rest) ? rest : s, "stop");
}

/* What waits is answered; what has been answered is no more to be cancelled. */
static void cancel(const struct json *id)
{
	struct json_writer w;

	for (size_t i = 0; i < n_waiting; i++) {
		if (waiting[i] != id->i)
			continue;
		w = begin(id);
		raw(&w, "choices", "[{\"index\": 0, \"finish_reason\": \"cancelled\"}]");
		raw(&w, "usage", "{\"prompt_tokens\": 7, \"completion_tokens\": 0}");
		end(&w);
		waiting[i] = waiting[--n_waiting];
		return;
	}
}

static void tokenize(const struct json *id, const struct json *s)
{
	struct json_writer w = begin(id);

	key(&w, "tokens");
	json_open(&w, '[');
	for (size_t i = 0; i < s->n; i++)
		json_int(&w, (unsigned char)s->s[i]);
	json_close(&w, ']');
	end(&w);
}

static void detokenize(const struct json *id, const struct json *ids)
{
	struct json_writer w = begin(id);
	struct bytes b = { .limit = MEMORY };

	for (const struct json *i = ids->child; i; i = i->next)
		bytes_put(&b, &(char){ (char)i->i }, 1);
	text(&w, "content", b.p ? b.p : "", b.n);
	end(&w);
	bytes_free(&b);
}

/* ROLE: TEXT for each message, and a newline. */
static void apply_template(const struct json *id, const struct json *messages)
{
	struct json_writer w = begin(id);
	struct bytes b = { .limit = MEMORY };

	for (const struct json *m = messages ? messages->child : NULL; m; m = m->next) {
		const char *role = json_get_string(m, "role"), *s = json_get_string(m, "content");

		bytes_puts(&b, role ? role : "");
		bytes_puts(&b, ": ");
		bytes_puts(&b, s ? s : "");
		bytes_puts(&b, "\n");
	}
	text(&w, "prompt", b.p ? b.p : "", b.n);
	end(&w);
	bytes_free(&b);
}

static void take(const struct json *request)
{
	const struct json *id = json_get(request, "id"), *of;
	struct json_writer w;

	if ((of = json_get(request, "cancel"))) {
		cancel(of);
	} else if (json_get(request, "model")) {
		w = begin(id);
		raw(&w, "model", "{\"name\": \"a/fake\", \"n_ctx\": 512, \"template\": true}");
		end(&w);
	} else if ((of = json_get(request, "tokenize"))) {
		tokenize(id, of);
	} else if ((of = json_get(request, "detokenize"))) {
		detokenize(id, of);
	} else if (json_get(request, "apply_template")) {
		apply_template(id, json_get(request, "messages"));
	} else {
		answer(request);
	}
}

int main(int argc, char **argv)
{
	struct arena arena = { .limit = MEMORY };
	struct lines l;
	struct why w;
	char *line;
	size_t n;
	int got;

	cli_start(&c, argc, argv);
	if (cli_next(&c) || c.argc)
		cli_usage(&c, "there are no options and no operands");
	cli_must(&c, lines_open(&l, "-", &w), &w);
	while ((got = lines_next(&l, &line, &n, &w)) > 0) {
		const struct json *request = json_parse(&arena, line, n, &w);

		cli_must(&c, !request, &w);
		take(request);
		arena_free(&arena);
	}
	cli_must(&c, got < 0, &w);
	lines_close(&l);
	return cli_end(&c);
}
