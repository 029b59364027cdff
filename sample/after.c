/* The texts are short and few, so they are compared byte by byte wherever one might end. */
#include "after.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/quote.h"
#include "lib/base/size.h"

int after_add(struct after *a, const char *s, size_t n, struct why *w)
{
	char *text;

	if (!n || n > AFTER_BYTES || a->n == AFTER_TEXTS)
		return !n ? why(w, "an empty text") : n > AFTER_BYTES ? why(w, "longer than %d bytes", AFTER_BYTES)
			: why(w, "more than %d of them", AFTER_TEXTS);
	if (!(text = malloc(n)))
		return why(w, "out of memory");
	memcpy(text, s, n);
	a->text[a->n] = text;
	a->bytes[a->n++] = n;
	a->longest = size_max(a->longest, n);
	return 0;
}

int after_add_all(struct after *a, const struct after *other, struct why *w)
{
	int failed = 0;

	for (size_t i = 0; i < other->n && !failed; i++)
		failed = after_add(a, other->text[i], other->bytes[i], w);
	return failed;
}

int after_add_quoted(struct after *a, const char *quoted, size_t n, struct why *w)
{
	char *text = malloc(n + 1);
	int failed;

	if (!text)
		return why(w, "out of memory");
	failed = after_add(a, text, quote_undo(quoted, n, text), w);
	free(text);
	return failed;
}

int after_read(struct after *a, const char *grammar, size_t n, struct why *w)
{
	static const char mark[] = "# after: ";
	const size_t length = sizeof mark - 1;
	const char *end = grammar + n, *next;

	for (; grammar < end && *grammar == '#'; grammar = next) {
		const char *line = memchr(grammar, '\n', (size_t)(end - grammar));
		size_t bytes = (size_t)((line ? line : end) - grammar);

		next = line ? line + 1 : end;
		bytes -= bytes && grammar[bytes - 1] == '\r';
		if (bytes >= length && !memcmp(grammar, mark, length)
		    && after_add_quoted(a, grammar + length, bytes - length, w))
			return why_in(w, "# after");
	}
	return 0;
}

void after_free(struct after *a)
{
	while (a->n)
		free(a->text[--a->n]);
}

/* Whether a text ends with this: its last bytes are s[n], those before them in the tail. */
static int ends_here(const char *text, size_t bytes, const struct tail *tail, const char *s, size_t n)
{
	size_t before = bytes > n ? bytes - n : 0;

	return before <= tail->n && !memcmp(text, tail->at + tail->n - before, before)
		&& !memcmp(text + before, s + n - (bytes - before), bytes - before);
}

size_t after_find(const struct after *a, const struct tail *tail, const char *s, size_t n, size_t *length)
{
	for (size_t end = 1; end <= n; end++)
		for (size_t i = 0; i < a->n; i++)
			if (ends_here(a->text[i], a->bytes[i], tail, s, end)) {
				*length = a->bytes[i];
				return end;
			}
	return 0;
}

void after_pass(const struct after *a, struct tail *tail, const char *s, size_t n)
{
	size_t keep = a->longest - 1, old;

	if (n > keep) {
		s += n - keep;
		n = keep;
	}
	old = size_min(tail->n, keep - n);
	memmove(tail->at, tail->at + tail->n - old, old);
	memcpy(tail->at + old, s, n);
	tail->n = old + n;
}

int after_may_cut(const struct after *a, const char *s, size_t n)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t end = 1; end < n; end++) {
			size_t m = size_min(end, a->bytes[i]);

			if (!memcmp(a->text[i] + a->bytes[i] - m, s + end - m, m))
				return 1;
		}
	return 0;
}
