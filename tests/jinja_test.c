/* Templates against what Python's jinja2 makes of them.
 *
 * The cases in jinja_cases.h, and each NAME.jinja with the conversations of NAME.json in $TESTS/templates and in
 * $SHARED/templates. One line for each failure; the counts alone when there is none. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "lib/chat/chat.h"
#include "lib/chat/jinja/jinja.h"
#include "check.h"

struct test_case {
	const char *template;
	const char *text;           /* what it renders to; NULL: it must fail, with this in the reason: */
	const char *error;
};

#define T(template, text) { template, text, NULL },
#define E(template, error) { template, NULL, error },
static const struct test_case cases[] = {
#include "jinja_cases.h"
};

/* Lines of a conversation, NAME=VALUE among them, and what a built-in template makes of it. */
static const struct chat_case {
	const char *template, *lines[4];
	const char *text, *error;
} chat_cases[] = {
	{ "chatml", { "{\"role\": \"user\", \"content\": \"Hi\"}" },
		"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", NULL },
	{ "chatml", { "[{\"role\": \"user\", \"content\": null}]", "add_generation_prompt=false" },
		"<|im_start|>user\n<|im_end|>\n", NULL },
	{ "llama2", { "{\"messages\": [{\"role\": \"system\", \"content\": \"Be kind.\"}, "
			"{\"role\": \"user\", \"content\": \"Hi \"}]}",
			"{\"role\": \"assistant\", \"content\": \"Hello\"}",
			"{\"role\": \"user\", \"content\": \"More\"}" },
		"<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] More [/INST]", NULL },
	{ "llama3", { "{\"role\": \"user\", \"content\": \"Hi\"}" },
		"<s><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
		"<|start_header_id|>assistant<|end_header_id|>\n\n", NULL },
	{ "gemma", { "[{\"role\": \"system\", \"content\": \"Be kind.\"}, {\"role\": \"user\", \"content\": \"Hi\"}]" },
		"<s><start_of_turn>user\nBe kind.\n\nHi<end_of_turn>\n<start_of_turn>model\n", NULL },
	{ "gemma", { "{\"role\": \"assistant\", \"content\": \"Hi\"}" }, NULL, "take turns" },
	{ "mistral", { "{\"role\": \"user\", \"content\": \"Hi\"}",
			"{\"role\": \"assistant\", \"content\": \"Hello\"}" },
		"<s>[INST] Hi [/INST] Hello</s>", NULL },
	{ "phi3", { "{\"role\": \"user\", \"content\": \"Hi\"}", "x={", "" },
		"<|user|>\nHi<|end|>\n<|assistant|>\n", NULL },
	{ "phi3", { "{\"content\": \"Hi\"}" }, NULL, "no role" },
	{ "phi3", { "{\"role\": \"user\"" }, NULL, "line 1, column 16" },
	{ "phi3", { "" }, NULL, "no message" },
};

/* Searches of 64 KiB of text in a loop of a thousand rounds: more than the steps allowed. */
static const char *const costly[] = {
	"c.find('b')", "c.rfind('b')", "'b' in c", "c|length", "c.split('b')", "c.replace('b', 'c')", "c.count('aab')",
	"c[60000]", "c.strip('a')",
	"c|lower", "c.isalpha()",
};

static const char *const large[] = {
	"range(100000)|join('x' * 10000)", "('x' * 1000000)|replace('x', 'y' * 1000)", "(['x' * 1000] * 100000)|tojson",
	"('\\n' * 100000)|indent(10000, blank=true)", "'%01000000000d' % 1",
	"('a b ' * 10000)|wordwrap(1, wrapstring='x' * 10000)", "'{:>1000000000}'.format(1)",
};

static const struct tm now = { .tm_year = 126, .tm_mon = 0, .tm_mday = 2, .tm_hour = 3, .tm_min = 4, .tm_sec = 5,
	.tm_wday = 5, .tm_yday = 1 };

/* Renders; on success out holds the text, else why the reason. */
static int render(const char *template, size_t n, const struct json *variables, struct bytes *out, struct why *w)
{
	const struct jinja_options o = { .now = &now };
	struct jinja *t = jinja_parse(template, n, w);
	int code = t ? jinja_render(t, variables, &o, out, w) : -1;

	jinja_free(t);
	return code;
}

/* That it renders to text[text_n], or fails with `error` in the reason. */
static void renders(const char *name, int code, const struct bytes *out, const struct why *w, const char *text,
	size_t text_n, const char *error)
{
	size_t at = 0;

	if (code) {
		check(error && strstr(w->text, error), "%s: %s\n\twanted: %s", name, w->text, error ? error : "text");
		return;
	}
	while (text && at < out->n && at < text_n && out->p[at] == text[at])
		at++;
	check(text && at == out->n && at == text_n, "%s: differs at byte %zu: \"%.*s\" wanted: \"%.*s\"", name, at,
		(int)(out->n - at > 60 ? 60 : out->n - at), out->n ? out->p + at : "",
		text ? (int)(text_n - at > 60 ? 60 : text_n - at) : 5, text ? text + at : "error");
}

static void run_case(const struct test_case *c)
{
	struct arena a = { .limit = 1 << 20 };
	struct bytes out = { .limit = 1 << 20 };
	struct why w = { "" };
	struct json *v = json_parse(&a, VARIABLES, strlen(VARIABLES), &w);
	int code = v ? render(c->template, strlen(c->template), v, &out, &w) : -1;

	renders(c->template, code, &out, &w, c->text, c->text ? strlen(c->text) : 0, c->error);
	bytes_free(&out);
	arena_free(&a);
}

static void run_chat(const struct chat_case *c)
{
	const char *template = chat_template(c->template);
	struct bytes out = { .limit = 1 << 20 };
	struct why w = { "" };
	struct chat chat;
	int code = chat_start(&chat, 1 << 20, &w) || chat_set_text(&chat, "bos_token", "<s>", 3, &w)
		|| chat_set_text(&chat, "eos_token", "</s>", 4, &w);

	for (int i = 0; i < 4 && c->lines[i] && !code; i++) {
		const char *line = c->lines[i];

		code = strchr("{[", line[0]) ? chat_add_json(&chat, line, strlen(line), &w) : chat_set(&chat, line, &w);
	}
	code = code || chat_render(&chat, template, strlen(template), NULL, &out, &w);
	renders(c->template, code, &out, &w, c->text, c->text ? strlen(c->text) : 0, c->error);
	bytes_free(&out);
	chat_end(&chat);
}

static void run_costly(const char *expression)
{
	static char text[1 << 16];
	const struct jinja_options o = { .steps = 5000000 };
	struct arena a = { .limit = 1 << 20 };
	struct bytes out = { .limit = 1 << 20 };
	struct why w = { "" };
	struct json *variables = json_new(&a, JSON_OBJECT);
	char template[128];
	struct jinja *t;

	memset(text, 'a', sizeof text);
	json_add(variables, "c", json_new_string(&a, text, sizeof text));
	snprintf(template, sizeof template, "{%% for i in range(1000) %%}{%% set x = %s %%}{%% endfor %%}", expression);
	t = jinja_parse(template, strlen(template), &w);
	check(t && jinja_render(t, variables, &o, &out, &w) && strstr(w.text, "too many steps"), "%s: %s", expression,
		w.text);
	jinja_free(t);
	bytes_free(&out);
	arena_free(&a);
}

/* What would be larger than the memory of a rendering is refused before it is there. */
static void run_large(const char *expression)
{
	struct arena a = { .limit = 1 << 20 };
	struct bytes out = { .limit = 1 << 28 };
	struct why w = { "" };
	char template[128];
	struct jinja *t;

	snprintf(template, sizeof template, "{{ %s }}", expression);
	t = jinja_parse(template, strlen(template), &w);
	check(t && jinja_render(t, json_new(&a, JSON_OBJECT), NULL, &out, &w) && strstr(w.text, "more memory"),
		"%s: %s", expression, w.text);
	check(out.cap <= 17 << 20, "%s: %zu MiB of output", expression, out.cap >> 20);
	jinja_free(t);
	bytes_free(&out);
	arena_free(&a);
}

/* The whole file, or NULL. The caller frees it. */
static char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *s = malloc(1 << 20);

	if (f && s) {
		*n = fread(s, 1, 1 << 20, f);
		fclose(f);
		return s;
	}
	check(0, "%s: cannot be read", path);
	free(s);
	return NULL;
}

/* A conversation of a NAME.json as the variables that a template is given. */
static struct json *variables_of(struct arena *a, const struct json *c)
{
	struct json *v = json_new(a, JSON_OBJECT), *copy;
	const struct json *extra = json_get(c, "extra");

	for (const struct json *m = c->child; m; m = m->next) {
		if (strcmp(m->key, "messages") && strcmp(m->key, "add_generation_prompt"))
			continue;
		copy = json_new(a, JSON_NULL);
		*copy = *m;
		copy->next = NULL;
		json_add(v, m->key, copy);
	}
	json_add(v, "bos_token", json_new_string(a, "<BOS>", 5));
	json_add(v, "eos_token", json_new_string(a, "<EOS>", 5));
	for (const struct json *m = extra ? extra->child : NULL; m; m = m->next) {
		copy = json_new(a, JSON_NULL);
		*copy = *m;
		copy->next = NULL;
		json_add(v, m->key, copy);
	}
	return v;
}

static void run_conversations(const char *name, const char *template, size_t n, const char *text, size_t text_n)
{
	struct arena a = { .limit = 64 << 20 };
	struct why w = { "" };
	const struct json *all = json_parse(&a, text, text_n, &w);

	if (!all)
		check(0, "%s: %s", name, w.text);
	for (const struct json *c = all ? all->child : NULL; c; c = c->next) {
		struct bytes out = { .limit = 1 << 24 };
		const struct json *wanted = json_get(c, "text");
		char label[512];

		snprintf(label, sizeof label, "%s %s", name, json_get_string(c, "case"));
		renders(label, render(template, n, variables_of(&a, c), &out, &w), &out, &w, wanted ? wanted->s : NULL,
			wanted ? wanted->n : 0,
			json_get_string(c, "error"));
		bytes_free(&out);
	}
	arena_free(&a);
}

/* Returns how many templates there are. */
static int run_directory(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (!d)
		return 0;
	while ((entry = readdir(d))) {
		char name[1024], *template, *text;
		size_t stem = strlen(entry->d_name), n = 0, text_n = 0;

		if (stem < 6 || strcmp(entry->d_name + stem - 6, ".jinja"))
			continue;
		stem -= 6;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		template = read_file(name, &n);
		snprintf(name, sizeof name, "%s/%.*s.json", path, (int)stem, entry->d_name);
		text = read_file(name, &text_n);
		if (template && text)
			run_conversations(entry->d_name, template, n, text, text_n);
		free(template);
		free(text);
		count++;
	}
	closedir(d);
	return count;
}

int main(void)
{
	const char *shared = getenv("SHARED"), *tests = getenv("TESTS");
	char path[512];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		run_case(&cases[i]);
	for (size_t i = 0; i < sizeof costly / sizeof *costly; i++)
		run_costly(costly[i]);
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		run_large(large[i]);
	for (size_t i = 0; i < sizeof chat_cases / sizeof *chat_cases; i++)
		run_chat(&chat_cases[i]);
	snprintf(path, sizeof path, "%s/templates", shared ? shared : "../shared");
	if (!run_directory(path))
		check_skip("no templates in %s (342 cases)", path);
	snprintf(path, sizeof path, "%s/templates", tests ? tests : "tests");
	check(run_directory(path) == 3, "%s: not the three templates", path);
	return check_end("jinja_test");
}
