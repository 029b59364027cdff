/* Text is printed as it comes, except white space that may be the last. */
#include "answer.h"

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
	struct sections sections;
	struct sink answer, thought;
	struct why lost;        /* why the answer could not be written; empty: it was */
	int thoughts;
	int dim;                /* the thought is dim on the terminal */
} answer = {
	.answer = { .fd = STDOUT_FILENO, .out.limit = 1 << 24, .space.limit = 1 << 24 },
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

	if (k->out.n && io_write(k->fd, k->out.p, k->out.n, &w) && k == &answer.answer)
		answer.lost = w;
	k->out.n = 0;
	k->out.failed = 0;
}

static void print(struct sink *k, const char *s, size_t n)
{
	if (k->terminal)
		visible_put(&k->visible, s, n, put_visible, k);
	else
		bytes_put(&k->out, s, n);
}

static void put_byte(struct sink *k, char c)
{
	if (space_ascii((unsigned char)c)) {
		if (k->begun)
			bytes_put(&k->space, &c, 1);
		return;
	}
	if (k == &answer.thought && !k->begun && answer.dim)
		bytes_puts(&k->out, "\033[2m");
	k->begun = 1;
	if (k->space.n)
		print(k, k->space.p, k->space.n);
	k->space.n = 0;
	print(k, &c, 1);
}

static void put(void *context, const char *s, size_t n)
{
	struct sink *k = answer.sections.now == SECTION_THOUGHT ? &answer.thought : &answer.answer;

	if (k == &answer.thought && !answer.thoughts)
		return;
	for (size_t i = 0; i < n; i++)
		put_byte(k, s[i]);
}

/* Ends what a sink has printed with a new line. */
static void end(struct sink *k)
{
	visible_end(&k->visible, put_visible, k);
	if (k->begun)
		bytes_puts(&k->out, k == &answer.thought && answer.dim ? "\033[0m\n" : "\n");
	k->begun = 0;
	k->space.n = 0;
	flush(k);
}

/* The marks of calls are a part of the answer, those of thoughts are not. */
static void turn(void *context, enum section from, const char *mark)
{
	if (from == SECTION_THOUGHT)
		end(&answer.thought);
	if (from == SECTION_CALL || answer.sections.now == SECTION_CALL)
		for (; *mark; mark++)
			put_byte(&answer.answer, *mark);
}

int answer_open(int thoughts, struct why *w)
{
	answer.thoughts = thoughts;
	answer.answer.terminal = isatty(STDOUT_FILENO);
	answer.thought.terminal = isatty(STDERR_FILENO);
	answer.dim = answer.thought.terminal && system_coloured(STDERR_FILENO);
	answer.sections.put = put;
	answer.sections.turn = turn;
	return sections_open(&answer.sections, w);
}

void answer_close(void)
{
	sections_close(&answer.sections);
	bytes_free(&answer.answer.out);
	bytes_free(&answer.answer.space);
	bytes_free(&answer.thought.out);
	bytes_free(&answer.thought.space);
}

void answer_begin(struct opened opened)
{
	sections_begin(&answer.sections, opened);
}

void answer_text(const char *s, size_t n)
{
	sections_feed(&answer.sections, s, n);
	flush(&answer.thought);
	flush(&answer.answer);
}

void answer_end(void)
{
	sections_end(&answer.sections);
	end(&answer.thought);
	end(&answer.answer);
}

int answer_written(struct why *w)
{
	return *answer.lost.text ? why(w, "%s", answer.lost.text) : 0;
}
