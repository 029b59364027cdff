/* Text is printed as it comes; white space waits until something follows it. */
#include "alone.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"
#include "lib/base/system.h"
#include "lib/base/visible.h"
#include "lib/term/wrap.h"

/* Where text goes: to a terminal without control characters. */
struct sink {
	int fd, terminal;
	struct bytes out;
	struct visible visible; /* a character may be divided between two pieces of text */
	struct wrap wrap;
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
	int called;             /* the answer has a call */
	size_t empty;           /* answers that had neither text nor calls */
} alone = {
	.content = { .fd = STDOUT_FILENO, .out.limit = 1 << 24, .space.limit = 1 << 24 },
	.thought = { .fd = STDERR_FILENO, .out.limit = 1 << 24, .space.limit = 1 << 24 }
};

static void put_wrapped(void *context, const char *s, size_t n)
{
	struct sink *k = context;

	bytes_put(&k->out, s, n);
}

static void put_visible(void *context, const char *s, size_t n)
{
	struct sink *k = context;

	wrap_put(&k->wrap, s, n, put_wrapped, k);
}

static void flush(struct sink *k)
{
	struct why w;

	if (k->out.n && io_write(k->fd, k->out.p, k->out.n, &w) && k == &alone.content)
		alone.lost = w;
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

	if (!alone.lines || k != &alone.content) {
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
	if (k == &alone.thought && !k->begun && alone.dim)
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
	if (k->begun || (alone.lines && k == &alone.content))
		bytes_puts(&k->out, k == &alone.thought && alone.dim ? "\033[0m\n" : "\n");
	k->begun = 0;
	k->space.n = 0;
	flush(k);
}

/* Another part of the answer begins, for that sink, or none. */
static void turn(struct sink *to, int in_call)
{
	if (alone.now == &alone.thought && to != &alone.thought)
		end(&alone.thought);
	/* calls are on lines of their own */
	if (to && (in_call || alone.in_call)) {
		to->space.n = 0;
		put_byte(to, '\n');
	}
	alone.now = to;
	alone.in_call = in_call;
}

static void tell(void *context, enum answer_part part, struct span text)
{
	struct sink *to = part == ANSWER_CONTENT ? &alone.content : alone.thoughts ? &alone.thought : NULL;

	if (part == ANSWER_ID)
		return;
	if (part != ANSWER_ARGUMENTS && (to != alone.now || alone.in_call))
		turn(to, 0);
	for (size_t i = 0; alone.now && i < text.n; i++)
		put_byte(alone.now, text.s[i]);
}

static void call(void *context, struct span name, struct span id)
{
	alone.called = 1;
	turn(alone.calls == STDOUT_FILENO ? &alone.content : alone.calls == STDERR_FILENO ? &alone.thought : NULL, 1);
	for (size_t i = 0; alone.now && i < name.n; i++)
		put_byte(alone.now, name.s[i]);
	if (alone.now)
		put_byte(alone.now, ' ');
}

void alone_open(int thoughts, int calls, int lines)
{
	alone.lines = lines;
	alone.thoughts = thoughts;
	alone.calls = calls;
	alone.content.terminal = isatty(STDOUT_FILENO);
	alone.thought.terminal = isatty(STDERR_FILENO);
	if (!lines)
		wrap_begin(&alone.content.wrap, STDOUT_FILENO);
	wrap_begin(&alone.thought.wrap, STDERR_FILENO);
	alone.dim = alone.thought.terminal && system_coloured(STDERR_FILENO);
}

void alone_close(void)
{
	answer_close(alone.reader);
	alone.reader = NULL;
	bytes_free(&alone.content.out);
	bytes_free(&alone.content.space);
	bytes_free(&alone.thought.out);
	bytes_free(&alone.thought.space);
}

void alone_begin(const struct parser *p)
{
	static const struct answer_sink sink = { tell, call, NULL };

	alone.now = NULL;
	alone.in_call = 0;
	/* the terminal may have another width now */
	wrap_line(&alone.content.wrap);
	wrap_line(&alone.thought.wrap);
	alone.reader = parser_begin(p, &sink, &alone.lost);
}

void alone_text(const char *s, size_t n)
{
	if (alone.reader && answer_read(alone.reader, s, n))
		why(&alone.lost, "out of memory");
	flush(&alone.thought);
	flush(&alone.content);
}

void alone_end(void)
{
	if (alone.reader)
		answer_end(alone.reader);
	answer_close(alone.reader);
	alone.reader = NULL;
	alone.empty += !alone.content.begun && !alone.called;
	alone.called = 0;
	end(&alone.thought);
	end(&alone.content);
}

int alone_written(struct why *w)
{
	return *alone.lost.text ? why(w, "%s", alone.lost.text) : 0;
}

size_t alone_empty(const struct request *q)
{
	return q->stop || q->grammar ? 0 : alone.empty;
}
