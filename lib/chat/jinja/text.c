/* Text as Python's str sees it: code points, white space, letters and their cases. */
#include "priv.h"

#include "lib/base/utf8.h"

#include <string.h>

bool text_is_space(int32_t c)
{
	if (c < 0x80)
		return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20);
	return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
		c == 0x205f || c == 0x3000;
}

size_t text_spaces(const char *s, size_t n)
{
	size_t at = 0;
	unsigned used;

	while (at < n && text_is_space(utf8_next(s + at, n - at, &used)))
		at += used;
	return at;
}

/* Where the code point that ends at s[n] begins. */
static size_t step_back(const char *s, size_t n)
{
	size_t at = n - 1;
	unsigned used;

	while (at && n - at < 4 && ((unsigned char)s[at] & 0xc0) == 0x80)
		at--;
	utf8_next(s + at, n - at, &used);
	return at + used == n ? at : n - 1;
}

size_t text_trimmed(const char *s, size_t n)
{
	unsigned used;

	while (n) {
		size_t at = step_back(s, n);

		if (!text_is_space(utf8_next(s + at, n - at, &used)))
			break;
		n = at;
	}
	return n;
}

size_t text_length(const char *s, size_t n)
{
	size_t count = 0;
	unsigned used;

	for (size_t at = 0; at < n; at += used, count++)
		utf8_next(s + at, n - at, &used);
	return count;
}

size_t text_offset(const char *s, size_t n, int64_t i)
{
	size_t at = 0;
	unsigned used;

	for (; i > 0 && at < n; at += used, i--)
		utf8_next(s + at, n - at, &used);
	return at;
}

/* Lower-case letters low..high, whose capitals lie `up` away; up 0: capital and small alternate and the small one is odd (1) or even (2). */
static const struct cased {
	int32_t low, high, up;
	int odd;
} cased[] = {
	{ 'a', 'z', -32, 0 }, { 0xb5, 0xb5, 743, 0 }, { 0xe0, 0xf6, -32, 0 }, { 0xf8, 0xfe, -32, 0 }, { 0xff, 0xff, 121, 0 },
	{ 0x100, 0x12f, 0, 1 }, { 0x132, 0x137, 0, 1 }, { 0x139, 0x148, 0, 2 }, { 0x14a, 0x177, 0, 1 }, { 0x179, 0x17e, 0, 2 },
	{ 0x1cd, 0x1dc, 0, 2 }, { 0x1de, 0x1ef, 0, 1 }, { 0x1f8, 0x21f, 0, 1 }, { 0x222, 0x233, 0, 1 },
	{ 0x3ac, 0x3ac, -38, 0 }, { 0x3ad, 0x3af, -37, 0 }, { 0x3b1, 0x3c1, -32, 0 }, { 0x3c3, 0x3cb, -32, 0 }, { 0x3c2, 0x3c2, -31, 0 },
	{ 0x3cc, 0x3cc, -64, 0 }, { 0x3cd, 0x3ce, -63, 0 }, { 0x430, 0x44f, -32, 0 }, { 0x450, 0x45f, -80, 0 }, { 0x460, 0x481, 0, 1 },
	{ 0x48a, 0x4bf, 0, 1 }, { 0x4c1, 0x4ce, 0, 2 }, { 0x4d0, 0x52f, 0, 1 }, { 0x561, 0x586, -48, 0 }, { 0x1e00, 0x1e95, 0, 1 },
	{ 0x1ea0, 0x1eff, 0, 1 }, { 0x2170, 0x217f, -16, 0 }, { 0x24d0, 0x24e9, -26, 0 }, { 0xff41, 0xff5a, -32, 0 },
	{ 0x10428, 0x1044f, -40, 0 },
};

static const struct cased *const cased_end = cased + sizeof cased / sizeof *cased;

int32_t text_upper(int32_t c)
{
	for (const struct cased *t = cased; t < cased_end; t++)
		if (c >= t->low && c <= t->high)
			return t->up ? c + t->up : (c & 1) == (t->odd & 1) ? c - 1 : c;
	return c == 0x131 ? 'I' : c;
}

int32_t text_lower(int32_t c)
{
	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	for (const struct cased *t = cased; t < cased_end; t++) {
		if (!t->up && c >= t->low && c <= t->high)
			return (c & 1) == (t->odd & 1) ? c : c + 1;
		if (t->up && c >= t->low + t->up && c <= t->high + t->up && c - t->up != 0xb5 && c - t->up != 0x3c2)
			return c - t->up;
	}
	return c;
}

/* An approximation past ASCII: everything but the blocks of signs, punctuation and digits in common use. */
bool text_is_letter(int32_t c)
{
	static const int32_t others[][2] = {
		{ -1, '@' }, { '[', '`' }, { '{', 0xa9 }, { 0xab, 0xb4 }, { 0xb6, 0xb9 }, { 0xbb, 0xbf }, { 0xd7, 0xd7 }, { 0xf7, 0xf7 },
		{ 0x2c2, 0x2c5 }, { 0x2d2, 0x2df }, { 0x300, 0x36f }, { 0x483, 0x489 }, { 0x660, 0x66d }, { 0x6f0, 0x6f9 }, { 0x966, 0x970 },
		{ 0x2000, 0x2070 }, { 0x2072, 0x207e }, { 0x2080, 0x208f }, { 0x20a0, 0x20ff }, { 0x2190, 0x2bff }, { 0x2e00, 0x2fff },
		{ 0x3000, 0x3004 }, { 0x3007, 0x3030 }, { 0x30fb, 0x30fb }, { 0xd800, 0xf8ff }, { 0xfe00, 0xfe6f }, { 0xfeff, 0xff20 },
		{ 0xff3b, 0xff40 }, { 0xff5b, 0xff65 }, { 0xfff0, 0xffff }, { 0x1f000, 0x1faff }, { 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (c >= others[i][0] && c <= others[i][1])
			return false;
	return true;
}

const char *text_find(const char *s, size_t n, const char *what, size_t what_n)
{
	const char *end = s + n;

	if (!what_n)
		return s;
	while ((size_t)(end - s) >= what_n && (s = memchr(s, *what, (size_t)(end - s) - what_n + 1))) {
		if (!memcmp(s, what, what_n))
			return s;
		s++;
	}
	return NULL;
}

/* Does the code point that s[n] begins with go? In *used, its bytes. */
static bool strips(struct jv chars, const char *s, size_t n, unsigned *used)
{
	int32_t c = utf8_next(s, n, used);

	return chars.kind == JV_STR ? text_find(chars.s, chars.n, s, *used) != NULL : text_is_space(c);
}

struct jv text_strip(struct env *e, struct jv s, struct jv chars, int sides)
{
	uint32_t before = s.n;
	unsigned used;

	while (sides & 1 && s.n && strips(chars, s.s, s.n, &used)) {
		s.s += used;
		s.n -= used;
	}
	while (sides & 2 && s.n) {
		size_t at = step_back(s.s, s.n);

		if (!strips(chars, s.s + at, s.n - at, &used))
			break;
		s.n = (uint32_t)at;
	}
	return jinja_tick(e, (uint64_t)(before - s.n) / 2 * (chars.kind == JV_STR ? 1 + chars.n / 32 : 1)) ? jv_error() : s;
}

/* An empty `old` stands before every code point and at the end. */
static void replace_empty(struct bytes *b, struct jv s, struct jv new, int64_t count)
{
	unsigned used = 0;

	for (uint32_t at = 0; at <= s.n && !b->failed; at += used) {
		if (count) {
			bytes_put(b, new.s, new.n);
			count--;
		}
		if (at == s.n)
			return;
		utf8_next(s.s + at, s.n - at, &used);
		bytes_put(b, s.s + at, used);
	}
}

struct jv text_replace(struct env *e, struct jv s, struct jv old, struct jv new, int64_t count)
{
	struct bytes b = jinja_buffer(e);
	const char *at = s.s, *end = s.s + s.n, *hit;
	struct jv out;

	if (text_find_cost(e, s.n, old.n) || !text_find(s.s, s.n, old.s, old.n) || !count)
		return e->failed ? jv_error() : s;
	if (!old.n) {
		replace_empty(&b, s, new, count);
	} else {
		for (; count && (hit = text_find(at, (size_t)(end - at), old.s, old.n)) && !b.failed; count--) {
			bytes_put(&b, at, (size_t)(hit - at));
			bytes_put(&b, new.s, new.n);
			at = hit + old.n;
		}
		bytes_put(&b, at, (size_t)(end - at));
	}
	out = jv_take(e, &b);
	out.markup = s.markup;
	return out;
}

int text_find_cost(struct env *e, size_t n, size_t what_n)
{
	return jinja_tick(e, n / 4 + (uint64_t)n * what_n / 256);
}

static bool ends_line(int32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

struct jv text_split_lines(struct env *e, struct jv s, bool keep_ends)
{
	struct jv lines = jv_list(e, JV_LIST, 0), line;
	uint32_t start = 0, at = 0;

	if (lines.kind == JV_ERROR || jinja_tick(e, s.n / 8))
		return jv_error();
	while (at < s.n) {
		unsigned used;
		int32_t c = utf8_next(s.s + at, s.n - at, &used);
		uint32_t end = at;

		at += used;
		if (!ends_line(c))
			continue;
		if (c == '\r' && at < s.n && s.s[at] == '\n')
			at++;
		line = jv_str(s.s + start, (keep_ends ? at : end) - start);
		line.markup = s.markup;
		if (jv_push(e, lines.list, line))
			return jv_error();
		start = at;
	}
	if (start < s.n) {
		line = jv_str(s.s + start, s.n - start);
		line.markup = s.markup;
		if (jv_push(e, lines.list, line))
			return jv_error();
	}
	return lines;
}

static int32_t cased_as(int32_t c, enum text_case to, bool first)
{
	switch (to) {
	case TEXT_UPPER:
		return text_upper(c);
	case TEXT_LOWER:
		return text_lower(c);
	case TEXT_CAPITAL:
	case TEXT_TITLE:
		return first ? text_upper(c) : text_lower(c);
	case TEXT_FOLD:
		return c == 0x17f ? 's' : c == 0x3c2 ? 0x3c3 : c == 0xb5 ? 0x3bc : text_lower(c);
	case TEXT_SWAP:
		return text_upper(c) != c ? text_upper(c) : text_lower(c);
	}
	return c;
}

struct jv text_recase(struct env *e, struct jv s, enum text_case to)
{
	struct bytes b = jinja_buffer(e);
	bool first = true;
	unsigned used;
	struct jv out;

	if (jinja_tick(e, s.n))
		return jv_error();
	for (uint32_t at = 0; at < s.n; at += used) {
		int32_t c = utf8_next(s.s + at, s.n - at, &used);
		char piece[4];

		if (c == 0xdf && cased_as('s', to, first) == 'S')
			bytes_puts(&b, to == TEXT_UPPER || to == TEXT_SWAP ? "SS" : "Ss");
		else if ((c == 0xdf || c == 0x1e9e) && to == TEXT_FOLD)
			bytes_puts(&b, "ss");
		else if (c < 0)
			bytes_put(&b, s.s + at, used);
		else
			bytes_put(&b, piece, utf8_put(piece, cased_as(c, to, first)));
		first = to == TEXT_TITLE && !text_is_letter(c);
	}
	out = jv_take(e, &b);
	out.markup = s.markup;
	return out;
}

struct jv text_escape(struct env *e, struct jv v)
{
	static const char special[] = "&<>'\"";
	static const char *const spelt[] = { "&amp;", "&lt;", "&gt;", "&#39;", "&#34;" };
	struct bytes b = jinja_buffer(e);
	struct jv s;

	if (v.kind == JV_STR && v.markup)
		return v;
	s = jv_to_str(e, v);
	if (s.kind == JV_ERROR || jinja_tick(e, s.n / 3))
		return jv_error();
	for (uint32_t i = 0; i < s.n; i++) {
		const char *hit = s.s[i] ? strchr(special, s.s[i]) : NULL;

		if (hit)
			bytes_puts(&b, spelt[hit - special]);
		else
			bytes_put(&b, s.s + i, 1);
	}
	s = jv_take(e, &b);
	s.markup = s.kind == JV_STR;
	return s;
}
