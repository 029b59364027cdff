/* Changes to a text, and places in it. */
#include "typed.h"

#include <string.h>

#include "lib/base/size.h"
#include "lib/base/space.h"
#include "width.h"

void typed_free(struct typed *t)
{
	bytes_free(&t->text);
	bytes_free(&t->killed);
}

void typed_replace(struct typed *t, size_t from, size_t to, const char *s, size_t n)
{
	struct bytes *b = &t->text;
	size_t tail = b->n - to;

	if (n > to - from && bytes_reserve(b, n - (to - from))) {
		b->failed = 0;
		return;
	}
	if (tail)
		memmove(b->p + from + n, b->p + to, tail);
	if (n)
		memcpy(b->p + from, s, n);
	b->n = from + n + tail;
	t->at = from + n;
}

void typed_insert(struct typed *t, const char *s, size_t n)
{
	typed_replace(t, t->at, t->at, s, n);
}

void typed_set(struct typed *t, const char *s, size_t n)
{
	typed_replace(t, 0, t->text.n, s, n);
}

size_t typed_left(const struct typed *t, size_t at)
{
	return at ? width_back(t->text.p, at) : 0;
}

size_t typed_right(const struct typed *t, size_t at)
{
	int columns;

	if (at == t->text.n)
		return at;
	return at + (t->text.p[at] == '\n' ? 1 : width_next(t->text.p + at, t->text.n - at, &columns));
}

size_t typed_line_start(const struct typed *t, size_t at)
{
	while (at && t->text.p[at - 1] != '\n')
		at--;
	return at;
}

size_t typed_line_end(const struct typed *t, size_t at)
{
	while (at < t->text.n && t->text.p[at] != '\n')
		at++;
	return at;
}

/* Letters, digits and everything past ASCII. */
static int in_word(const struct typed *t, size_t at)
{
	unsigned char c = (unsigned char)t->text.p[at];

	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

size_t typed_word_right(const struct typed *t, size_t at)
{
	while (at < t->text.n && !in_word(t, at))
		at++;
	while (at < t->text.n && in_word(t, at))
		at++;
	return at;
}

size_t typed_word_left(const struct typed *t, size_t at)
{
	while (at && !in_word(t, at - 1))
		at--;
	while (at && in_word(t, at - 1))
		at--;
	return at;
}

size_t typed_space_left(const struct typed *t, size_t at)
{
	while (at && space_ascii(t->text.p[at - 1]))
		at--;
	while (at && !space_ascii(t->text.p[at - 1]))
		at--;
	return at;
}

/* Moves the cursor `column` bytes into the line from `from` to `to`, or to its end; not inside a character. */
static void go_to(struct typed *t, size_t from, size_t to, size_t column)
{
	t->at = size_min(from + column, to);
	while (t->at > from && t->at < t->text.n && ((unsigned char)t->text.p[t->at] & 0xc0) == 0x80)
		t->at--;
}

int typed_up(struct typed *t)
{
	size_t start = typed_line_start(t, t->at);

	if (start)
		go_to(t, typed_line_start(t, start - 1), start - 1, t->at - start);
	return start > 0;
}

int typed_down(struct typed *t)
{
	size_t end = typed_line_end(t, t->at), next = end + 1;

	if (end == t->text.n)
		return 0;
	go_to(t, next, typed_line_end(t, next), t->at - typed_line_start(t, t->at));
	return 1;
}

void typed_kill(struct typed *t, size_t from, size_t to, int more)
{
	struct bytes all = { .limit = t->text.limit };
	int before = from < t->at;

	if (!more)
		t->killed.n = 0;
	if (before)
		bytes_put(&all, t->text.p + from, to - from);
	bytes_put(&all, t->killed.p, t->killed.n);
	if (!before)
		bytes_put(&all, t->text.p + from, to - from);
	bytes_free(&t->killed);
	t->killed = all;
	typed_replace(t, from, to, "", 0);
}

void typed_transpose(struct typed *t)
{
	size_t right = typed_right(t, t->at), middle = right > t->at ? t->at : typed_left(t, t->at);
	size_t left = typed_left(t, middle);
	struct bytes swapped = { .limit = t->text.limit };

	if (left == middle || right == middle || t->text.p[left] == '\n' || t->text.p[middle] == '\n')
		return;
	if (!bytes_put(&swapped, t->text.p + middle, right - middle)
	    && !bytes_put(&swapped, t->text.p + left, middle - left))
		typed_replace(t, left, right, swapped.p, swapped.n);
	bytes_free(&swapped);
}
