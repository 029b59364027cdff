/* converter: what the parts that turn a schema into a grammar share. Private to lib/schema.
 *
 * Schemas are nodes of lib/base/json: an object, `true` (every value) or `false` (none). Each part returns an
 * expression (gbnf.h) for the values that its keywords allow, `never` if there are none. The expression of a value
 * begins and ends with a token; who puts tokens together adds the white space between them. A failure is sticky:
 * the first reason is kept, later results are meaningless, and schema_grammar() reports it. */
#ifndef SCHEMA_CONVERTER_H
#define SCHEMA_CONVERTER_H

#include <stdint.h>

#include "gbnf.h"
#include "index.h"
#include "lib/base/json.h"
#include "schema.h"

struct schema_path {            /* a place in the document, for messages */
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
	const char *endless;            /* if no value matches it: the schema that has no finite one, or NULL */
	const struct schema_path *path;
	unsigned work;          /* so far (schema_work()) */
	int depth;              /* of nested schemas, counting references */
	int level;              /* of nested arrays and objects */
};

/* ---- fail.c ---- */

/* Sets the reason, "#/where: ...", unless there is one already; returns -1. */
int schema_fail(struct converter *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

int schema_no_memory(struct converter *c);              /* the same for running out of memory */

/* Counts n units of work: visits of schemas, or 64 comparisons each. -1: it is too much. */
int schema_work(struct converter *c, size_t n);

/* Enters a nested schema; leaves it. -1: not a schema, too deep, too much work, or failed before; then it must not be
 * left. */
int schema_enter(struct converter *c, const struct json *s);
void schema_leave(struct converter *c);

/* The value of a keyword that is a count; `otherwise` if it is absent. */
uint32_t schema_count(struct converter *c, const struct json *s, const char *keyword, uint32_t otherwise);

/* ---- schema.c ---- */

/* Writes a schema that is below the current one under name[n]. */
struct gbnf_expr *schema_write(struct converter *c, const struct json *s, const char *name, size_t n);

/* Appends a complete grammar of the schema to out. 0; -1: failed; 1: no value matches the schema. */
int schema_write_grammar(struct converter *c, const struct json *s, struct bytes *out);

void schema_close(struct converter *c);

/* ---- types.c ---- */

/* The types of values as a set of bits. */
enum {
	TYPE_NULL = 1, TYPE_BOOLEAN = 2, TYPE_INTEGER = 4, TYPE_FRACTION = 8, TYPE_STRING = 16, TYPE_ARRAY = 32,
	TYPE_OBJECT = 64, TYPE_NUMBER = TYPE_INTEGER | TYPE_FRACTION, TYPE_ALL = 127
};

enum { SCHEMA_TYPES = 7 };
extern const struct schema_type {
	const char *name;
	unsigned types;
} schema_types_by_name[SCHEMA_TYPES];   /* in the order in which they are written; number precedes integer */

/* What becomes of two values of a keyword that both must hold. */
enum schema_merged {
	MERGED_IF_EQUAL, MERGED_TO_LARGER, MERGED_TO_SMALLER, MERGED_AS_LISTS, MERGED_AS_SCHEMAS,
	MERGED_APART,           /* schema_merge() looks at several keywords */
	ANNOTATION              /* says nothing about values */
};

struct schema_keyword {
	const char *name;
	enum schema_merged merged;
	unsigned types;         /* of the values that it is about; 0: of any */
};

/* The keyword that a member of a schema is. NULL: none that is known. */
const struct schema_keyword *schema_keyword(const struct json *member);

int schema_has_assertion(const struct json *s);         /* a keyword that is no annotation */

/* The types that the keywords other than type, enum and const are about; 0: none. */
unsigned schema_types_of_keywords(const struct json *s);

/* The types that a flat schema names; if it names none, those of its constants or its keywords, or else all. */
unsigned schema_types(struct converter *c, const struct json *s);

unsigned schema_type_of(const struct json *value);              /* of one value: a single bit */
int schema_equal(const struct json *a, const struct json *b);   /* as JSON values; members in the same order */
int schema_is_number(const struct json *v);

/* The first value of const, or else of enum; the values end at NULL or *end. NULL: there is none. */
const struct json *schema_constants(const struct json *s, const struct json **end);

/* Whether const and enum of s, which has one of them, allow the value. */
int schema_is_constant(struct converter *c, const struct json *s, const struct json *value);

/* ---- merge.c ---- */

/* The schema with $ref and allOf merged in. NULL: failed. */
const struct json *schema_flatten(struct converter *c, const struct json *s);

/* The schema that $ref of s names. NULL: failed. */
const struct json *schema_follow(struct converter *c, const struct json *s);

/* The schema of the values that both allow, which are flat. NULL: failed. */
const struct json *schema_merge(struct converter *c, const struct json *a, const struct json *b);

/* A copy without one of the keywords. NULL: failed. */
const struct json *schema_without(struct converter *c, const struct json *s, const char *keyword);

/* ---- exclusive.c ---- */

/* Fails unless the branches of a oneOf can be seen to exclude each other. */
void schema_check_exclusive(struct converter *c, const struct json *branches);

/* ---- one type each ---- */

/* The values of this type that s, which is flat, allows; never if there are none. */
struct gbnf_expr *schema_write_number(struct converter *c, const struct json *s, int integer);
struct gbnf_expr *schema_write_string(struct converter *c, const struct json *s);
struct gbnf_expr *schema_write_array(struct converter *c, const struct json *s);
struct gbnf_expr *schema_write_object(struct converter *c, const struct json *s);

/* const and enum. */
struct gbnf_expr *schema_write_constants(struct converter *c, const struct json *s);

/* One value, with any white space between its tokens. */
struct gbnf_expr *schema_literal(struct converter *c, const struct json *value);

/* The bounds of a number. open: the bound itself is excluded. schema_range() tightens *r by minimum and its like;
 * 1: some are set, 0: none. */
struct schema_range {
	int64_t low, high;
	int low_open, high_open;
};
int schema_range(struct converter *c, const struct json *s, struct schema_range *r);

/* A pattern (an ECMAScript regular expression, as far as a grammar can express it) as the inside of a JSON string,
 * and the bounds of its length in characters. */
struct schema_span {
	uint32_t min, max;      /* GBNF_FOREVER: no bound */
};
struct gbnf_expr *schema_pattern(struct converter *c, const char *pattern, size_t n, struct schema_span *span);

#endif
