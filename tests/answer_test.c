/* Answers of models, read back as messages.
 *
 * Each NAME.json in $TESTS/answers and in $SHARED/chatparse/cases has a template, tools and cases: a conversation, the
 * text of an answer, and the message that it is. Every answer is read at once, a byte at a time, and as deltas, with
 * the same result. Random bytes and damaged answers give some message. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/slurp.h"
#include "lib/chat/answer/learn.h"
#include "lib/chat/answer/message.h"
#include "check.h"
#include "random.h"

#define MEMORY ((size_t)256 << 20)

static struct why w;

/* ---- comparing ---- */

/* A member's text, which may be null or missing. */
static struct span text_of(const struct json *v, const char *key)
{
	const struct json *text = json_get(v, key);

	return text && text->type == JSON_STRING ? (struct span){ text->s, text->n } : (struct span){ "", 0 };
}

static struct span stripped(struct span s)
{
	return span_trim_end(span_trim_start(s));
}

static int same_value(const struct json *a, const struct json *b)
{
	const struct json *x = a->child, *y = b->child;

	if (a->s && b->s && a->type == b->type && a->type == JSON_STRING)
		return a->n == b->n && !memcmp(a->s, b->s, a->n);
	if (a->type >= JSON_INT && a->type <= JSON_FLOAT && b->type >= JSON_INT && b->type <= JSON_FLOAT)
		return a->d <= b->d && a->d >= b->d;
	if (a->type != b->type || a->n != b->n)
		return a->type == b->type && a->type < JSON_INT;
	for (; x && y; x = x->next, y = y->next) {
		if (a->type == JSON_OBJECT && !(y = json_get(b, x->key)))
			return 0;
		if (!same_value(x, y))
			return 0;
		if (a->type == JSON_OBJECT)
			y = b->child;
	}
	return 1;
}

static int same_json(struct span a, struct span b)
{
	struct arena arena = { .limit = MEMORY };
	const struct json *x = json_parse(&arena, a.s, a.n, &w), *y = json_parse(&arena, b.s, b.n, &w);
	int equal = x && y && same_value(x, y);

	arena_free(&arena);
	return equal;
}

/* Text of JSON without white space between its tokens. */
static struct span compact(struct arena *a, struct span s)
{
	char *out = arena_text(a, s.n + 1);
	size_t n = 0;
	int in_string = 0;

	for (size_t i = 0; out && i < s.n; i++) {
		if (!in_string && span_is_space(s.s[i]))
			continue;
		if (in_string && s.s[i] == '\\')
			out[n++] = s.s[i++];
		else if (s.s[i] == '"')
			in_string = !in_string;
		if (i < s.n)
			out[n++] = s.s[i];
	}
	return (struct span){ out, n };
}

static int has(struct span s, struct span part)
{
	for (size_t i = 0; i + part.n <= s.n; i++)
		if (!memcmp(s.s + i, part.s, part.n))
			return 1;
	return 0;
}

/* Some answers are cut before the id that is expected. */
static int same_call(struct arena *a, const struct json *call, const struct json *expected, struct span answer)
{
	const struct json *is = json_get(call, "function"), *must = json_get(expected, "function");
	struct span id = text_of(expected, "id"), arguments = text_of(is, "arguments");

	if (!span_equal(text_of(is, "name"), text_of(must, "name")))
		return 0;
	if (id.n && has(answer, id) && !span_equal(text_of(call, "id"), id))
		return 0;
	if (!json_get(expected, "arguments_prefix_of"))
		return same_json(arguments, text_of(must, "arguments"));
	arguments = compact(a, arguments);
	return span_begins(compact(a, text_of(expected, "arguments_prefix_of")), arguments)
		&& span_begins(arguments, text_of(expected, "arguments_at_least"));
}

static int same_message(const struct json *m, const struct json *test)
{
	const struct json *expected = json_get(test, "expect"), *x = json_get(m, "tool_calls");
	const struct json *y = json_get(expected, "tool_calls"), *exact = json_get(test, "exact");
	struct span content = text_of(m, "content"), wanted = text_of(expected, "content");
	struct span reasoning = stripped(text_of(m, "reasoning_content"));
	struct arena arena = { .limit = MEMORY };
	int equal;

	if (!exact || exact->type != JSON_TRUE) {
		content = stripped(content);
		wanted = stripped(wanted);
	}
	equal = span_equal(content, wanted) && span_equal(text_of(m, "role"), text_of(expected, "role"))
		&& span_equal(reasoning, stripped(text_of(expected, "reasoning_content")));
	for (x = x ? x->child : NULL, y = y ? y->child : NULL; equal && (x || y); x = x->next, y = y->next)
		equal = x && y && same_call(&arena, x, y, text_of(test, "output"));
	arena_free(&arena);
	return equal;
}

/* ---- reading ---- */

/* What cases of a file with the same variables have in common. */
struct setting {
	struct chat chat;
	struct arena arena;
	struct format format;
	struct bytes prompt;
};

/* The variable of the tools, in the form that the template's authors give it. */
static int set_tools(struct chat *c, const struct json *file)
{
	const struct json *tools = json_get(file, "tools");
	const char *name = json_get_string(file, "tools_variable");
	struct bytes text = { .limit = MEMORY };
	struct json_writer out = json_to_bytes(&text);
	int bare = !strcmp(name, "xml_tools") || !strcmp(name, "functions"), failed;

	json_value(&out, tools);
	failed = chat_set_json(c, "tools", text.p, text.n, &w);
	text.n = 0;
	out = json_to_bytes(&text);
	json_open(&out, '[');
	for (const struct json *t = tools->child; t; t = t->next)
		json_value(&out, bare ? json_get(t, "function") : t);
	json_close(&out, ']');
	if (strcmp(name, "tools"))
		failed |= chat_set_json(c, name, text.p, text.n, &w);
	bytes_free(&text);
	return failed;
}

static int set_variables(struct chat *c, const struct json *file, const struct json *test)
{
	struct bytes text = { .limit = MEMORY };
	int failed = chat_set_text(c, "bos_token", "<BOS>", 5, &w) || chat_set_text(c, "eos_token", "<EOS>", 5, &w);
	struct json_writer out;

	for (const struct json *v = json_get(test, "set")->child; v; v = v->next) {
		text.n = 0;
		out = json_to_bytes(&text);
		json_value(&out, v);
		failed = failed || chat_set_json(c, v->key, text.p, text.n, &w);
	}
	text.n = 0;
	out = json_to_bytes(&text);
	json_value(&out, json_get(test, "messages"));
	failed = failed || chat_add_json(c, text.p, text.n, &w);
	bytes_free(&text);
	return failed || (json_get(test, "tools")->type == JSON_TRUE && set_tools(c, file));
}

static int setting_open(struct setting *s, const struct json *file, const struct json *test,
	const struct bytes *template)
{
	*s = (struct setting){ .arena.limit = MEMORY, .prompt.limit = MEMORY };
	return chat_start(&s->chat, MEMORY, &w) || set_variables(&s->chat, file, test)
		|| learn_format(&s->chat, template->p, template->n, NULL, &s->format, &s->arena, &s->prompt, &w);
}

static void setting_close(struct setting *s)
{
	bytes_free(&s->prompt);
	arena_free(&s->arena);
	chat_end(&s->chat);
}

/* Reads an answer, `step` bytes at a time, and appends what it says to *out. */
static int read_answer(const struct setting *s, struct span answer, size_t step, int stream, struct bytes *out)
{
	struct message message;
	struct answer *a;
	int failed;

	message_start(&message, stream, out);
	a = answer_open(&s->format, s->chat.variables, 0, &message.sink, &w);
	failed = !a || answer_prompt(a, s->prompt.p, s->prompt.n);
	for (size_t i = 0; i < answer.n && !failed; i += step)
		failed = answer_read(a, answer.s + i, answer.n - i < step ? answer.n - i : step);
	failed = failed || answer_end(a);
	answer_close(a);
	return message_end(&message) || failed;
}

/* ---- deltas ---- */

/* Puts deltas, a line each, together to a message. -1: a line is not JSON. */
static int merge(struct span lines, struct message *m)
{
	struct arena arena = { .limit = MEMORY };
	const struct json *delta, *calls, *function;
	size_t line;

	for (size_t at = 0; at < lines.n; at += line + 1) {
		line = (size_t)((const char *)memchr(lines.s + at, '\n', lines.n - at) - lines.s) - at;
		if (!(delta = json_parse(&arena, lines.s + at, line, &w)))
			return -1;
		m->sink.tell(m, ANSWER_CONTENT, text_of(delta, "content"));
		m->sink.tell(m, ANSWER_REASONING, text_of(delta, "reasoning_content"));
		if (!(calls = json_get(delta, "tool_calls")))
			continue;
		function = json_get(calls->child, "function");
		if (json_get(function, "name"))
			m->sink.call(m, text_of(function, "name"), text_of(calls->child, "id"));
		else if (json_get(calls->child, "id"))
			m->sink.tell(m, ANSWER_ID, text_of(calls->child, "id"));
		m->sink.tell(m, ANSWER_ARGUMENTS, text_of(function, "arguments"));
	}
	arena_free(&arena);
	return 0;
}

static int merged(struct span lines, struct bytes *out)
{
	struct message m;
	int failed;

	message_start(&m, 0, out);
	failed = merge(lines, &m);
	return message_end(&m) || failed;
}

/* ---- cases ---- */

static void test_case(const char *name, const struct setting *s, const struct json *test)
{
	struct arena arena = { .limit = MEMORY };
	struct bytes whole = { .limit = MEMORY }, bytewise = whole, deltas = whole, together = whole;
	const struct json *m;
	const char *called = json_get_string(test, "name");
	struct span answer = text_of(test, "output");
	int failed = read_answer(s, answer, answer.n + 1, 0, &whole) || read_answer(s, answer, 1, 0, &bytewise)
		|| read_answer(s, answer, 1, 1, &deltas) || merged((struct span){ deltas.p, deltas.n }, &together);

	m = failed ? NULL : json_parse(&arena, whole.p, whole.n, &w);
	check(m && same_message(m, test), "%s: %s: %.*s", name, called, (int)whole.n, whole.n ? whole.p : "");
	check(whole.n == bytewise.n && !memcmp(whole.p, bytewise.p, whole.n), "%s: %s: a byte at a time: %.*s", name,
		called, (int)bytewise.n, bytewise.p);
	check(whole.n == together.n && !memcmp(whole.p, together.p, whole.n), "%s: %s: deltas: %.*s", name, called,
		(int)deltas.n, deltas.p);
	bytes_free(&whole);
	bytes_free(&bytewise);
	bytes_free(&deltas);
	bytes_free(&together);
	arena_free(&arena);
}

/* What the template makes of the conversation, and of it with the message. */
static int render(const struct json *file, const struct json *test, const struct bytes *template,
	const struct bytes *message, struct bytes *out)
{
	struct chat c;
	int failed = chat_start(&c, MEMORY, &w) || set_variables(&c, file, test)
		|| (message && (chat_add_json(&c, message->p, message->n, &w)
		|| chat_set_flag(&c, "add_generation_prompt", 0, &w)))
		|| chat_render(&c, template->p, template->n, NULL, out, &w);

	chat_end(&c);
	return failed;
}

/* The message renders to the text that it was read from, where the template shows all of that. */
static void test_return(const char *name, const struct setting *s, const struct json *file, const struct json *test,
	const struct bytes *template)
{
	struct bytes message = { .limit = MEMORY }, before = message, after = message;
	struct span answer = text_of(test, "output");
	int failed = read_answer(s, answer, answer.n + 1, 0, &message) || render(file, test, template, NULL, &before)
		|| render(file, test, template, &message, &after);

	bytes_put(&before, answer.s, answer.n);
	check(!failed && after.n >= before.n && !memcmp(before.p, after.p, before.n),
		"%s: %s: %.*s renders to: %s: %.*s", name, json_get_string(test, "name"), (int)message.n, message.p,
		failed ? w.text : "", (int)after.n, after.p);
	bytes_free(&message);
	bytes_free(&before);
	bytes_free(&after);
}

/* ---- damage ---- */

static void test_damage(const char *name, const struct setting *s, struct span answer)
{
	struct arena arena = { .limit = MEMORY };
	struct bytes whole = { .limit = MEMORY }, parts = whole;
	size_t step = 1 + random_below(9);
	int failed = read_answer(s, answer, answer.n + 1, 0, &whole) || read_answer(s, answer, step, 0, &parts);

	check(!failed && json_parse(&arena, whole.p, whole.n, &w), "%s: damaged: %.*s", name, (int)answer.n, answer.s);
	check(whole.n == parts.n && !memcmp(whole.p, parts.p, whole.n),
		"%s: damaged, %zu bytes at a time: %.*s: %.*s, %.*s", name, step, (int)answer.n, answer.s,
		(int)whole.n, whole.p, (int)parts.n, parts.p);
	bytes_free(&whole);
	bytes_free(&parts);
	arena_free(&arena);
}

enum { DAMAGED_MOST = 4096 };

/* Bytes are changed, removed, put in and doubled. */
static void test_damaged(const char *name, const struct setting *s, struct span answer)
{
	static char text[DAMAGED_MOST];
	static const char signs[] = "<>|[]{}\"'\\/:,=() \n\xe2\x96\xff\x00za1";
	size_t n = answer.n < sizeof text / 2 ? answer.n : sizeof text / 2, at, length;

	memcpy(text, answer.s, n);
	for (size_t k = 1 + random_below(4); k && n; k--) {
		at = random_below(n);
		length = random_below(n - at < 24 ? n - at + 1 : 24);
		switch (random_below(4)) {
		case 0: text[at] = signs[random_below(sizeof signs)]; break;
		case 1:
			memmove(text + at, text + at + length, n - at - length);
			n -= length;
			break;
		case 2: n = at + 1; break;
		default:
			if (n + length > sizeof text)
				break;
			memmove(text + at + length, text + at, n - at);
			n += length;
		}
	}
	test_damage(name, s, (struct span){ text, n });
}

static void test_noise(const char *name, const struct setting *s)
{
	char text[512];
	size_t n = random_below(sizeof text);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)random_bits();
	test_damage(name, s, (struct span){ text, n });
}

/* ---- files ---- */

static int same_setting(const struct json *a, const struct json *b)
{
	static const char *const members[] = { "set", "tools", "messages" };
	int equal = a != NULL;

	for (size_t i = 0; equal && i < sizeof members / sizeof *members; i++)
		equal = same_value(json_get(a, members[i]), json_get(b, members[i]));
	return equal;
}

static void test_file(const char *folder, const char *name)
{
	struct arena arena = { .limit = MEMORY };
	struct bytes text = { .limit = MEMORY }, template = text;
	const struct json *file = NULL, *before = NULL;
	struct setting s = { .prompt.limit = MEMORY };
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!slurp(path, &text, &w) && (file = json_parse(&arena, text.p, text.n, &w))) {
		snprintf(path, sizeof path, "%s/%s", folder, json_get_string(file, "template"));
		if (slurp(path, &template, &w))
			file = NULL;
	}
	check(file != NULL, "%s: %s", path, w.text);
	for (const struct json *test = file ? json_get(file, "cases")->child : NULL; test; test = test->next) {
		const char *level = json_get_string(test, "level");

		if (!check_takes())
			continue;
		if (!same_setting(before, test)) {
			setting_close(&s);
			if (!check(!setting_open(&s, file, test, &template), "%s: %s", name, w.text))
				break;
			before = test;
		}
		if (!strcmp(level, "core") || !strcmp(level, "hard"))
			test_case(name, &s, test);
		if (span_equal(text_of(test, "rendered"), span_of("same")))
			test_return(name, &s, file, test, &template);
		for (int i = 0; i < 8; i++)
			test_damaged(name, &s, text_of(test, "output"));
		test_noise(name, &s);
	}
	setting_close(&s);
	bytes_free(&text);
	bytes_free(&template);
	arena_free(&arena);
}

/* Returns the number of files. */
static size_t test_folder(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)))
		if (strlen(e->d_name) > 5 && !strcmp(e->d_name + strlen(e->d_name) - 5, ".json")) {
			test_file(folder, e->d_name);
			n++;
		}
	if (d)
		closedir(d);
	return n;
}

int main(void)
{
	const char *tests = getenv("TESTS"), *shared = getenv("SHARED");
	char path[1024];

	snprintf(path, sizeof path, "%s/answers", tests ? tests : "tests");
	check(test_folder(path) == 7, "%s: seven files expected", path);
	snprintf(path, sizeof path, "%s/chatparse/cases", shared ? shared : "../shared");
	if (!test_folder(path))
		check_skip("no ../shared/chatparse (1112 cases)");
	return check_end("answer_test");
}
