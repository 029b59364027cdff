/* chat: renders messages as text with the model's chat template. The text is ready for tok --no-bos: the template has
 * placed the special tokens. */
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/lines.h"
#include "lib/base/out.h"
#include "lib/base/slurp.h"
#include "lib/chat/chat_opts.h"
#include "lib/gguf/models.h"
#include "chat_grammar.h"
#include "chat_parse.h"
#include "chat_settings.h"

static struct cli c = { .program = "chat", .synopsis = "[options] MODEL < messages > text",
	.purpose = "messages to text, by the model's chat template",
	.opts = chat_settings_opts, .more = { chat_opts }, .rules = chat_settings_rules,
	.common = "no-generation-prompt continue text print-template parse messages stream grammar tool-choice "
		"json-schema-file system tools set template",
	.examples = "  echo '{\"role\": \"user\", \"content\": \"hi\"}' | chat m.gguf\n"
		"  chat --tools tools.json m.gguf < messages | tok --no-bos m.gguf | ...\n"
		"  chat --parse --messages messages m.gguf < answer\n" };
static struct why w;
static struct chat_settings set;

/* Adds messages: as JSON if they begin like it, otherwise as one of the user. */
static int add(struct chat *chat, const char *text, size_t n, int as_text)
{
	size_t blank = json_blank(text, n);

	if (!as_text && blank < n && (text[blank] == '{' || text[blank] == '['))
		return chat_add_json(chat, text, n, &w);
	return blank == n ? 0 : chat_add_text(chat, "user", text, n - (text[n - 1] == '\n'), &w);
}

/* Adds the messages of a file; "-": standard input. */
static void add_messages(struct chat *chat, const char *name, int as_text)
{
	struct bytes in = { .limit = CHAT_FILE_MAX };

	cli_must(&c, slurp_text(name, &in, &w), &w);
	if (add(chat, in.p, in.n, as_text))
		cli_die(&c, "%s: %s", slurp_is_stdin(name) ? "standard input" : name, w.text);
	bytes_free(&in);
}

/* A line for each part of schemas that the grammar does without. */
static void warn_left_out(const struct bytes *lines)
{
	for (size_t at = 0; at < lines->n; at++) {
		int n = (int)strcspn(lines->p + at, "\n");

		cli_warn(&c, "%.*s: left out", n, lines->p + at);
		at += (size_t)n;
	}
}

static void print(const struct bytes *b)
{
	if (b->n)
		out_shown(b->p, b->n);
	out_shown_close();
}

static int another;             /* the model has no template, and another is used: */
static struct why what_other;

/* Finds the template of the conversation, which its messages and --set may change. */
static int choose(struct chat *chat, const struct gguf *g, struct bytes *template)
{
	if ((set.no_prompt && chat_set_flag(chat, "add_generation_prompt", 0, &w))
	    || (set.open && chat_continue(chat, &w)))
		return -1;
	another = chat_choose(chat, &set.setup, g, template, &w);
	what_other = w;
	return another < 0 ? -1 : 0;
}

/* What the user should know about a text; that another template is used only once. */
static void remark(const struct chat *chat)
{
	static int remarked;
	const char *remark;
	unsigned remarks = 0;

	if (another && !remarked++)
		cli_warn(&c, "%s", what_other.text);
	while (set.verbose && !set.print && (remark = chat_remark(chat, &remarks)))
		cli_warn(&c, "%s", remark);
}

/* ---- one conversation ---- */

static void write_one(const struct gguf *g, const struct vocab *vocab, const struct jinja_options *how)
{
	struct bytes template = { .limit = CHAT_FILE_MAX }, text = { .limit = CHAT_TEXT_MAX };
	struct chat chat;
	int failed = chat_open(&chat, &set.setup, vocab, &w);

	if (!failed && !set.print && (!(set.parse || set.grammar) || set.messages))
		add_messages(&chat, set.messages ? set.messages : "-", set.text);
	failed = failed || choose(&chat, g, &template);
	if (!failed && set.grammar)
		failed = chat_grammar(&chat, template.p, template.n, how, vocab, &set.wish, &w);
	else if (!failed && set.parse)
		failed = chat_parse(&chat, template.p, template.n, how, set.what, &w);
	else if (!failed && !set.print)
		failed = chat_render(&chat, template.p, template.n, how, &text, &w);
	cli_must(&c, failed, &w);
	warn_left_out(&set.left_out);
	remark(&chat);
	print(set.print ? &template : &text);
	bytes_free(&text);
	bytes_free(&template);
	chat_end(&chat);
}

/* ---- one on each line ---- */

/* Adds the messages of a line, which may also be a JSON string. */
static int add_line(struct chat *chat, const char *line, size_t n, int as_text)
{
	struct arena a = { .limit = CHAT_MEMORY };
	size_t blank = json_blank(line, n);
	struct json *v = !as_text && blank < n && line[blank] == '"' ? json_parse(&a, line, n, &w) : NULL;
	int failed = v ? chat_add_text(chat, "user", v->s, v->n, &w) : add(chat, line, n, as_text);

	arena_free(&a);
	return failed;
}

static int render_line(const struct gguf *g, const struct vocab *vocab, const struct jinja_options *how,
	const char *line, size_t n, struct bytes *text)
{
	struct bytes template = { .limit = CHAT_FILE_MAX };
	struct chat chat;
	int failed = chat_open(&chat, &set.setup, vocab, &w) || add_line(&chat, line, n, set.text)
		|| choose(&chat, g, &template) || chat_render(&chat, template.p, template.n, how, text, &w);

	if (!failed)
		remark(&chat);
	bytes_free(&template);
	chat_end(&chat);
	return failed;
}

/* A blank line has an empty text, and one that cannot be rendered null, so that the lines match. */
static void write_lines(const struct gguf *g, const struct vocab *vocab, const struct jinja_options *how)
{
	size_t n, failed = 0;
	struct lines lines;
	char *line;
	int got;

	cli_must(&c, lines_open(&lines, "-", &w), &w);
	while ((got = lines_next(&lines, &line, &n, &w)) > 0) {
		struct bytes text = { .limit = CHAT_TEXT_MAX };
		struct json_writer out = json_to_out();

		if (json_blank(line, n) < n && render_line(g, vocab, how, line, n, &text)) {
			cli_warn(&c, "line %zu: %s", lines.number, w.text);
			failed++;
			json_raw(&out, "null");
		} else {
			json_string(&out, bytes_text(&text), text.n);
		}
		out_char('\n');
		bytes_free(&text);
		cli_must(&c, out_flush(&w), &w);
	}
	cli_must(&c, got < 0, &w);
	if (failed)
		cli_failed(&c, "lines that failed: %zu of %zu", failed, lines.number);
	lines_close(&lines);
}

int main(int argc, char **argv)
{
	struct jinja_options how = { 0 };
	struct vocab *vocab;
	struct gguf *g;

	cli_start(&c, argc, argv);
	chat_settings_read(&set, &c);
	guard_arm(c.program);
	cli_must(&c, !(g = gguf_open(models_path(c.argv[0], &w), 0, &w))
		|| !(vocab = vocab_open(g, VOCAB_PIECES, &w)), &w);
	how.now = set.dated ? &set.now : NULL;
	(set.lines ? write_lines : write_one)(g, vocab, &how);
	bytes_free(&set.schema);
	bytes_free(&set.left_out);
	vocab_close(vocab);
	gguf_close(g);
	return cli_end(&c);
}
