/* Marks are found as stop strings are (lib/stream/stop.h), so one may be split between two chunks of text. */
#include "sections.h"

#include <string.h>

#include "lib/base/space.h"
#include "lib/chat/marks.h"

static const char opening[] = "<think>", closing[] = "</think>";

int sections_open(struct sections *s, struct why *w)
{
	if (!(s->marks = stop_open(w)))
		return -1;
	for (const struct mark *m = marks; m->text; m++)
		if (stop_add(s->marks, m->text, strlen(m->text), w) < 0)
			return -1;
	return 0;
}

void sections_close(struct sections *s)
{
	stop_close(s->marks);
	s->marks = NULL;
}

static void turn(struct sections *s, enum section to, const char *mark)
{
	enum section from = s->now;

	s->now = to;
	if (from != to)
		s->turn(s->context, from, mark);
}

/* Nothing follows the header, or it is too long for one: it was part of the answer. */
static void end_header(struct sections *s)
{
	s->in_header = 0;
	if (!s->bodies)
		s->put(s->context, s->header, s->n);
	s->n = 0;
}

/* Begins what the header announces: a call if it has a recipient, reasoning in a channel of that name. */
static void begin_body(struct sections *s)
{
	const char *to;
	char name[SECTIONS_HEADER + 2];
	size_t n;

	s->header[s->n] = 0;
	s->in_header = 0;
	s->bodies++;
	if ((to = strstr(s->header, "to="))) {
		to += 3;
		n = strcspn(to, " ");
		memcpy(name, to, n);
		strcpy(name + n, " ");
		turn(s, SECTION_CALL, name);
	} else if (strstr(s->header, "analysis"))
		turn(s, SECTION_THOUGHT, opening);
	s->n = 0;
}

static void follow(struct sections *s, const struct mark *m)
{
	s->apart |= m->apart;
	switch (m->kind) {
	case MARK_ANSWER: turn(s, SECTION_ANSWER, m->text); break;
	case MARK_THOUGHT: turn(s, SECTION_THOUGHT, m->text); break;
	case MARK_CALL: turn(s, SECTION_CALL, m->text); break;
	case MARK_HEADER:
		turn(s, SECTION_ANSWER, s->now == SECTION_THOUGHT ? closing : "");
		s->in_header = 1;
		break;
	case MARK_BODY: begin_body(s); break;
	}
}

static void put(void *context, const char *text, size_t n)
{
	struct sections *s = context;

	if (s->in_header && n < sizeof s->header - s->n) {
		memcpy(s->header + s->n, text, n);
		s->n += n;
		return;
	}
	if (s->in_header)
		end_header(s);
	s->put(s->context, text, n);
}

static int ends_with(const char *s, size_t n, const char *end)
{
	size_t length = strlen(end);

	return n >= length && !memcmp(s + n - length, end, length);
}

struct opened sections_opened(const char *prompt, size_t n)
{
	struct opened opened = { .header = ends_with(prompt, n, "<|start|>assistant") };

	n = space_trimmed(prompt, n);
	for (const struct mark *m = marks; m->text; m++)
		if (m->kind == MARK_THOUGHT && ends_with(prompt, n, m->text)) {
			opened.section = SECTION_THOUGHT;
			opened.apart = m->apart;
		}
	return opened;
}

void sections_begin(struct sections *s, struct opened opened)
{
	s->now = opened.section;
	s->apart = opened.apart;
	s->in_header = opened.header;
	s->bodies = 0;
	s->n = 0;
}

void sections_feed(struct sections *s, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int found = stop_feed(s->marks, text + i, 1, put, s);

		if (found >= 0) {
			stop_start(s->marks);
			follow(s, &marks[found]);
		}
	}
}

void sections_end(struct sections *s)
{
	stop_end(s->marks, put, s);
	if (s->in_header)
		end_header(s);
	turn(s, SECTION_ANSWER, s->now == SECTION_THOUGHT ? closing : "");
}

/* ---- a whole answer ---- */

struct halves {
	struct sections s;
	struct bytes *said, *thought;
};

static void put_half(void *context, const char *text, size_t n)
{
	struct halves *h = context;

	bytes_put(h->s.now == SECTION_THOUGHT ? h->thought : h->said, text, n);
}

static void turn_half(void *context, enum section from, const char *mark)
{
	struct halves *h = context;

	if (h->s.now == SECTION_CALL)
		bytes_puts(h->said, mark);
}

int sections_split(struct opened opened, const char *text, size_t n, struct bytes *said, struct bytes *thought,
	struct why *w)
{
	struct halves h = { .s = { .put = put_half, .turn = turn_half, .context = &h }, .said = said,
		.thought = thought };

	if (sections_open(&h.s, w)) {
		sections_close(&h.s);
		return -1;
	}
	sections_begin(&h.s, opened);
	sections_feed(&h.s, text, n);
	sections_end(&h.s);
	sections_close(&h.s);
	return said->failed || thought->failed ? why(w, "out of memory") : h.s.apart;
}
