/* pretok: matching the expressions of pretok_table.c. */
#include "pretok.h"

#include <limits.h>
#include <string.h>

#include "unicode.h"

enum {                          /* sets of classes */
	BLANK = 1 << UNICODE_BLANK,
	NEWLINE = 1 << UNICODE_NEWLINE,
	WHITE = BLANK | NEWLINE | 1 << UNICODE_SPACE,
	NUMBER = 1 << UNICODE_NUMBER,
	MARK = 1 << UNICODE_MARK
};

static int in_ranges(const uint32_t *r, uint32_t c)
{
	for (; *r && *r <= c; r += 2)
		if (c <= r[1])
			return 1;
	return 0;
}

/* Expressions with ranges handle white space elsewhere, so it never belongs to a range. */
static int belongs(const struct pretok_step *s, uint32_t c)
{
	unsigned class = 1u << unicode_class(c);

	if (class & s->classes)
		return !s->but || !in_ranges(s->but, c);
	return s->also && !(class & WHITE) && in_ranges(s->also, c);
}

/* The class of the character at p, as a set; *n: its length. */
static unsigned class_at(const unsigned char *p, const unsigned char *end, size_t *n)
{
	return 1u << unicode_class_at(p, end, n);
}

/* The end of the character at p, with p < end, if it is of these classes, or else p. */
static inline const unsigned char *skip_one(unsigned classes, const unsigned char *p, const unsigned char *end)
{
	size_t n;

	if (*p < 0x80)
		return p + (classes >> unicode_byte[*p] & 1);
	return class_at(p, end, &n) & classes ? p + n : p;
}

/* The end of the longest run of characters of these classes. */
static inline const unsigned char *skip(unsigned classes, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start;

	do {
		start = p;
		while (p < end && (classes & ~(1u << UNICODE_LONG)) >> unicode_byte[*p] & 1)
			p++;
		if (p < end && *p >= 0x80)
			p = skip_one(classes, p, end);
		else
			break;
	} while (p > start);
	return p;
}

/* Each of the functions below returns where its match from p ends, or NULL. */

/* Matches most steps. */
static inline const unsigned char *some(const struct pretok_step *s, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *after = s->op == PRETOK_CLASSES ? skip(s->classes, p, end)
		: p < end ? skip_one(s->classes, p, end) : p;

	return after > p || !s->least ? after : NULL;
}

static const unsigned char *run(const struct pretok_step *s, const unsigned char *p, const unsigned char *end)
{
	size_t most = s->most ? s->most : SIZE_MAX, count = 0, n;

	for (; p < end && count < most && belongs(s, unicode_next(p, end, &n)); p += n)
		count++;
	return count >= s->least ? p : NULL;
}

static const unsigned char *contraction(const unsigned char *p, const unsigned char *end, int any_case)
{
	unsigned char a, b;

	if (end - p < 2 || *p != '\'')
		return NULL;
	a = p[1] | (any_case && p[1] < 0x80 ? 0x20 : 0);
	if (a == 's' || a == 't' || a == 'm' || a == 'd')
		return p + 2;
	if (end - p < 3)
		return NULL;
	b = p[2] | (any_case && p[2] < 0x80 ? 0x20 : 0);
	return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? p + 3 : NULL;
}

/* White space that ends with line ends. */
static const unsigned char *lines(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *after = NULL;
	unsigned class;
	size_t n;

	for (; p < end && (class = class_at(p, end, &n)) & WHITE; p += n)
		if (class & NEWLINE)
			after = p + n;
	return after;
}

/* A run of white space: all of it at the end of the text; otherwise without its last character, unless that is the only
 * one. */
static const unsigned char *spaces(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p, *last = p;
	size_t n;

	for (; p < end && class_at(p, end, &n) & WHITE; p += n)
		last = p;
	if (p == start)
		return NULL;
	return p < end && last > start ? last : p;
}

/* Skips the 26 ASCII letters that begin at `first` ('A' or 'a') and non-ASCII characters of these classes; returns the
 * end of that run. *beyond becomes the end of its last non-ASCII character, if it has one. */
static inline const unsigned char *skip_case(unsigned char first, unsigned classes, const unsigned char *p,
	const unsigned char *end, const unsigned char **beyond)
{
	const unsigned char *start;

	do {
		while (p < end && (unsigned char)(*p - first) < 26)
			p++;
		start = p;
		if (p < end && *p >= 0x80)
			p = skip_one(classes, p, end);
		if (p > start)
			*beyond = p;
	} while (p > start);
	return p;
}

/* Capitals, then small letters: at least one small letter, or at least one capital. As in llama.cpp, only A-Z and a-z
 * have a case. Other characters are taken for either: if no small letter follows the capitals, PRETOK_SMALL ends after
 * the last such character among them. */
static const unsigned char *cased(const struct pretok_step *s, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *caseless = NULL, *small, *after, *ignored;

	if (p == end || skip_one(s->classes, p, end) == p)
		return NULL;
	small = skip_case('A', s->classes, p, end, &caseless);
	after = skip_case('a', s->classes, small, end, &ignored);
	if (s->op == PRETOK_CAPITAL)
		return small > p ? after : NULL;
	return after > small ? after : caseless;
}

/* Letters with their marks, and single blanks between them. */
static const unsigned char *phrase(const struct pretok_step *s, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *after = NULL;
	size_t n;

	while (p < end && class_at(p, end, &n) & s->classes) {
		p = after = skip(MARK, p + n, end);
		if (p < end && *p == ' ')
			p++;
	}
	return after;
}

static const unsigned char *text(const uint32_t *characters, const unsigned char *p, const unsigned char *end)
{
	size_t n;

	for (; *characters; characters++, p += n)
		if (p == end || unicode_next(p, end, &n) != *characters)
			return NULL;
	return p;
}

/* not inline, because the common steps are faster without this code next to them */
__attribute__((noinline))
static const unsigned char *step(const struct pretok_step *s, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *after = NULL;

	switch (s->op) {
	case PRETOK_RUN:
		return run(s, p, end);
	case PRETOK_CONTRACTION:
	case PRETOK_CONTRACTION_ANY:
		after = contraction(p, end, s->op == PRETOK_CONTRACTION_ANY);
		break;
	case PRETOK_LINES:
		after = lines(p, end);
		break;
	case PRETOK_SPACES:
		after = spaces(p, end);
		break;
	case PRETOK_SMALL:
	case PRETOK_CAPITAL:
		after = cased(s, p, end);
		break;
	case PRETOK_PHRASE:
		after = phrase(s, p, end);
		break;
	case PRETOK_TEXT:
		after = text(s->also, p, end);
		break;
	default:                        /* an expression of its own: see piece_end() */
		break;
	}
	return after || s->least ? after : p;
}

/* The classes of characters that an alternative can start with, which rule out most attempts at once. */
static unsigned starts(const struct pretok_step *s)
{
	unsigned classes = 0;

	do {
		if (!s->classes || s->also)
			return UINT_MAX;
		classes |= s->classes;
	} while (!s++->least);
	return classes;
}

/* The end of the first alternative of expression k that matches at p, or NULL. */
static const unsigned char *match(const struct pretok_walk *walk, size_t k, const unsigned char *p,
	const unsigned char *end)
{
	const pretok_alternative *e = walk->p->list[k];
	const unsigned char *q;
	size_t n;

	for (unsigned may = walk->may[k][unicode_class_at(p, end, &n)]; may; may >>= 1, e++) {
		if (!(may & 1))
			continue;
		q = p;
		for (const struct pretok_step *s = *e; q && s->op; s++)
			q = s->op == PRETOK_CLASS || s->op == PRETOK_CLASSES ? some(s, q, end) : step(s, q, end);
		if (q && q > p)
			return q;
	}
	return NULL;
}

/* The first match at or after p, or the end. */
static const unsigned char *search(const struct pretok_walk *walk, size_t k, const unsigned char *p,
	const unsigned char *end)
{
	for (size_t n; p < end; p += n)
		if (walk->may[k][unicode_class_at(p, end, &n)] && match(walk, k, p, end))
			break;
	return p;
}

/* ---- expressions of their own: the end of the piece that starts at p ---- */

/* Divides where the white space at the end of the piece begins. */
static const unsigned char *last_spaces(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p, *q = p;

	while ((q = skip(WHITE, q, end)) < end)
		start = q = skip(~(unsigned)WHITE, q, end);
	return start > p ? start : end;
}

/* The end of at most `most` characters of these classes from p; *count: their number. */
static const unsigned char *skip_some(unsigned classes, size_t most, const unsigned char *p, const unsigned char *end,
	size_t *count)
{
	size_t n;

	for (*count = 0; *count < most && p < end && class_at(p, end, &n) & classes; p += n)
		++*count;
	return p;
}

/* Other pieces than runs of white space have one white character at most, or end with a line. */
static const unsigned char *powers(const unsigned char *p, const unsigned char *end)
{
	size_t count, power = 1;

	skip_some(WHITE, 512, p, end, &count);
	if (count < 2 || end[-1] == '\n' || end[-1] == '\r')
		return end;
	while (2 * power <= count)
		power *= 2;
	return skip_some(WHITE, power, p, end, &count);
}

/* Whether the character before p is a number. */
static int after_number(const unsigned char *start, const unsigned char *p)
{
	const unsigned char *q = p;
	size_t n;

	while (q > start && p - q < 4 && (*--q & 0xc0) == 0x80)
		;
	return q < p && class_at(q, p, &n) & NUMBER && q + n == p;
}

/* A long run is counted once: wherever it was divided, a multiple of three numbers follows. start: of the text. */
static const unsigned char *numbers(const unsigned char *start, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *run = skip(~(unsigned)NUMBER, p, end);
	size_t count = 3;

	if (run > p || !after_number(start, p))
		skip_some(NUMBER, SIZE_MAX, run, end, &count);
	return skip_some(NUMBER, count % 3 ? count % 3 : 3, run, end, &count);
}

static size_t count_digits(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return (size_t)(p - start);
}

/* The same for digits. Nothing is divided after a run, and in front of it only where its length is a multiple of
 * three. */
static const unsigned char *digits(const unsigned char *start, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *q = p;
	size_t count;

	if (p > start && count_digits(p, end - p > 4 ? p + 4 : end) > 3)
		return p + 3;
	if (p > start)
		q += count_digits(p, end);
	for (; q < end; q += count) {
		count = count_digits(q, end);
		if (count >= 3 && q + count % 3 > p)
			return q + count % 3;
		if (count > 3)
			return q + 3;
		count += !count;
	}
	return end;
}

/* Where the piece of expression k at p ends: a match, or else what lies before the next match. */
static const unsigned char *piece_end(const struct pretok_walk *walk, size_t k, const unsigned char *p)
{
	const unsigned char *start = walk->start[k], *end = walk->end[k], *q;

	switch ((*walk->p->list[k])->op) {
	case PRETOK_LAST_SPACES:
		return last_spaces(p, end);
	case PRETOK_POWERS:
		return powers(p, end);
	case PRETOK_NUMBERS:
		return numbers(start, p, end);
	case PRETOK_DIGITS:
		return digits(start, p, end);
	default:
		q = match(walk, k, p, end);
		return q ? q : search(walk, k, p, end);
	}
}

static void use(struct pretok_walk *walk, const struct pretok *p)
{
	memset(walk, 0, sizeof *walk);
	walk->p = p;
	for (; walk->depth < PRETOK_DEPTH && p->list[walk->depth]; walk->depth++)
		for (unsigned a = 0; p->list[walk->depth][a]; a++)
			for (unsigned class = 0; class < PRETOK_KINDS; class++)
				if (starts(p->list[walk->depth][a]) >> class & 1)
					walk->may[walk->depth][class] |= (unsigned char)(1 << a);
}

void pretok_start(struct pretok_walk *walk, const struct pretok *p, const char *text, size_t n)
{
	if (walk->p != p)
		use(walk, p);
	walk->at = walk->start[0] = (const unsigned char *)text;
	for (size_t k = 0; k < walk->depth; k++)
		walk->end[k] = walk->at;
	walk->end[0] = walk->at + n;
}

int pretok_next(struct pretok_walk *walk, const char **word, size_t *n)
{
	size_t k = walk->depth;
	const unsigned char *end;

	/* a shortcut for most pre-tokenizers, which have a single expression whose match is the word */
	if (k == 1 && walk->at < walk->end[0] && (end = match(walk, 0, walk->at, walk->end[0]))) {
		*word = (const char *)walk->at;
		*n = (size_t)(end - walk->at);
		walk->at = end;
		return 1;
	}
	/* Go on in the innermost piece that is not used up, with its expression and all that follow. */
	while (k > 0 && walk->end[k - 1] == walk->at)
		k--;
	if (!k)
		return 0;
	for (; k <= walk->depth; k++) {
		walk->start[k] = walk->at;
		walk->end[k] = piece_end(walk, k - 1, walk->at);
	}
	*word = (const char *)walk->at;
	*n = (size_t)(walk->end[walk->depth] - walk->at);
	walk->at = walk->end[walk->depth];
	return 1;
}
