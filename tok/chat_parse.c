/* Reads as much as there is, and writes what that makes certain. */
#include "chat_parse.h"

#include <errno.h>
#include <string.h>

#include "lib/base/io.h"
#include "lib/base/out.h"
#include "lib/chat/answer/learn.h"
#include "lib/chat/answer/message.h"

enum { READ_BYTES = 1 << 16 };
#define OUT_MAX ((size_t)1 << 31)

static int flush(struct bytes *out, struct why *w)
{
	if (out->n)
		out_bytes(out->p, out->n);
	out->n = 0;
	return out_flush(w);
}

static int read_answer(struct answer *a, struct bytes *out, struct why *w)
{
	static char text[READ_BYTES];
	ssize_t n;

	while ((n = io_read(0, text, sizeof text)) > 0)
		if (answer_read(a, text, (size_t)n) || flush(out, w))
			return -1;
	if (n < 0)
		return why(w, "standard input: %s", strerror(errno));
	return answer_end(a);
}

static int read_message(struct chat *c, const struct format *f, const struct bytes *prompt, int stream, struct why *w)
{
	struct bytes out = { .limit = OUT_MAX };
	struct message message;
	struct answer *a;
	int failed;

	message_start(&message, stream, &out);
	why(w, "the answer needs more memory than it may have");
	a = answer_open(f, c->variables, learn_calls(c), &message.sink, w);
	failed = !a || answer_prompt(a, prompt->p, prompt->n) || read_answer(a, &out, w);
	failed = message_end(&message) || failed || flush(&out, w);
	answer_close(a);
	bytes_free(&out);
	return failed ? -1 : 0;
}

int chat_parse(struct chat *c, const char *template, size_t n, const struct jinja_options *o, enum chat_parse what,
	struct why *w)
{
	struct bytes text = { .limit = OUT_MAX };
	struct arena arena = { .limit = OUT_MAX };
	struct format format;
	int failed = learn_format(c, template, n, o, &format, &arena, &text, w);

	if (!failed && what == PARSE_SHOW) {
		text.n = 0;
		format_show(&format, &text);
		failed = flush(&text, w);
	} else if (!failed) {
		failed = read_message(c, &format, &text, what == PARSE_STREAM, w);
	}
	bytes_free(&text);
	arena_free(&arena);
	return failed ? -1 : 0;
}
