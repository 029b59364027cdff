/* Text is printed as it comes, except white space that may be the last. */
#include "reply.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"
#include "lib/base/system.h"
#include "lib/base/visible.h"

/* Where text goes: to a terminal without control characters. */
struct sink {
	int fd, terminal;
	struct bytes out;
	struct visible visible; /* a character may be divided between two pieces of text */
	struct bytes space;     /* white space that is printed if anything follows */
	int begun;              /* something was printed */
};

static struct {
	struct answer *reader;  /* of the current answer; NULL: there was no memory for it */
	struct sink content, thought;
	struct sink *now;       /* where the last part of the answer went; NULL: nowhere */
	struct why lost;        /* why the answer could not be written; empty: it was */
	int thoughts, calls, lines;
	int in_call;
	int dim;                /* reasoning is dim on the terminal */
} reply = {
	.content = { .fd = STDOUT_FILENO, .out.limit = 1 << 24, .space.limit = 1 << 24 },
	.thought = { .fd = STDERR_FILENO, .out.limit = 1 << 24, .space.limit = 1 << 24 }
};

static void put_visible(void *context, const char *s, size_t n)
{
	struct sink *k = context;

	bytes_put(&k->out, s, n);
}

static void flush(struct sink *k)
{
	struct why w;

	if (k->out.n && io_write(k->fd, k->out.p, k->out.n, &w) && k == &reply.content)
		reply.lost = w;
	k->out.n = 0;
	k->out.failed = 0;
}

static void show(struct sink *k, const char *s, size_t n)
{
	if (k->terminal)
		visible_put(&k->visible, s, n, put_visible, k);
	else
		bytes_put(&k->out, s, n);
}

static void print(struct sink *k, const char *s, size_t n)
{
	static const char special[] = "\n\r\\", *const spelled[] = { "\\n", "\\r", "\\\\" };
	const char *found;

	if (!reply.lines || k != &reply.content) {
		show(k, s, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if ((found = memchr(special, s[i], sizeof special - 1)))
			show(k, spelled[found - special], 2);
		else
			show(k, s + i, 1);
}

static void put_byte(struct sink *k, char c)
{
	if (space_ascii((unsigned char)c)) {
		if (k->begun)
			bytes_put(&k->space, &c, 1);
		return;
	}
	if (k == &reply.thought && !k->begun && reply.dim)
		bytes_puts(&k->out, "\033[2m");
	k->begun = 1;
	if (k->space.n)
		print(k, k->space.p, k->space.n);
	k->space.n = 0;
	print(k, &c, 1);
}

/* Ends what a sink has printed with a new line. */
static void end(struct sink *k)
{
	visible_end(&k->visible, put_visible, k);
	if (k->begun || (reply.lines && k == &reply.content))
		bytes_puts(&k->out, k == &reply.thought && reply.dim ? "\033[0m\n" : "\n");
	k->begun = 0;
	k->space.n = 0;
	flush(k);
}

/* Another part of the answer begins, for that sink, or none. */
static void turn(struct sink *to, int in_call)
{
	if (reply.now == &reply.thought && to != &reply.thought)
		end(&reply.thought);
	/* calls are on lines of their own */
	if (to && (in_call || reply.in_call)) {
		to->space.n = 0;
		put_byte(to, '\n');
	}
	reply.now = to;
	reply.in_call = in_call;
}

static void tell(void *context, enum answer_part part, struct span text)
{
	struct sink *to = part == ANSWER_CONTENT ? &reply.content : reply.thoughts ? &reply.thought : NULL;

	if (part == ANSWER_ID)
		return;
	if (part != ANSWER_ARGUMENTS && (to != reply.now || reply.in_call))
		turn(to, 0);
	for (size_t i = 0; reply.now && i < text.n; i++)
		put_byte(reply.now, text.s[i]);
}

static void call(void *context, struct span name, struct span id)
{
	turn(reply.calls == STDOUT_FILENO ? &reply.content : reply.calls == STDERR_FILENO ? &reply.thought : NULL, 1);
	for (size_t i = 0; reply.now && i < name.n; i++)
		put_byte(reply.now, name.s[i]);
	if (reply.now)
		put_byte(reply.now, ' ');
}

void reply_open(int thoughts, int calls, int lines)
{
	reply.lines = lines;
	reply.thoughts = thoughts;
	reply.calls = calls;
	reply.content.terminal = isatty(STDOUT_FILENO);
	reply.thought.terminal = isatty(STDERR_FILENO);
	reply.dim = reply.thought.terminal && system_coloured(STDERR_FILENO);
}

void reply_close(void)
{
	answer_close(reply.reader);
	reply.reader = NULL;
	bytes_free(&reply.content.out);
	bytes_free(&reply.content.space);
	bytes_free(&reply.thought.out);
	bytes_free(&reply.thought.space);
}

void reply_begin(const struct parser *p)
{
	static const struct answer_sink sink = { tell, call, NULL };

	reply.now = NULL;
	reply.in_call = 0;
	reply.reader = parser_begin(p, &sink, &reply.lost);
}

void reply_text(const char *s, size_t n)
{
	if (reply.reader && answer_read(reply.reader, s, n))
		why(&reply.lost, "out of memory");
	flush(&reply.thought);
	flush(&reply.content);
}

void reply_end(void)
{
	if (reply.reader)
		answer_end(reply.reader);
	answer_close(reply.reader);
	reply.reader = NULL;
	end(&reply.thought);
	end(&reply.content);
}

int reply_written(struct why *w)
{
	return *reply.lost.text ? why(w, "%s", reply.lost.text) : 0;
}
