/* converter: what the parts that turn a schema into a grammar share. Private to lib/schema.
 *
 * Schemas are the nodes of lib/base/json: an object, `true` (every value) or `false` (none). Each part returns the
 * expression (gbnf.h) of the values it is about, `never` where there is none. An expression of a value begins and ends
 * with a token; whoever puts tokens together puts white space between them. A failure sticks: the first reason is kept,
 * what is returned afterwards is of no use, and schema_grammar() reports it. */
#ifndef SCHEMA_CONVERTER_H
#define SCHEMA_CONVERTER_H

#include <stdint.h>

#include "gbnf.h"
#include "index.h"
#include "lib/base/json.h"
#include "schema.h"

struct schema_path {            /* the place in the document that messages name */
	const struct schema_path *up;
	const char *name;
	size_t n;
};

struct converter {
	struct arena arena;             /* the document, merged schemas */
	const struct json *document;    /* where references look */
	struct gbnf g;
	struct index index;
	struct why *w;
	int failed;
	const char *endless;            /* a schema without a finite value, which is why there is no grammar; or NULL */
	const struct schema_path *path;
	unsigned work;          /* schemas visited, each as often as it is */
	int depth;              /* schemas inside each other, references followed included */
	int level;              /* arrays and objects inside each other */
};

/* ---- fail.c ---- */

/* "#/where: reason", unless there is a reason already; returns -1. */
int schema_fail(struct converter *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

int schema_no_memory(struct converter *c);              /* the same, for memory */

/* Goes one schema deeper, and back. -1: too deep, too much work, or failed before; there is no going back then. */
int schema_enter(struct converter *c);
void schema_leave(struct converter *c);

/* The count that a keyword gives; `otherwise` if there is none. */
uint32_t schema_count(struct converter *c, const struct json *s, const char *keyword, uint32_t otherwise);

/* ---- schema.c ---- */

/* The schema that stands below the current one under name[n]. */
struct gbnf_expr *schema_write(struct converter *c, const struct json *s, const char *name, size_t n);

/* The values of one schema, all of it: a grammar of its own, appended to out. 0; -1: failed; 1: no value holds to
 * it. */
int schema_write_grammar(struct converter *c, const struct json *s, struct bytes *out);

void schema_close(struct converter *c);

/* ---- types.c ---- */

/* The types of values as a set of bits. */
enum {
	TYPE_NULL = 1, TYPE_BOOLEAN = 2, TYPE_INTEGER = 4, TYPE_FRACTION = 8, TYPE_STRING = 16, TYPE_ARRAY = 32,
	TYPE_OBJECT = 64, TYPE_NUMBER = TYPE_INTEGER | TYPE_FRACTION, TYPE_ALL = 127
};

/* The types that a flat schema names or, where it names none, its keywords are about; none is every type. */
unsigned schema_types(struct converter *c, const struct json *s);

unsigned schema_type_of(const struct json *value);              /* of one value: a single bit */
int schema_equal(const struct json *a, const struct json *b);   /* as JSON values; members in the same order */
int schema_is_number(const struct json *v);

/* ---- merge.c ---- */

/* The schema without $ref and allOf: what they say is merged in. NULL: failed. */
const struct json *schema_flatten(struct converter *c, const struct json *s);

/* What a schema's $ref names. NULL: failed. */
const struct json *schema_follow(struct converter *c, const struct json *s);

/* The schema of what holds to both, which are flat. NULL: failed. */
const struct json *schema_merge(struct converter *c, const struct json *a, const struct json *b);

/* The schema without one of its keywords. NULL: failed. */
const struct json *schema_without(struct converter *c, const struct json *s, const char *keyword);

/* ---- exclusive.c ---- */

/* Fails unless the branches of a oneOf visibly exclude each other. */
void schema_check_exclusive(struct converter *c, const struct json *branches);

/* ---- one type each ---- */

struct gbnf_expr *schema_write_number(struct converter *c, const struct json *s, int integer);
struct gbnf_expr *schema_write_string(struct converter *c, const struct json *s);
struct gbnf_expr *schema_write_array(struct converter *c, const struct json *s);
struct gbnf_expr *schema_write_object(struct converter *c, const struct json *s);

/* Of const and enum. */
struct gbnf_expr *schema_write_constants(struct converter *c, const struct json *s);

/* One value, with any white space between its tokens. */
struct gbnf_expr *schema_literal(struct converter *c, const struct json *value);

/* The bounds that minimum and its like set, tightened: low and high as they are otherwise; open: the bound itself is
 * excluded. 1: some are set, 0: none. */
struct schema_range {
	int64_t low, high;
	int low_open, high_open;
};
int schema_range(struct converter *c, const struct json *s, struct schema_range *r);

/* A pattern (an ECMA regular expression, as far as a grammar can follow it) as the inside of a JSON string, and
 * how many characters it can have. */
struct schema_span {
	uint32_t min, max;      /* GBNF_FOREVER: no bound */
};
struct gbnf_expr *schema_pattern(struct converter *c, const char *pattern, size_t n, struct schema_span *span);

#endif
