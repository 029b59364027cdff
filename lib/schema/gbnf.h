/* gbnf: a grammar in the making, to be printed as GBNF (lib/grammar/grammar.h). Private to lib/schema.
 *
 * Expressions are built from the inside out and do not change once they are part of another one. What no text can match
 * is `never`: it makes a sequence never, it leaves no trace among alternatives and in a repetition that may be empty. A
 * rule may be used before it is defined; whether it has a finite text at all shows when the grammar is settled.
 * A failure (no memory) sticks: after it everything is never, and gbnf_print() says so. */
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
	struct gbnf_rule *first, *last; /* the rules, in the order of their definition */
	unsigned names;                 /* given out so far */
	int failed;
};

void gbnf_free(struct gbnf *g);

/* Rules that all schemas share, each printed where it is used. */
enum gbnf_primitive {
	GBNF_SPACE,             /* between two tokens */
	GBNF_CHAR,              /* a character of a JSON string, however it is spelt */
	GBNF_PLAIN,             /* one that stands for itself */
	GBNF_UNIT, GBNF_HEX, GBNF_STRING, GBNF_INTEGER, GBNF_NUMBER,
	GBNF_VALUE, GBNF_OBJECT, GBNF_MEMBER, GBNF_ARRAY, GBNF_PRIMITIVES
};

struct gbnf_expr *gbnf_never(void);
struct gbnf_expr *gbnf_primitive(struct gbnf *g, enum gbnf_primitive p);
struct gbnf_expr *gbnf_text(struct gbnf *g, const char *s, size_t n);   /* the bytes s[n] */
struct gbnf_expr *gbnf_word(struct gbnf *g, const char *s);             /* the same, up to its terminator */
struct gbnf_expr *gbnf_class(struct gbnf *g, const char *s, size_t n);  /* what s[n] spells in brackets */

/* low to high times e. */
struct gbnf_expr *gbnf_repeat(struct gbnf *g, struct gbnf_expr *e, uint32_t low, uint32_t high);

/* Lists, to which expressions are added: alternatives of nothing are never, a sequence of nothing is the empty text. */
struct gbnf_expr *gbnf_alternatives(struct gbnf *g);
struct gbnf_expr *gbnf_sequence(struct gbnf *g);
void gbnf_add(struct gbnf *g, struct gbnf_expr *list, struct gbnf_expr *e);

/* The sequence of the expressions up to NULL. */
struct gbnf_expr *gbnf_join(struct gbnf *g, ...);

/* Whether e is known to match no text. */
int gbnf_is_never(const struct gbnf_expr *e);

/* A rule whose name is made of stem[n] and a number, and says to the user what `label` says (borrowed; NULL:
 * nothing). */
struct gbnf_rule *gbnf_rule(struct gbnf *g, const char *stem, size_t n, const char *label);
void gbnf_define(struct gbnf *g, struct gbnf_rule *r, struct gbnf_expr *body);
struct gbnf_expr *gbnf_use(struct gbnf *g, struct gbnf_rule *r);

/* Once all rules are defined: finds which of them have a finite text. Returns 0, or -1 if the root has none: then
 * *label is that of a rule whose every text contains another one of it, or NULL if there is no such rule. */
int gbnf_settle(struct gbnf *g, struct gbnf_rule *root, const char **label);

/* Appends the grammar to out: `root`, the rules it leads to, primitives. -1: too large, or no memory now or before. */
int gbnf_print(struct gbnf *g, struct gbnf_rule *root, struct bytes *out);

#endif
