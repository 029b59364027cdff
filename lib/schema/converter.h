/* converter: what the parts that turn a schema into a grammar share. Private to lib/schema.
 *
 * Schemas are nodes of lib/base/json: an object, `true` (every value) or `false` (none). A schema becomes a grammar in
 * two steps. First it is flattened: what is referred to is merged in, and keywords that combine schemas are rewritten
 * until a *flat* schema is left. It has each keyword once, and only these:
 *
 *	type  enum  properties  required  minProperties  maxProperties  propertyNames  minItems  maxItems  uniqueItems
 *	minLength  maxLength  minimum  maximum  exclusiveMinimum  exclusiveMaximum
 *	and the keywords below, SCHEMA_..., which no document can contain
 *
 * So that two flat schemas are merged keyword by keyword, and one is negated keyword by keyword. Schemas inside it, of
 * properties and items, are not flat. Then each part returns an expression (gbnf.h) for the values that its keywords
 * allow, `never` if there are none. The expression of a value begins and ends with a token; who puts tokens together
 * adds the white space between them. A failure is sticky: the first reason is kept, later results are meaningless, and
 * schema_grammar() reports it. */
#ifndef SCHEMA_CONVERTER_H
#define SCHEMA_CONVERTER_H

#include <stdint.h>

#include "gbnf.h"
#include "index.h"
#include "lib/base/json.h"
#include "regex.h"
#include "schema.h"

/* Keywords of flat schemas. Their first byte is not UTF-8. */
#define SCHEMA_ANY_OF "\xff" "anyOf"            /* lists of schemas: a value is valid against one of each list */
#define SCHEMA_TYPES "\xff" "types"             /* a set of types, other than those that `type` names */
#define SCHEMA_NOT_ENUM "\xff" "not enum"       /* scalars that are not allowed */
#define SCHEMA_MEMBERS "\xff" "members"         /* schemas with properties, patternProperties, additionalProperties */
#define SCHEMA_HAS "\xff" "has"                 /* like required: names that keywords other than that ask for */
#define SCHEMA_SOME "\xff" "some"               /* a property with that value is there that is not declared: */
#define SCHEMA_OTHER "\xff" "other"             /* the same, about a property that is not declared */
#define SCHEMA_VALUE "\xff" "value"             /* beside properties, patternProperties, pattern: its schema */
#define SCHEMA_ITEMS "\xff" "items"             /* schemas with prefixItems and items */
#define SCHEMA_CONTAINS "\xff" "contains"       /* schemas with contains, minContains, maxContains, SCHEMA_AFTER */
#define SCHEMA_AFTER "\xff" "after"             /* how many items `contains` is not about */
#define SCHEMA_PATTERNS "\xff" "patterns"
#define SCHEMA_NOT_PATTERNS "\xff" "not patterns"
#define SCHEMA_FORMATS "\xff" "formats"
#define SCHEMA_MULTIPLES "\xff" "multiples"
#define SCHEMA_NOT_MULTIPLES "\xff" "not multiples"
#define SCHEMA_NEGATED "\xff" "negated"         /* in an element of these lists: unevaluated... does not count it */

struct schema_path {            /* a place in the document, for messages */
	const struct schema_path *up;
	const char *keyword;            /* NULL at the top */
	const char *name;               /* name[n] below it; NULL: none */
	size_t n;
};

struct converter {
	struct arena arena;             /* the document, flat schemas */
	const struct json *document;    /* where references look */
	struct gbnf g;
	struct index index;             /* children by name; schemas by URI */
	struct index flat;              /* flat schemas, and those made of two, by identity */
	struct index rules;             /* by identity of the schema */
	struct bytes *left_out;         /* NULL: what cannot be expressed is an error */
	struct why *w;
	int failed;                     /* 2: whatever is left out */
	int all_open;                   /* types that are named do not close objects and tuples */
	struct schema_anchor *anchors;  /* refer.c */
	const char *endless;            /* if no value matches it: the schema that has no finite one, or NULL */
	const struct schema_path *path;
	int narrowed;           /* alternatives with properties that a closed object does not declare were left out */
	unsigned work;          /* so far (schema_work()) */
	int depth;              /* of nested schemas, counting references */
	int level;              /* of nested arrays and objects */
};

/* ---- fail.c ---- */

/* Sets the reason, "#/where: ...", unless there is one already; returns -1. */
int schema_fail(struct converter *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what cannot be expressed: "... is not supported" is added. If that is to be left out, notes it and
 * returns 0. */
int schema_refuse(struct converter *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* If what failed last can be left out and is to be: notes that, and returns 1 as if it had not failed. */
int schema_forgive(struct converter *c);

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

/* Writes a schema that is below the current one under keyword, or keyword/name[n]. */
struct gbnf_expr *schema_write(struct converter *c, const struct json *s, const char *keyword, const char *name,
	size_t n);

/* A rule named after the current place; messages call it `label`, if that is not NULL. */
struct gbnf_rule *schema_new_rule(struct converter *c, const char *label);

/* Appends a complete grammar of the schema to out. 0; -1: failed; 1: no value matches the schema. */
int schema_write_grammar(struct converter *c, const struct json *s, struct bytes *out);

void schema_close(struct converter *c);

/* ---- types.c ---- */

/* The types of values as a set of bits. */
enum {
	TYPE_NULL = 1, TYPE_BOOLEAN = 2, TYPE_INTEGER = 4, TYPE_FRACTION = 8, TYPE_STRING = 16, TYPE_ARRAY = 32,
	TYPE_OBJECT = 64, TYPE_NUMBER = TYPE_INTEGER | TYPE_FRACTION, TYPE_ALL = 127
};

enum { SCHEMA_N_TYPES = 7 };
extern const struct schema_type {
	const char *name;
	unsigned types;
} schema_types_by_name[SCHEMA_N_TYPES];   /* in the order in which they are written; number precedes integer */

/* What becomes of two values of a keyword of a flat schema that both must hold. */
enum schema_merged {
	MERGED_TO_EITHER, MERGED_TO_LARGER, MERGED_TO_SMALLER, MERGED_AS_LISTS, MERGED_AS_SCHEMAS,
	MERGED_APART,           /* schema_merge() looks at several keywords */
	REWRITTEN,              /* not in a flat schema */
	ANNOTATION              /* says nothing about values */
};

struct schema_keyword {
	const char *name;
	enum schema_merged merged;
	unsigned types;         /* of the values that it is about; 0: of any */
};

extern const struct schema_keyword schema_keywords[];
extern const size_t schema_n_keywords;

/* The keyword that a member of a schema is. NULL: none that is known. */
const struct schema_keyword *schema_keyword(const struct json *member);

int schema_has_assertion(const struct json *s);         /* a keyword that is no annotation */

/* The types that the keywords of a flat schema other than type, enum and SCHEMA_TYPES are about; 0: none. */
unsigned schema_types_of_keywords(const struct json *s);

unsigned schema_types(struct converter *c, const struct json *s);       /* that a flat schema allows */
unsigned schema_type_of(const struct json *value);              /* of one value: a single bit */
int schema_equal(const struct json *a, const struct json *b);   /* as JSON values; members in the same order */
int schema_is_number(const struct json *v);

/* Whether enum of s, which has it, allows the value. */
int schema_is_constant(struct converter *c, const struct json *s, const struct json *value);

/* Whether the type that is named closes an object or a tuple: nothing is in it that the schema does not ask for. */
int schema_is_closed(const struct converter *c, const struct json *s);

/* ---- make.c ---- */

struct json *schema_make(struct converter *c, enum json_type type);
struct json *schema_make_int(struct converter *c, int64_t i);

/* Adds a shallow copy of the value to an object, or to an array with key NULL. `to` or `value` is NULL if there was no
 * memory for it. */
void schema_add(struct converter *c, struct json *to, const char *key, const struct json *value);
void schema_add_named(struct converter *c, struct json *to, const struct json *like, const struct json *value);

/* What a schema and its shallow copies have in common. */
const void *schema_identity(const struct json *s);

/* A list of one element, and a schema of one keyword. */
struct json *schema_list(struct converter *c, const struct json *element);
struct json *schema_of(struct converter *c, const char *keyword, const struct json *value);

/* A copy without one of the keywords. NULL: failed. */
const struct json *schema_without(struct converter *c, const struct json *s, const char *keyword);

/* The schema of what is valid against both; a may be NULL. The same for the same two. */
const struct json *schema_both(struct converter *c, const struct json *a, const struct json *b);
int schema_is_both(const struct json *s);       /* made by schema_both() */

/* Notes that a schema is flat, and returns it. */
const struct json *schema_is_flat(struct converter *c, const struct json *s);

/* { "not": s }; the same for the same schema. */
const struct json *schema_not(struct converter *c, const struct json *s);

struct json *schema_of_types(struct converter *c, unsigned types);

/* Flat schemas about a property, named like a member or a string: it is absent; an object has it; `to`, which is
 * returned, requires that its value, if it is there, is valid. None of these evaluates it. */
const struct json *schema_absent(struct converter *c, const struct json *name);
struct json *schema_present(struct converter *c, const struct json *name);
const struct json *schema_with_member(struct converter *c, const struct json *name, const struct json *value,
	struct json *to);

/* ---- refer.c ---- */

/* The schema that a reference names, $ref or $dynamicRef. NULL: failed, or to be left out. */
const struct json *schema_follow(struct converter *c, const struct json *reference);

/* Finds the bases of all references of the document. */
void schema_find_bases(struct converter *c);

/* ---- rewrite.c ---- */

/* The flat schema of s. NULL: failed. */
const struct json *schema_flatten(struct converter *c, const struct json *s);

/* ---- unevaluated.c ---- */

/* s is flat but for unevaluatedProperties and unevaluatedItems of the schema `from`, which become others. */
const struct json *schema_evaluate(struct converter *c, const struct json *s, const struct json *from);

/* ---- merge.c ---- */

/* The schema of the values that both allow; all are flat. NULL: failed. */
const struct json *schema_merge(struct converter *c, const struct json *a, const struct json *b);

/* ---- alternatives.c ---- */

struct automaton;
struct workshop;

/* The names that the property of an element of SCHEMA_SOME or SCHEMA_OTHER may have. NULL: failed. */
const struct automaton *schema_names_of_some(struct converter *c, struct workshop *w, const struct json *some);

/* Whether a flat schema has SCHEMA_ANY_OF or SCHEMA_SOME. */
int schema_has_alternatives(const struct json *s);

/* The alternatives of the first list in SCHEMA_ANY_OF, or of the first schema in SCHEMA_SOME, each with all the rest
 * merged in, flat. NULL: failed. */
const struct json *schema_alternatives(struct converter *c, const struct json *s);

/* ---- negate.c ---- */

/* The flat schema of the values that s, which is flat, does not allow. NULL: failed. */
const struct json *schema_negate(struct converter *c, const struct json *s);

/* ---- exclusive.c ---- */

/* The branches of a oneOf, each without what others allow too. NULL: failed. */
const struct json *schema_make_exclusive(struct converter *c, const struct json *branches);

/* ---- one type each ---- */

/* The values of this type that s, which is flat, allows; never if there are none. Types: TYPE_INTEGER, TYPE_FRACTION
 * or both. */
struct gbnf_expr *schema_write_number(struct converter *c, const struct json *s, unsigned types);
struct gbnf_expr *schema_write_string(struct converter *c, const struct json *s);
struct gbnf_expr *schema_write_array(struct converter *c, const struct json *s);
struct gbnf_expr *schema_write_object(struct converter *c, const struct json *s);

/* ---- constants.c ---- */

struct gbnf_expr *schema_write_constants(struct converter *c, const struct json *s);    /* enum */

/* The values of enum that the other keywords of a flat schema allow. NULL: failed. */
const struct json *schema_constants(struct converter *c, const struct json *s);

/* One value, with any white space between its tokens. */
struct gbnf_expr *schema_literal(struct converter *c, const struct json *value);

/* The schema of an array or an object that is equal to the value. */
const struct json *schema_of_value(struct converter *c, const struct json *value);

/* ---- string.c ---- */

/* The strings that s, which need not be flat, allows. NULL: failed, which c or w knows. */
const struct automaton *schema_strings(struct converter *c, struct workshop *w, const struct json *s);

/* ---- pattern.c ---- */

/* Characters as they are spelt inside a JSON string; never if each would need an escape by number. */
struct gbnf_expr *schema_characters(struct converter *c, const struct points *set);

/* Whether the only assertions of a pattern are ^ and $ at the ends of alternatives; then the lengths of the strings. */
int schema_pattern_is_plain(const struct regex *r, struct regex_span *span);

/* If the pattern is nothing but a repetition of one set of characters: it. NULL: it is not. */
struct regex *schema_pattern_repeats(const struct regex *r);

/* A plain pattern as the inside of a JSON string. */
struct gbnf_expr *schema_write_pattern(struct converter *c, const struct regex *r);

#endif
