/* Reads patterns. What is not known is an error that names it. */
#include "regex_reading.h"

#include "lib/grammar/grammar.h"

static struct regex *make(struct regex_reading *x, enum regex_kind kind)
{
	struct regex *r = arena_array(&x->c->arena, 1, sizeof *r);

	if (!r)
		schema_no_memory(x->c);
	else
		r->kind = kind;
	return r;
}

static struct regex *set(struct regex_reading *x)
{
	struct regex *r = make(x, REGEX_SET);
	struct points points = { 0 };

	regex_read_set(x, &points);
	if (r)
		r->set = points;
	return r;
}

static struct regex *choice(struct regex_reading *x);

/* Reads "(", "(?:", "(?<name>", "(?=" and its like, and the rest of the group. */
static struct regex *group(struct regex_reading *x)
{
	const char *close = memchr(x->at, '>', (size_t)(x->end - x->at));
	struct regex *look = NULL, *out;

	if (regex_begins(x, "(?=") || regex_begins(x, "(?!") || regex_begins(x, "(?<=") || regex_begins(x, "(?<!")) {
		look = make(x, REGEX_LOOK);
		if (!look)
			return NULL;
		look->behind = x->at[2] == '<';
		x->at += 2 + look->behind;
		look->not = *x->at++ == '!';
	} else if (regex_begins(x, "(?:")) {
		x->at += 3;
	} else if (regex_begins(x, "(?<") && close) {
		x->at = close + 1;
	} else {
		if (regex_begins(x, "(?"))
			regex_refuse(x, "a group may begin with (?:, (?=, (?!, (?<=, (?<! or (?<name>");
		x->at++;
	}
	if (++x->depth > GRAMMAR_DEPTH / 4)
		regex_refuse(x, "groups are nested too deeply");
	out = x->c->failed ? NULL : choice(x);
	x->depth--;
	if (!x->c->failed && regex_peek(x) != ')')
		regex_refuse(x, "a group that is not closed");
	x->at++;
	if (!look)
		return out;
	look->child = out;
	return look;
}

/* Reads a number. -1: there is none, or it is too large. */
static int64_t number(struct regex_reading *x)
{
	const char *from = x->at;
	int64_t v = 0;

	for (; regex_peek(x) >= '0' && regex_peek(x) <= '9'; x->at++)
		v = v > GRAMMAR_REPEAT ? v : v * 10 + (*x->at - '0');
	return x->at == from || v > GRAMMAR_REPEAT ? -1 : v;
}

/* Reads {n}, {n,} or {n,m}, from the opening brace up to the closing one. */
static void braces(struct regex_reading *x, uint32_t *low, uint32_t *high)
{
	int64_t from, to;

	x->at++;
	from = to = number(x);
	if (from >= 0 && regex_peek(x) == ',') {
		x->at++;
		to = regex_peek(x) == '}' ? GBNF_FOREVER : number(x);
	}
	*low = (uint32_t)from;
	*high = (uint32_t)to;
	if (regex_peek(x) != '}' || from < 0 || to < from)
		regex_refuse(x, "a repetition is {n}, {n,} or {n,m}, of no more than 1000000000");
}

static int is_quantifier(int c)
{
	return c == '*' || c == '+' || c == '?' || c == '{';
}

/* r with its repetition, if there is one. */
static struct regex *repeated(struct regex_reading *x, struct regex *r)
{
	struct regex *out;

	if (x->c->failed || !is_quantifier(regex_peek(x)) || !(out = make(x, REGEX_REPEAT)))
		return r;
	out->child = r;
	out->low = regex_peek(x) == '+';
	out->high = regex_peek(x) == '?' ? 1 : GBNF_FOREVER;
	if (regex_peek(x) == '{')
		braces(x, &out->low, &out->high);
	x->at++;
	if (regex_peek(x) == '?')             /* as few as possible: the same strings */
		x->at++;
	if (is_quantifier(regex_peek(x)))
		regex_refuse(x, "a repetition of a repetition");
	return out;
}

/* An assertion, or a character, a class or a group with its repetition. */
static struct regex *element(struct regex_reading *x)
{
	struct regex *r;

	if (regex_peek(x) == '^' || regex_peek(x) == '$')
		return make(x, *x->at++ == '^' ? REGEX_BEGIN : REGEX_END);
	if (regex_begins(x, "\\b") || regex_begins(x, "\\B")) {
		r = make(x, REGEX_BORDER);
		if (r)
			r->not = x->at[1] == 'B';
		x->at += 2;
		return r;
	}
	if (is_quantifier(regex_peek(x)))
		regex_refuse(x, "a repetition with nothing before it");
	return x->c->failed ? NULL : repeated(x, regex_peek(x) == '(' ? group(x) : set(x));
}

/* Up to the end, a '|' or a ')'. */
static struct regex *sequence(struct regex_reading *x)
{
	struct regex *out = make(x, REGEX_SEQUENCE), **last = out ? &out->child : NULL;

	while (!x->c->failed && regex_peek(x) >= 0 && regex_peek(x) != '|' && regex_peek(x) != ')')
		if ((*last = element(x)))
			last = &(*last)->next;
	return out;
}

static struct regex *choice(struct regex_reading *x)
{
	struct regex *out = make(x, REGEX_CHOICE), **last;

	if (!out || !(out->child = sequence(x)))
		return NULL;
	for (last = &out->child->next; !x->c->failed && regex_peek(x) == '|'; last = &(*last)->next) {
		x->at++;
		if (!(*last = sequence(x)))
			break;
	}
	return out;
}

struct regex *regex_parse(struct converter *c, const char *pattern, size_t n)
{
	struct regex_reading x = { .c = c, .at = pattern, .end = pattern + n };
	struct regex *out = choice(&x);

	if (!c->failed && regex_peek(&x) == ')')
		regex_refuse(&x, "')' without '('");
	return c->failed ? NULL : out;
}

/* ---- what there is to know about one ---- */

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a == UINT32_MAX || b == UINT32_MAX || a + b < a ? UINT32_MAX : a + b;
}

static uint32_t product(uint32_t a, uint32_t b)
{
	uint64_t p = (uint64_t)a * b;

	return !a || !b ? 0 : a == UINT32_MAX || b == UINT32_MAX || p > UINT32_MAX ? UINT32_MAX : (uint32_t)p;
}

struct regex_span regex_span(const struct regex *r)
{
	struct regex_span out = { 0, 0 }, one;

	switch (r->kind) {
	case REGEX_SET:
		return (struct regex_span){ 1, 1 };
	case REGEX_REPEAT:
		one = regex_span(r->child);
		return (struct regex_span){ product(one.min, r->low), product(one.max, r->high) };
	case REGEX_CHOICE:
		out = regex_span(r->child);
		for (const struct regex *i = r->child->next; i; i = i->next) {
			one = regex_span(i);
			out.min = one.min < out.min ? one.min : out.min;
			out.max = one.max > out.max ? one.max : out.max;
		}
		return out;
	case REGEX_SEQUENCE:
		for (const struct regex *i = r->child; i; i = i->next) {
			one = regex_span(i);
			out = (struct regex_span){ sum(out.min, one.min), sum(out.max, one.max) };
		}
		return out;
	case REGEX_BEGIN: case REGEX_END: case REGEX_BORDER: case REGEX_LOOK:
		break;
	}
	return out;
}

int regex_asserts(const struct regex *r)
{
	if (r->kind >= REGEX_BEGIN)
		return 1;
	for (const struct regex *i = r->kind == REGEX_SET ? NULL : r->child; i; i = i->next)
		if (regex_asserts(i))
			return 1;
	return 0;
}

void regex_limit(struct regex *r, uint32_t most)
{
	if (r->kind == REGEX_REPEAT && r->high > most)
		r->high = r->low > most ? r->low : most;
	for (struct regex *i = r->kind == REGEX_SET ? NULL : r->child; i; i = i->next)
		regex_limit(i, most);
}
