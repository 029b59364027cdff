/* Tokens, and matching them. */
#include "pattern.h"

#include <string.h>

static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int is_place(char c)
{
	return c > 0 && c < PATTERN_PLACES;
}

/* ---- tokens ---- */

/* Length of the tag <...> that s[n] begins with; to the end if it is not closed. 0: none. */
static size_t angle(const char *s, size_t n)
{
	const char *close;
	unsigned char c = n > 1 ? (unsigned char)s[1] : 0;

	if (*s != '<' || !c || !(c >= 0x80 || is_word((char)c) || is_place((char)c) || strchr("/|]!", c)))
		return 0;
	close = memchr(s, '>', n);
	return close ? (size_t)(close - s) + 1 : n;
}

/* The same of [NAME], in capitals. */
static size_t square(const char *s, size_t n)
{
	size_t i = 1;

	if (*s != '[')
		return 0;
	while (i < n && ((s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' || s[i] == '/' || (s[i] == ' ' && i > 1)))
		i++;
	return i > 2 && i < n && s[i] == ']' ? i + 1 : 0;
}

/* How many bytes s[n] has before the next tag if that is one word; 0: something else. */
static size_t word_before_tag(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && is_word(s[i]))
		i++;
	return i && n - i > 1 && s[i] == '<' && (s[i + 1] == '|' || (unsigned char)s[i + 1] >= 0x80) ? i : 0;
}

size_t pattern_token(const char *s, size_t n)
{
	size_t used = angle(s, n), word;

	if (!used)
		used = square(s, n);
	if (!used)
		return 1;
	/* a word between control tokens belongs to them */
	while (*s == '<' && used > 3 && used < n && (s[used - 2] == '|' || (unsigned char)s[used - 2] >= 0x80)
	       && (word = word_before_tag(s + used, n - used)))
		used += word + angle(s + used + word, n - used - word);
	return used;
}

int pattern_is_tag(const char *s, size_t n)
{
	return n > 2 && (*s == '<' || *s == '[');
}

int pattern_is_control(const char *pattern)
{
	size_t n = strlen(pattern), token = n ? pattern_token(pattern, n) : 0;

	if (token < 3 || !pattern_is_tag(pattern, token))
		return 0;
	return *pattern == '[' || pattern[1] == '|' || (unsigned char)pattern[1] >= 0x80 || pattern[token - 2] == '|';
}

size_t pattern_common_start(struct span a, struct span b)
{
	size_t at = 0, token, least = a.n < b.n ? a.n : b.n;

	if (!memcmp(a.s, b.s, least))
		return least;
	while (at < least) {
		token = pattern_token(a.s + at, a.n - at);
		if (token != pattern_token(b.s + at, b.n - at) || memcmp(a.s + at, b.s + at, token))
			break;
		at += token;
	}
	return at;
}

/* Whether a token begins at s + at. */
static int is_boundary(struct span t, size_t at)
{
	size_t i = 0;

	while (i < at)
		i += pattern_token(t.s + i, t.n - i);
	return i == at;
}

size_t pattern_common_end(struct span a, struct span b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.s[a.n - n - 1] == b.s[b.n - n - 1])
		n++;
	while (n && !(is_boundary(a, a.n - n) && is_boundary(b, b.n - n)))
		n--;
	return n;
}

size_t pattern_lead(const char *pattern)
{
	size_t n = 0;

	while (span_is_space(pattern[n]))
		n++;
	return n;
}

const char *pattern_core(const char *pattern)
{
	return pattern + pattern_lead(pattern);
}

long pattern_next_tag(const char *pattern, size_t from)
{
	size_t n = strlen(pattern), token;

	for (size_t i = 0; i < n; i += token) {
		token = pattern_token(pattern + i, n - i);
		if (i >= from && pattern_is_tag(pattern + i, token))
			return (long)i;
	}
	return -1;
}

/* ---- matching ---- */

struct matcher {
	const char *p, *s;      /* what is left of the pattern, and of the text */
	const char *end, *start;
	const char *token, *token_end;  /* the last token of the pattern that a literal byte is of */
	int last;               /* no text follows */
	char before;            /* the byte of the pattern before p */
};

/* White space at the end of a pattern. */
static enum match match_trail(struct matcher *m)
{
	while (*m->p && m->s < m->end && *m->s == *m->p) {
		m->s++;
		m->p++;
	}
	return *m->p && m->s == m->end && !m->last ? MATCH_MORE : MATCH_YES;
}

/* Skips white space of the text; -1: more than there may be. */
static int skip_space(struct matcher *m)
{
	const char *from = m->s;

	while (m->s < m->end && span_is_space(*m->s))
		m->s++;
	return m->s - from > PATTERN_MOST ? -1 : 0;
}

/* White space inside a pattern. MATCH_YES: go on. */
static enum match match_space(struct matcher *m)
{
	const char *from = m->s;

	while (span_is_space(*m->p))
		m->p++;
	if (skip_space(m))
		return MATCH_NO;
	if (m->s == m->end)
		return MATCH_MORE;
	return m->s == from && is_word(m->before) && is_word(*m->p) ? MATCH_NO : MATCH_YES;
}

/* Whether c can be part of what the placeholder stands for, before `next` in the pattern. */
static int belongs(char place, char c, char next)
{
	if (c == next || c == '\n')
		return 0;
	switch (place) {
	case PATTERN_NUMBER: return c >= '0' && c <= '9';
	case PATTERN_REST: return 1;
	default: return !span_is_space(c) && !strchr("<>\"'{}()[]=,", c);
	}
}

static enum match match_same(struct matcher *m, struct span key)
{
	size_t left = (size_t)(m->end - m->s), n = left < key.n ? left : key.n;

	if (memcmp(m->s, key.s, n))
		return MATCH_NO;
	m->s += n;
	return n < key.n ? MATCH_MORE : MATCH_YES;
}

/* PATTERN_REST: up to the literal text that follows it in the pattern. */
static enum match match_rest(struct matcher *m)
{
	size_t n = strlen(m->p), token = n ? pattern_token(m->p, n) : 0;

	for (size_t i = 0; i <= PATTERN_MOST; i++, m->s++) {
		if ((size_t)(m->end - m->s) < token)
			return MATCH_MORE;
		if (!memcmp(m->s, m->p, token))
			return MATCH_YES;
		if (*m->s == '\n')
			return MATCH_NO;
	}
	return MATCH_NO;
}

static enum match match_place(struct matcher *m, struct span key, struct found *f)
{
	char place = *m->p++;
	const char *from = m->s;

	if (place == PATTERN_REST)
		return match_rest(m);
	if (place == PATTERN_KEY && key.s)
		return match_same(m, key);
	if (m->s < m->end && *m->s == '/')      /* a tag that ends something */
		return MATCH_NO;
	while (m->s < m->end && m->s - from < PATTERN_MOST && belongs(place, *m->s, *m->p))
		m->s++;
	f->place[(int)place] = (struct span){ from, (size_t)(m->s - from) };
	if (m->s == m->end && !(m->last && !*m->p && m->s > from))
		return m->s - from < PATTERN_MOST ? MATCH_MORE : MATCH_NO;
	return m->s > from && m->s - from < PATTERN_MOST ? MATCH_YES : MATCH_NO;
}

static enum match match_byte(struct matcher *m)
{
	int inside = m->p < m->token_end;

	if (!inside) {
		m->token = m->p;
		m->token_end = m->p + pattern_token(m->p, strlen(m->p));
	}
	if (!inside && m->s > m->start && !(is_word(m->before) && is_word(*m->p)) && skip_space(m))
		return MATCH_NO;
	if (m->s == m->end)
		return MATCH_MORE;
	if (*m->s != *m->p)
		return MATCH_NO;
	m->s++;
	m->p++;
	return MATCH_YES;
}

enum match pattern_match(const char *pattern, const char *text, size_t n, int end, struct span key, struct found *f)
{
	struct matcher m = { .p = pattern, .s = text, .start = text, .end = text + n, .token = pattern,
		.token_end = pattern, .last = end };
	enum match so_far = MATCH_YES;

	*f = (struct found){ 0 };
	while (*m.p && so_far == MATCH_YES) {
		if (span_is_space(*m.p) && !*pattern_core(m.p)) {
			so_far = match_trail(&m);
			break;
		}
		so_far = span_is_space(*m.p) ? match_space(&m)
			: is_place(*m.p) ? match_place(&m, key, f) : match_byte(&m);
		if (so_far != MATCH_YES)
			break;
		m.before = m.p[-1];
		if (m.p == m.token_end && m.token_end - m.token > 2 && (m.before == '>' || m.before == ']'))
			f->whole = 1;
	}
	f->n = (size_t)(m.s - text);
	return so_far;
}

/* ---- showing ---- */

void pattern_show(const char *pattern, struct bytes *out)
{
	static const char *const names[PATTERN_PLACES] = { [PATTERN_NAME] = "{name}", [PATTERN_ID] = "{id}",
		[PATTERN_KEY] = "{key}", [PATTERN_TYPE] = "{type}", [PATTERN_NUMBER] = "{number}",
		[PATTERN_WORD] = "{word}", [PATTERN_REST] = "{...}" };

	for (; *pattern; pattern++)
		if (is_place(*pattern))
			bytes_puts(out, names[(int)*pattern]);
		else
			bytes_put(out, pattern, 1);
}
