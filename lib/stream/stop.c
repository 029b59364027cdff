/* stop: a Knuth-Morris-Pratt automaton for each string. The text held back is its longest suffix that is a prefix of a
 * string. */
#include "stop.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/quote.h"

struct pattern {
	char *s;
	size_t n;
	uint16_t *back;         /* [n + 1]: for the first i bytes, the longest proper suffix that is also a prefix */
	size_t matched;
};

struct stop {
	struct pattern pattern[STOP_STRINGS];
	int n;
	size_t *users;          /* the set and its copies, which share the strings */
	int found;              /* number of the string found, or -1 */
	size_t held;            /* bytes before `text` that have not been passed on: the first `held` of pattern `of` */
	int of;
};

struct stop *stop_open(struct why *w)
{
	struct stop *s = calloc(1, sizeof *s);

	if (!s || !(s->users = malloc(sizeof *s->users))) {
		why(w, "out of memory");
		free(s);
		return NULL;
	}
	*s->users = 1;
	s->found = -1;
	return s;
}

void stop_close(struct stop *s)
{
	if (!s)
		return;
	if (!--*s->users) {
		for (int i = 0; i < s->n; i++) {
			free(s->pattern[i].s);
			free(s->pattern[i].back);
		}
		free(s->users);
	}
	free(s);
}

struct stop *stop_fork(const struct stop *from, struct why *w)
{
	struct stop *s = malloc(sizeof *s);

	if (!s) {
		why(w, "out of memory");
		return NULL;
	}
	*s = *from;
	++*s->users;
	return s;
}

int stop_add(struct stop *s, const char *text, size_t n, struct why *w)
{
	struct pattern *p = &s->pattern[s->n];
	size_t i, k = 0;

	if (!n)
		return why(w, "an empty string");
	if (n > STOP_BYTES)
		return why(w, "longer than %d bytes", STOP_BYTES);
	if (s->n == STOP_STRINGS)
		return why(w, "more than %d of them", STOP_STRINGS);
	p->s = malloc(n);
	p->back = calloc(n + 1, sizeof *p->back);
	if (!p->s || !p->back) {
		free(p->s);
		free(p->back);
		return why(w, "out of memory");
	}
	memcpy(p->s, text, n);
	p->n = n;
	for (i = 1; i < n; i++) {
		while (k && text[i] != text[k])
			k = p->back[k];
		k += text[i] == text[k];
		p->back[i + 1] = (uint16_t)k;
	}
	s->n++;
	return 0;
}

int stop_add_quoted(struct stop *s, const char *text, struct why *w)
{
	char *plain = malloc(strlen(text) + 1);
	int number = plain ? stop_add(s, plain, quote_undo(text, strlen(text), plain), w) : why(w, "out of memory");

	free(plain);
	return number;
}

int stop_add_all(struct stop *s, const struct stop *other, struct why *w)
{
	int failed = 0;

	for (int i = 0; i < other->n && !failed; i++)
		failed = stop_add(s, other->pattern[i].s, other->pattern[i].n, w);
	return failed;
}

const char *stop_string(const struct stop *s, int number, size_t *n)
{
	*n = s->pattern[number].n;
	return s->pattern[number].s;
}

/* Feeds the next byte. Returns 1 if it completes the string. */
static int step(struct pattern *p, char byte)
{
	while (p->matched && (p->matched == p->n || byte != p->s[p->matched]))
		p->matched = p->back[p->matched];
	p->matched += byte == p->s[p->matched];
	return p->matched == p->n;
}

int stop_feed(struct stop *s, const char *text, size_t n, void (*put)(void *context, const char *bytes, size_t n),
	void *context)
{
	size_t i, held, certain;
	int k, of;

	if (s->found >= 0)
		return s->found;
	for (i = 0; i < n && s->found < 0; i++)
		for (k = 0; k < s->n; k++)
			if (step(&s->pattern[k], text[i]) && (s->found < 0 || s->pattern[k].n > s->pattern[s->found].n))
				s->found = k;
	for (held = 0, of = k = 0; k < s->n; k++)
		if (s->pattern[k].matched > held) {
			held = s->pattern[k].matched;
			of = k;
		}
	if (s->found >= 0)
		held = s->pattern[s->found].n;
	/* the text so far is what was held back plus text[0..i]; its last `held` bytes are held back now */
	certain = s->held + i - held;
	if (certain && s->held)
		put(context, s->pattern[s->of].s, certain < s->held ? certain : s->held);
	if (certain > s->held)
		put(context, text, certain - s->held);
	s->held = s->found >= 0 ? 0 : held;
	s->of = of;
	return s->found;
}

void stop_start(struct stop *s)
{
	int k;

	for (k = 0; k < s->n; k++)
		s->pattern[k].matched = 0;
	s->held = 0;
	s->found = -1;
}

void stop_end(struct stop *s, void (*put)(void *context, const char *bytes, size_t n), void *context)
{
	if (s->held)
		put(context, s->pattern[s->of].s, s->held);
	stop_start(s);
}
