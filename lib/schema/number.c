/* Numbers between bounds and multiples, as automata over their digits. A text is read digit by digit; what matters of
 * what has been read is how it compares with each bound and its remainder by each divisor. */
#include "converter.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "language.h"

enum {
	WHOLE_MAX = 19, FRACTION_MAX = 16,      /* digits before and after the point */
	EXACT = 15,                     /* significant digits that a double keeps */
	DIVISORS_MAX = 4, SCRATCH_MAX = 1 << 26
};

/* ---- bounds and divisors ---- */

struct divisor {                        /* whole / 10^places */
	uint32_t whole;
	int places;
	int not;                        /* numbers must not be a multiple of it */
};

struct side {                           /* the numbers of one sign: their magnitudes */
	struct decimal low, high;
	int none;
};

struct numbers {
	struct side side[2];            /* from 0 on, and below 0 */
	struct divisor divisor[DIVISORS_MAX];
	int n_divisors;
	int whole, fraction;            /* digits before and after the point, at most */
};

/* Next to an excluded bound 15 significant digits are used, so that a reader who uses doubles does not round a number
 * to the bound. */
static void exclude(struct decimal *bound, int sign)
{
	decimal_step(bound, bound->whole < EXACT ? EXACT - bound->whole : 0, sign);
}

static void raise(struct side *s, struct decimal bound, int open)
{
	if (open)
		exclude(&bound, 1);
	if (decimal_compare(&bound, &s->low) > 0)
		s->low = bound;
}

static void lower(struct side *s, struct decimal bound, int open)
{
	s->none |= open && decimal_is_zero(&bound);
	if (open)
		exclude(&bound, -1);
	if (decimal_compare(&bound, &s->high) < 0)
		s->high = bound;
}

/* Numbers must be at least the bound, or else at most; open: but not equal to it. */
static void bind(struct numbers *x, struct decimal bound, int at_least, int open)
{
	int negative = bound.negative;

	bound.negative = 0;
	if (at_least && negative) {
		lower(&x->side[1], bound, open);
	} else if (at_least) {
		raise(&x->side[0], bound, open);
		x->side[1].none = 1;
	} else if (negative) {
		raise(&x->side[1], bound, open);
		x->side[0].none = 1;
	} else {
		lower(&x->side[0], bound, open);
		if (open && decimal_is_zero(&bound))
			raise(&x->side[1], bound, 1);   /* not -0 */
	}
}

static int bind_keyword(struct converter *c, const struct json *s, const char *keyword, int at_least, int open,
	struct numbers *x)
{
	const struct json *v = json_get(s, keyword);
	struct decimal bound;

	if (!v)
		return 0;
	if (!schema_is_number(v))
		return schema_fail(c, "%s must be a number", keyword);
	if (decimal_read(&bound, v))
		return schema_refuse(c, "%s: a number with more than %d digits after the point", keyword,
			DECIMAL_FRACTION);
	bind(x, bound, at_least, open);
	return 1;
}

static int add_divisor(struct converter *c, const struct json *v, int not, struct numbers *x)
{
	enum { LARGEST = 20000 };
	struct decimal d;
	uint32_t whole = 0;

	if (!schema_is_number(v) || v->d <= 0)
		return schema_fail(c, "multipleOf must be a number greater than 0");
	if (decimal_read(&d, v) || d.fraction > FRACTION_MAX)
		return schema_refuse(c, "multipleOf: a number with more than %d digits after the point", FRACTION_MAX);
	for (int i = 0; i < d.whole + d.fraction; i++)
		whole = whole > LARGEST ? whole : whole * 10 + (uint32_t)d.digit[i];
	if (whole > LARGEST || x->n_divisors == DIVISORS_MAX)
		return schema_refuse(c, "multipleOf %.30s: more than %d without the point, or more than %d of them",
			v->s, LARGEST, DIVISORS_MAX);
	x->divisor[x->n_divisors++] = (struct divisor){ whole, d.fraction, not };
	if (!not && d.fraction < x->fraction)
		x->fraction = d.fraction ? d.fraction : 1;
	return 1;
}

static const struct format {
	const char *name, *low, *high;
} formats[] = {
	{ "int8", "-128", "127" }, { "uint8", "0", "255" }, { "int16", "-32768", "32767" }, { "uint16", "0", "65535" },
	{ "int32", "-2147483648", "2147483647" }, { "uint32", "0", "4294967295" },
	{ "int64", "-9223372036854775808", "9223372036854775807" }, { "uint64", "0", "18446744073709551615" },
};

static int bind_formats(const struct json *s, struct numbers *x)
{
	const struct json *list = json_get(s, SCHEMA_FORMATS);
	int bound = 0;

	for (const struct json *v = list ? list->child : NULL; v; v = v->next)
		for (size_t i = 0; v->type == JSON_STRING && i < sizeof formats / sizeof *formats; i++) {
			struct decimal low = decimal_of(formats[i].low + (*formats[i].low == '-'));

			if (strcmp(v->s, formats[i].name))
				continue;
			low.negative = *formats[i].low == '-';
			bind(x, low, 1, 0);
			bind(x, decimal_of(formats[i].high), 0, 0);
			bound = 1;
		}
	return bound;
}

/* ---- reading a number ---- */

enum place { START, SIGN, ZERO, WHOLE, POINT, FRACTION };

struct reading {                        /* what matters of the digits so far; compared as bytes */
	uint8_t place, side;
	uint8_t digits;                 /* in this part of the number */
	int8_t order[2];                /* compared with the bounds, as far as read: -1, 0, 1 */
	uint8_t past[DIVISORS_MAX];     /* there is a digit other than 0 past the places of the divisor */
	uint32_t left[DIVISORS_MAX];    /* the remainder by it */
};

static int digit_of(const struct decimal *d, int in_fraction, int i)
{
	return in_fraction ? i < d->fraction ? d->digit[d->whole + i] : 0 : i < d->whole ? d->digit[i] : -1;
}

static void read_digit(const struct numbers *x, struct reading *r, int digit)
{
	const struct side *s = &x->side[r->side];
	const struct decimal *bound[] = { &s->low, &s->high };
	int in_fraction = r->place == POINT || r->place == FRACTION;

	for (int i = 0; i < 2 && (in_fraction || digit || r->place == WHOLE); i++) {
		int other = digit_of(bound[i], in_fraction, r->digits);

		if (other < 0)
			r->order[i] = 1;        /* more digits before the point */
		else if (!r->order[i])
			r->order[i] = (int8_t)((digit > other) - (digit < other));
	}
	for (int i = 0; i < x->n_divisors; i++) {
		const struct divisor *d = &x->divisor[i];

		if (in_fraction && r->digits >= d->places)
			r->past[i] |= digit != 0;
		else
			r->left[i] = (uint32_t)(((uint64_t)r->left[i] * 10 + (uint64_t)digit) % d->whole);
	}
	r->digits++;
	r->place = in_fraction ? FRACTION : r->place == WHOLE || digit ? WHOLE : ZERO;
}

/* What the order with a bound is once all digits before the point are read. */
static void end_whole(const struct numbers *x, struct reading *r)
{
	const struct side *s = &x->side[r->side];
	const struct decimal *bound[] = { &s->low, &s->high };
	int digits = r->place == ZERO ? 0 : r->digits;

	for (int i = 0; i < 2; i++)
		if (digits < bound[i]->whole)
			r->order[i] = -1;
}

static int is_allowed(const struct numbers *x, struct reading r)
{
	const struct side *s = &x->side[r.side];

	if (r.place == ZERO || r.place == WHOLE) {
		end_whole(x, &r);
		r.digits = 0;
	} else if (r.place != FRACTION) {
		return 0;
	}
	r.order[0] = (int8_t)(!r.order[0] && r.digits < s->low.fraction ? -1 : r.order[0]);
	r.order[1] = (int8_t)(!r.order[1] && r.digits < s->high.fraction ? -1 : r.order[1]);
	for (int i = 0; i < x->n_divisors; i++) {
		uint64_t left = r.left[i];

		for (int k = r.digits; k < x->divisor[i].places; k++)
			left = left * 10 % x->divisor[i].whole;
		if ((!left && !r.past[i]) == x->divisor[i].not)
			return 0;
	}
	return r.order[0] >= 0 && r.order[1] <= 0;
}

/* Whether nothing that could follow makes the number right. */
static int is_lost(const struct numbers *x, const struct reading *r)
{
	for (int i = 0; i < x->n_divisors; i++)
		if (r->past[i] && !x->divisor[i].not)
			return 1;
	return (r->place == POINT || r->place == FRACTION) && (r->order[0] < 0 || r->order[1] > 0);
}

static void add_arc(struct builder *b, const struct numbers *x, uint32_t c, const struct reading *to)
{
	if (!is_lost(x, to))
		builder_arc(b, c, c, builder_state(b, to, sizeof *to));
}

static void expand(struct builder *b, const struct numbers *x, const struct reading *r)
{
	int fraction = r->place == POINT || r->place == FRACTION;
	struct reading to = *r;

	if (r->place == START && !x->side[1].none) {
		to.place = SIGN;
		to.side = 1;
		add_arc(b, x, '-', &to);
	}
	if ((r->place == ZERO || r->place == WHOLE) && x->fraction) {
		end_whole(x, &to);
		to.place = POINT;
		to.digits = 0;
		add_arc(b, x, '.', &to);
	}
	if (r->place == ZERO || (r->place == START && x->side[0].none)
		|| r->digits == (fraction ? x->fraction : x->whole))
		return;
	for (int digit = 0; digit < 10; digit++) {
		to = *r;
		read_digit(x, &to, digit);
		add_arc(b, x, (uint32_t)('0' + digit), &to);
	}
}

static const struct automaton *of_numbers(struct workshop *w, const struct numbers *x)
{
	struct builder b = { .w = w };
	struct reading r;
	const void *key;
	size_t n;

	memset(&r, 0, sizeof r);
	for (builder_state(&b, &r, sizeof r); builder_next(&b, &key, &n); builder_end(&b, is_allowed(x, r))) {
		memcpy(&r, key, sizeof r);
		expand(&b, x, &r);
	}
	return automaton_minimise(w, builder_finish(&b));
}

/* ---- writing ---- */

static struct numbers all_numbers(void)
{
	struct numbers x = { .whole = WHOLE_MAX, .fraction = FRACTION_MAX };

	x.side[0].high = x.side[1].high = decimal_of("1e99");
	return x;
}

/* The numbers without those that are excluded one by one. */
static const struct automaton *without(struct converter *c, struct workshop *w, const struct automaton *a,
	const struct json *excluded)
{
	for (const struct json *v = excluded ? excluded->child : NULL; v && a; v = v->next) {
		struct numbers one = all_numbers();
		struct decimal d;

		if (!schema_is_number(v) || decimal_read(&d, v))
			continue;
		bind(&one, d, 1, 0);
		bind(&one, d, 0, 0);
		if (decimal_is_zero(&d))
			one.side[1] = one.side[0];      /* -0 */
		a = automaton_combine(w, a, AUTOMATON_AND_NOT, of_numbers(w, &one));
		if (schema_work(c, 1))
			return NULL;
	}
	return excluded && a ? automaton_minimise(w, a) : a;
}

/* Without bounds as large an integer has 18 digits at most, which any reader holds. */
static void bind_integer(struct numbers *x)
{
	int large = 0;

	for (int i = 0; i < 2; i++)
		large |= x->side[i].low.whole == WHOLE_MAX || x->side[i].high.whole == WHOLE_MAX;
	x->whole = x->whole == WHOLE_MAX && !large ? WHOLE_MAX - 1 : x->whole;
	x->fraction = 0;
	raise(&x->side[1], decimal_of("1"), 0);         /* not -0 */
	lower(&x->side[0], decimal_of("9223372036854775807"), 0);
	lower(&x->side[1], decimal_of("9223372036854775808"), 0);
}

static int read_bounds(struct converter *c, const struct json *s, unsigned types, struct numbers *x)
{
	static const struct json one = { .type = JSON_INT, .i = 1, .d = 1 };
	const struct json *multiples = json_get(s, SCHEMA_MULTIPLES), *not = json_get(s, SCHEMA_NOT_MULTIPLES);
	int n = bind_keyword(c, s, "minimum", 1, 0, x) + bind_keyword(c, s, "exclusiveMinimum", 1, 1, x)
		+ bind_keyword(c, s, "maximum", 0, 0, x) + bind_keyword(c, s, "exclusiveMaximum", 0, 1, x)
		+ bind_formats(s, x);

	x->whole = multiples || not ? EXACT : WHOLE_MAX;
	if (types == TYPE_FRACTION)
		add_divisor(c, &one, 1, x);
	if (types == TYPE_INTEGER)
		bind_integer(x);
	for (const struct json *v = multiples ? multiples->child : NULL; v && !c->failed; v = v->next)
		n += add_divisor(c, v, 0, x);
	for (const struct json *v = not ? not->child : NULL; v && !c->failed; v = v->next)
		n += add_divisor(c, v, 1, x);
	return n;
}

struct gbnf_expr *schema_write_number(struct converter *c, const struct json *s, unsigned types)
{
	const struct json *excluded = json_get(s, SCHEMA_NOT_ENUM);
	struct workshop w = { .arena = { .limit = SCRATCH_MAX } };
	struct numbers x = all_numbers();
	int restricted = read_bounds(c, s, types, &x) || excluded;
	struct gbnf_expr *out;

	if (!restricted && types != TYPE_FRACTION)
		return gbnf_primitive(&c->g, types == TYPE_INTEGER ? GBNF_INTEGER : GBNF_NUMBER);
	out = c->failed ? gbnf_never() : language_write(c, &w, without(c, &w, of_numbers(&w, &x), excluded));
	if (types == TYPE_INTEGER)
		out = gbnf_join(&c->g, "%%", out, gbnf_repeat(&c->g, gbnf_text(&c->g, ".0", 2), 0, 1));
	arena_free(&w.arena);
	return out;
}
