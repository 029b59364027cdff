/* gbnf: builds a grammar from expressions and prints it as GBNF (lib/grammar/grammar.h). Private to lib/schema.
 *
 * Expressions are built bottom-up; one that is part of another does not change any more. An expression that matches no
 * text is `never`: a sequence with it is never, a list of alternatives drops it, and so does a repetition that may be
 * empty. A rule may be used before it is defined, so whether it has a finite text is only known after gbnf_settle().
 * Running out of memory is sticky: from then on every expression is never, and gbnf_print() fails. */
#ifndef SCHEMA_GBNF_H
#define SCHEMA_GBNF_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/bytes.h"

#define GBNF_FOREVER UINT32_MAX         /* a repetition without an upper bound */

struct gbnf_expr;
struct gbnf_rule;

struct gbnf {                           /* starts as { .arena.limit = N } */
	struct arena arena;
	struct gbnf_rule *first, *last; /* the rules, in order of definition */
	unsigned names;                 /* number of rule names made so far */
	int failed;
};

/* Rules that all schemas share; those that are used are printed. */
enum gbnf_primitive {
	GBNF_SPACE,             /* white space between two tokens */
	GBNF_CHAR,              /* a character of a JSON string, escaped or not */
	GBNF_PLAIN,             /* one that is not escaped */
	GBNF_UNIT, GBNF_HEX, GBNF_STRING, GBNF_INTEGER, GBNF_LARGE, GBNF_NUMBER,
	GBNF_VALUE, GBNF_OBJECT, GBNF_MEMBER, GBNF_ARRAY, GBNF_PRIMITIVES
};

struct gbnf_expr *gbnf_never(void);
struct gbnf_expr *gbnf_primitive(struct gbnf *g, enum gbnf_primitive p);
struct gbnf_expr *gbnf_text(struct gbnf *g, const char *s, size_t n);   /* the bytes s[n] */
struct gbnf_expr *gbnf_class(struct gbnf *g, const char *s, size_t n);  /* [s], in GBNF's notation */

/* Appends a code point as a class spells it; no surrogates. */
void gbnf_spell(struct bytes *class, uint32_t point);

/* e, low to high times. */
struct gbnf_expr *gbnf_repeat(struct gbnf *g, struct gbnf_expr *e, uint32_t low, uint32_t high);

/* Empty lists, and adding to them. Without elements, alternatives are never and a sequence is the empty text. */
struct gbnf_expr *gbnf_alternatives(struct gbnf *g);
struct gbnf_expr *gbnf_sequence(struct gbnf *g);
void gbnf_add(struct gbnf *g, struct gbnf_expr *list, struct gbnf_expr *e);

/* A sequence: in the format, % is the next expression, _ is GBNF_SPACE, and other characters are themselves. */
struct gbnf_expr *gbnf_join(struct gbnf *g, const char *format, ...);

/* Whether e is known to match no text. */
int gbnf_is_never(const struct gbnf_expr *e);

/* A rule named after stem[n] and a number. Messages call it `label` (borrowed), if that is not NULL. */
struct gbnf_rule *gbnf_rule(struct gbnf *g, const char *stem, size_t n, const char *label);
void gbnf_define(struct gbnf *g, struct gbnf_rule *r, struct gbnf_expr *body);
struct gbnf_expr *gbnf_use(struct gbnf *g, struct gbnf_rule *r);

/* Finds the rules that have a finite text; all rules must be defined. Returns 0, or -1 if the root has none. Then
 * *label is that of a rule each of whose texts would contain another one, or NULL if there is no such rule. */
int gbnf_settle(struct gbnf *g, struct gbnf_rule *root, const char **label);

/* Appends the grammar to out: the rule `root` and all rules that it uses. -1: too large, or out of memory. */
int gbnf_print(struct gbnf *g, struct gbnf_rule *root, struct bytes *out);

#endif
