/* priv: what the parts of the converter share. Private to lib/schema.
 * Schemas are the nodes of lib/json: an object, or `true` (every value), or `false` (none). A part that writes appends to `to` an expression that can
 * stand anywhere in a sequence, be repeated, and is never empty of meaning: a rule's name, or something in parentheses or quotes. */
#ifndef SCHEMA_PRIV_H
#define SCHEMA_PRIV_H

#include <stdint.h>

#include "lib/base/json.h"
#include "schema.h"

enum { SCHEMA_NEVER = 1 };      /* what writing returns where no value can hold to the schema, with nothing of use appended; 0 done, -1 failed */

struct schema_spot {            /* where in the document a failure lies */
	const struct schema_spot *up;
	const char *name;
	size_t n;
};

struct schema_rule {
	const struct json *schema;
	const char *name;
	int open, within;       /* being written; and has come round to itself meanwhile */
	int never;              /* no value holds to it: known once it has been written */
};

struct schema {
	struct arena arena;
	const struct json *document;    /* where references look */
	const struct json *top;         /* the schema whose rule is root */
	struct bytes *out;
	struct why *w;
	const struct schema_spot *spot;
	struct schema_rule *rule;
	size_t n_rules, rules_room;
	unsigned names;         /* given out so far */
	unsigned primitives;    /* those used: a set of bits, enum schema_primitive */
	unsigned work;
	int depth;
};

enum schema_primitive {
	SCHEMA_SPACE, SCHEMA_CHAR, SCHEMA_PLAIN, SCHEMA_UNIT, SCHEMA_HEX, SCHEMA_STRING, SCHEMA_INTEGER, SCHEMA_NUMBER, SCHEMA_VALUE, SCHEMA_OBJECT,
	SCHEMA_MEMBER, SCHEMA_ARRAY, SCHEMA_PRIMITIVES
};

/* ---- schema.c ---- */

/* "#/where: reason"; returns -1. */
int schema_fail(struct schema *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text as it stands; a format's text, of no more than 200 bytes; a JSON value, each token in its one spelling, with any white
 * space between them. -1: no room. */
int schema_put(struct schema *c, struct bytes *to, const char *s);
int schema_append(struct schema *c, struct bytes *to, const struct bytes *from);
int schema_print(struct schema *c, struct bytes *to, const char *format, ...) __attribute__((format(printf, 3, 4)));
int schema_literal(struct schema *c, struct bytes *to, const struct json *value);
int schema_primitive(struct schema *c, struct bytes *to, enum schema_primitive p);     /* its name */
int schema_space(struct schema *c, struct bytes *to);                                   /* between tokens, set off by spaces */

/* Writes the whole grammar of c->top. */
int schema_write_grammar(struct schema *c);

/* A rule's name that no other has, made of the place's last name. NULL: no memory. */
char *schema_name(struct schema *c);

/* Puts NAME ::= body into the grammar and empties body. */
int schema_rule(struct schema *c, const char *name, struct bytes *body);

/* Writes the schema that stands below the current one under the name (name_n bytes). */
int schema_write(struct schema *c, const struct json *s, const char *name, size_t name_n, struct bytes *to);

/* The count that a keyword gives, or what `out` held; -1 if it is none. */
int schema_count(struct schema *c, const struct json *s, const char *keyword, uint32_t *out);

/* ---- merge.c ---- */

/* The schema without $ref and allOf: what they say is merged in. NULL: it cannot be, or it refers to itself without end. */
const struct json *schema_flatten(struct schema *c, const struct json *s);

/* What a schema's $ref names. NULL: nothing in the document, or no such name can be. */
const struct json *schema_follow(struct schema *c, const struct json *s);

/* The schema of what holds to both, which are flat. NULL: it cannot be expressed as one. */
const struct json *schema_merge(struct schema *c, const struct json *a, const struct json *b);

/* The schema without one of its keywords. NULL: no memory. */
const struct json *schema_without(struct schema *c, const struct json *s, const char *keyword);

/* Whether nothing that is written for a could hold to b, as far as types, constants, required properties and bounds show: 1 or 0; -1. Both flat. */
int schema_excludes(struct schema *c, const struct json *a, const struct json *b);

/* The types that a flat schema names or, where it names none, its keywords are about; none is every type. A set of bits. */
enum {
	TYPE_NULL = 1, TYPE_BOOLEAN = 2, TYPE_INTEGER = 4, TYPE_FRACTION = 8, TYPE_STRING = 16, TYPE_ARRAY = 32, TYPE_OBJECT = 64,
	TYPE_NUMBER = TYPE_INTEGER | TYPE_FRACTION, TYPE_ALL = 127
};
int schema_types(struct schema *c, const struct json *s, unsigned *types);

int schema_equal(const struct json *a, const struct json *b);   /* as JSON values; members in the same order */

/* The type of one value: a single bit. */
unsigned schema_type_of(const struct json *value);

/* ---- one type each ---- */

int schema_write_number(struct schema *c, const struct json *s, int integer, struct bytes *to);
int schema_write_string(struct schema *c, const struct json *s, struct bytes *to);
int schema_write_constants(struct schema *c, const struct json *s, struct bytes *to);   /* of its const or enum */
int schema_write_array(struct schema *c, const struct json *s, struct bytes *to);
int schema_write_object(struct schema *c, const struct json *s, struct bytes *to);

/* The bounds that minimum and its like set, tightened: low and high as they are otherwise; open: the bound itself is excluded. 1: set, 0: not. */
struct schema_range {
	int64_t low, high;
	int low_open, high_open;
};
int schema_range(struct schema *c, const struct json *s, struct schema_range *r);

/* A pattern (an ECMA regular expression, as far as a grammar can follow it) as the inside of a JSON string, and how many characters it can have. */
struct schema_span {
	uint32_t min, max;      /* UINT32_MAX: endless */
};
int schema_pattern(struct schema *c, const char *pattern, size_t n, struct schema_span *span, struct bytes *to);

#endif
