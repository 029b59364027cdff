/* The conversation is read as chat reads it, with the options of that stage. */
#include "parser.h"

#include <string.h>

#include "lib/chat/answer/learn.h"
#include "lib/chat/answer/message.h"
#include "lib/chat/chat_opts.h"
#include "gen/arguments.h"
#include "convert.h"

static void forget(struct parser *p)
{
	chat_end(&p->chat);
	arena_free(&p->arena);
	bytes_free(&p->prompt);
	p->chat = (struct chat){ .open = 0 };
	p->arena = (struct arena){ .limit = CONVERT_MAX };
	p->prompt = (struct bytes){ .limit = CONVERT_MAX };
	p->format = (struct format){ .n_markers = 0 };
}

void parser_close(struct parser *p)
{
	forget(p);
	vocab_close(p->v);
	gguf_close(p->g);
}

/* The options of chat. A command may have changed the system message. */
static struct chat_setup setup_of(const struct request *q)
{
	struct chat_setup setup = { .template = q->plain ? "plain" : NULL };
	struct why ignored;

	for (const char *const *set = arguments_no_thinking; q->think < 0 && *set; set++)
		setup.set[setup.n_set++] = *set;
	for (size_t i = 0; i < q->n_given; i++)
		chat_take(&setup, q->given[i].o, q->given[i].value, &ignored);
	if (q->conversation)
		setup.system = stage_option(&q->stage[CHAT], "--system");
	return setup;
}

static int learn(struct parser *p, const struct messages *m, struct bytes *text, struct bytes *template)
{
	struct chat_setup setup = setup_of(p->q);
	const struct jinja_options how = { 0 };
	struct why ignored;

	return chat_open(&p->chat, &setup, p->v, &ignored) || messages_put(m, m->first, text)
		|| (text->n && chat_add_json(&p->chat, text->p, text->n, &ignored))
		|| chat_choose(&p->chat, &setup, p->g, template, &ignored) < 0
		|| learn_format(&p->chat, template->p, template->n, &how, &p->format, &p->arena, &p->prompt, &ignored);
}

void parser_learn(struct parser *p, const struct messages *m)
{
	struct bytes text = { .limit = CONVERT_MAX }, template = { .limit = CHAT_FILE_MAX };
	struct why ignored;

	forget(p);
	if (!p->g && (p->g = gguf_open(p->q->model, 0, &ignored)))
		p->v = vocab_open(p->g, VOCAB_PIECES, &ignored);
	if (p->v && learn(p, m, &text, &template))
		forget(p);
	/* the most common marks, for templates that know nothing of reasoning */
	if (!format_marker(&p->format, MARKER_THINK_END)) {
		format_add_marker(&p->format, MARKER_THINK, "<think>");
		format_add_marker(&p->format, MARKER_THINK_END, "</think>");
	}
	bytes_free(&text);
	bytes_free(&template);
}

/* Appends a pattern as text in which \n is a new line. */
static int put_quoted(struct bytes *to, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern > 0 && *pattern < PATTERN_PLACES)
			return -1;
		if (*pattern == '\n')
			bytes_puts(to, "\\n");
		else if (*pattern == '\\')
			bytes_puts(to, "\\\\");
		else
			bytes_put(to, pattern, 1);
	}
	return bytes_put(to, "", 1);
}

int parser_thinking(const struct parser *p, struct bytes *open, struct bytes *close)
{
	const char *think = format_marker(&p->format, MARKER_THINK), *end = format_marker(&p->format, MARKER_THINK_END);
	size_t n;

	if (!think || put_quoted(open, pattern_core(think)) || put_quoted(close, end))
		return -1;
	/* the white space after it may be missing */
	for (n = strlen(open->p); n > 2 && !memcmp(open->p + n - 2, "\\n", 2); n -= 2)
		open->p[n - 2] = 0;
	return 0;
}

int parser_name_thinking(struct parser *p, struct stage *sample, struct bytes *open, struct bytes *close,
	struct why *w)
{
	struct messages question = { .text.limit = CONVERT_MAX, .file = -1 };
	int failed = messages_add(&question, "user", "?", 1, w);

	parser_learn(p, &question);
	messages_close(&question);
	if (failed || parser_thinking(p, open, close))
		return failed;
	if (!stage_option(sample, "--think-open"))
		failed = stage_set_option(sample, "--think-open", open->p, w);
	if (!failed && !stage_option(sample, "--think-close"))
		failed = stage_set_option(sample, "--think-close", close->p, w);
	return failed;
}

struct answer *parser_begin(const struct parser *p, const struct answer_sink *sink, struct why *w)
{
	static const struct json nothing = { .type = JSON_OBJECT };
	int learned = p->chat.variables != NULL;
	struct answer *a = answer_open(&p->format, learned ? p->chat.variables : &nothing,
		learned ? learn_calls(&p->chat) : 0, sink, w);

	if (a && answer_prompt(a, p->prompt.p, p->prompt.n)) {
		why(w, "out of memory");
		answer_close(a);
		return NULL;
	}
	return a;
}

int parser_message(const struct parser *p, const char *text, size_t n, struct bytes *out, struct why *w)
{
	struct message message;
	struct answer *a;
	int failed;

	message_start(&message, 0, out);
	a = parser_begin(p, &message.sink, w);
	failed = !a || ((answer_read(a, text, n) || answer_end(a)) && why(w, "out of memory"));
	if (message_end(&message) && !failed)
		failed = why(w, "the conversation is too long");
	answer_close(a);
	return failed ? -1 : 0;
}
