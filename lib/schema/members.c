/* The members of an object in their order, with commas between them, and how many there may be. */
#include "object.h"

enum { STATES_MAX = 10000, LETTERS = 26 };

/* A comma and the member, low to high times. */
static struct gbnf_expr *next_member(struct gbnf *g, struct gbnf_expr *member, uint32_t low, uint32_t high)
{
	return gbnf_repeat(g, gbnf_join(g, ",_%", member), low, high);
}

/* ---- any number ---- */

/* The first member is one of the properties up to the first required one. What may follow property i is a rule,
 * which uses the rule for property i + 1. */
static struct gbnf_expr *write_all(struct gbnf *g, const struct object_schema *o)
{
	struct gbnf_expr *out = gbnf_alternatives(g), *after;
	struct gbnf_expr *others = next_member(g, o->others, 0, GBNF_FOREVER);
	size_t last = 0;

	while (last < o->n && !o->property[last].required)
		last++;
	after = gbnf_sequence(g);
	if (last == o->n) {             /* none is required: only further properties, or nothing */
		gbnf_add(g, out, gbnf_sequence(g));
		gbnf_add(g, out, gbnf_join(g, "%%", o->others, others));
	} else {
		for (size_t i = last + 1; i < o->n; i++)
			gbnf_add(g, after, next_member(g, o->property[i].member, (uint32_t)o->property[i].required, 1));
	}
	gbnf_add(g, after, others);
	for (size_t i = last == o->n ? o->n : last + 1; i-- > 0; ) {
		const struct schema_property *p = &o->property[i];
		struct gbnf_rule *rule = gbnf_rule(g, p->name, p->n, NULL);

		gbnf_define(g, rule, after);
		after = gbnf_use(g, rule);
		gbnf_add(g, out, gbnf_join(g, "%%", p->member, after));
		after = gbnf_join(g, "%%", next_member(g, p->member, (uint32_t)p->required, 1), after);
	}
	return out;
}

/* ---- counted ---- */

struct counting {
	struct object_schema *o;
	uint32_t top;                   /* counted no further than to this */
	struct gbnf_rule **rule;        /* by property and count */
	struct gbnf_expr *by_letter[LETTERS];           /* others whose name begins with it; once they are needed */
	struct gbnf_rule *distinct[LETTERS + 1][LETTERS];       /* so many of them, from a letter on */
};

/* Any others and then the one that must be there. As the last of its name it is the one that counts. */
static struct gbnf_expr *write_last(struct counting *x, uint32_t count, uint32_t low, uint32_t high)
{
	struct gbnf *g = &x->o->c->g;
	struct gbnf_expr *others;

	if (low > 1)
		schema_refuse(x->o->c, "minProperties beside additionalProperties that must not hold");
	if (!high)
		return gbnf_never();
	high -= high != GBNF_FOREVER;
	if (count)
		return gbnf_join(g, "%,_%", next_member(g, x->o->others, 0, high), x->o->last);
	others = gbnf_repeat(g, gbnf_join(g, "%,_", x->o->others), 0, high);
	return gbnf_join(g, "%%", others, x->o->last);
}

static struct gbnf_expr *write_distinct(struct counting *x, uint32_t left, uint32_t from, int comma);

/* One of the others whose name begins with that letter, and those that must follow. */
static struct gbnf_expr *write_letter(struct counting *x, uint32_t left, uint32_t letter, int comma)
{
	const struct object_schema *o = x->o;
	struct gbnf *g = &o->c->g;
	struct gbnf_expr *rest = left > 1 ? write_distinct(x, left - 1, letter + 1, 1)
		: next_member(g, o->others, 0, o->max == GBNF_FOREVER ? GBNF_FOREVER : o->max - o->min);

	return gbnf_join(g, comma ? ",_%%" : "%%", x->by_letter[letter], rest);
}

/* So many others whose names begin with different letters, in alphabetical order, and then any others. */
static struct gbnf_expr *write_distinct(struct counting *x, uint32_t left, uint32_t from, int comma)
{
	struct gbnf *g = &x->o->c->g;
	struct gbnf_expr *out = gbnf_alternatives(g);
	struct gbnf_rule **rule;

	if (left + from > LETTERS)
		return gbnf_never();
	rule = &x->distinct[left][from];
	if (comma && *rule)
		return gbnf_use(g, *rule);
	if (comma)
		*rule = schema_new_rule(x->o->c, NULL);
	for (uint32_t letter = from; letter + left <= LETTERS; letter++)
		gbnf_add(g, out, write_letter(x, left, letter, comma));
	if (!comma)
		return out;
	gbnf_define(g, *rule, out);
	return gbnf_use(g, *rule);
}

static void write_letters(struct counting *x)
{
	struct object_schema *o = x->o;

	for (uint32_t i = 0; i < LETTERS && !x->by_letter[i] && !o->c->failed; i++) {
		struct regex *r = regex_parse(o->c, (char[]){ '^', (char)('a' + i) }, 2);

		x->by_letter[i] = r ? object_write_some(o, language_of_pattern(o->c, o->w, r), NULL) : gbnf_never();
	}
}

/* The others after `count` members. Their names may be equal, which are then one property: so if more than one must be
 * there, their names differ. */
static struct gbnf_expr *write_rest(struct counting *x, uint32_t count)
{
	struct gbnf *g = &x->o->c->g;
	uint32_t low = x->o->min > count ? x->o->min - count : 0;
	uint32_t high = x->o->max == GBNF_FOREVER ? GBNF_FOREVER : x->o->max - count;

	if (x->o->last)
		return write_last(x, count, low, high);
	if (low > 1 && !gbnf_is_never(x->o->others)) {
		write_letters(x);
		return write_distinct(x, low, 0, count > 0);
	}
	if (count || !high)
		return next_member(g, x->o->others, low, high);
	return gbnf_repeat(g, gbnf_join(g, "%%", x->o->others, next_member(g, x->o->others, 0,
		high == GBNF_FOREVER ? high : high - 1)), low, 1);
}

/* What may follow when `count` members of the properties before number i are there. */
static struct gbnf_expr *write_counted(struct counting *x, size_t i, uint32_t count)
{
	struct object_schema *o = x->o;
	struct gbnf *g = &o->c->g;
	struct gbnf_rule **rule = &x->rule[i * ((size_t)x->top + 1) + count];
	struct gbnf_expr *out = gbnf_alternatives(g), *rest;
	const struct schema_property *p = &o->property[i];

	if (*rule)
		return gbnf_use(g, *rule);
	if (o->c->failed || schema_work(o->c, 1))
		return gbnf_never();
	*rule = schema_new_rule(o->c, NULL);
	if (i == o->n) {
		gbnf_add(g, out, write_rest(x, count));
	} else {
		if (count < o->max && !gbnf_is_never(p->member)) {
			rest = write_counted(x, i + 1, count < x->top ? count + 1 : count);
			if (!gbnf_is_never(rest))
				gbnf_add(g, out, gbnf_join(g, count ? ",_%%" : "%%", p->member, rest));
		}
		if (!p->required)
			gbnf_add(g, out, write_counted(x, i + 1, count));
	}
	gbnf_define(g, *rule, out);
	return gbnf_use(g, *rule);
}

static int is_counted(const struct object_schema *o)
{
	uint32_t required = 0;

	if (o->last)
		return 1;
	for (size_t i = 0; i < o->n; i++)
		required += (uint32_t)o->property[i].required;
	return o->min > required || o->max < o->n || (o->max != GBNF_FOREVER && !gbnf_is_never(o->others));
}

struct gbnf_expr *object_write_members(struct object_schema *o)
{
	struct counting x = { .o = o, .top = o->max != GBNF_FOREVER ? o->max : o->min };
	size_t counts;

	if (!is_counted(o))
		return write_all(&o->c->g, o);
	x.top = x.top > o->n + 1 ? (uint32_t)o->n + 1 : x.top ? x.top : 1;
	counts = (size_t)x.top + 1;
	if (counts * (o->n + 1) > STATES_MAX)
		schema_refuse(o->c, "minProperties or maxProperties with this many properties");
	x.rule = o->c->failed ? NULL : arena_array(&o->c->arena, counts * (o->n + 1), sizeof *x.rule);
	if (counts * (o->n + 1) > STATES_MAX)
		return write_all(&o->c->g, o);
	if (!x.rule) {
		schema_no_memory(o->c);
		return gbnf_never();
	}
	return write_counted(&x, 0, 0);
}
