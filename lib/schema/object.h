/* object: what the parts that write objects share. Private to lib/schema. */
#ifndef SCHEMA_OBJECT_H
#define SCHEMA_OBJECT_H

#include "converter.h"
#include "language.h"

struct schema_property {
	const char *name;               /* name[n] */
	size_t n;
	const struct json *schema;
	struct gbnf_expr *member;       /* "name": value; once it is written */
	int required;
};

struct object_schema {
	struct converter *c;
	struct workshop *w;
	const struct json *s;           /* flat */
	const struct json *lists;       /* SCHEMA_MEMBERS; may be NULL */
	struct schema_property *property;       /* those with a name */
	size_t n, room;
	int is_closed;                  /* no other properties, unless a pattern matches their name */
	const struct automaton **pattern;       /* of all patternProperties, in order; NULL: there are none */
	size_t n_patterns;
	const struct automaton *names;  /* that are allowed at all; NULL: any */
	uint32_t min, max;
	struct gbnf_expr *others;       /* a further "name": value, or never */
	struct gbnf_expr *last;         /* if it is not NULL: another one, which must be there */
};

/* ---- names.c ---- */

/* Finds the patterns and the allowed names. */
void object_read_names(struct object_schema *o);

/* The schema of the property name[n], or NULL if its name is not allowed. */
const struct json *object_schema_of(struct object_schema *o, const char *name, size_t n);

/* The members whose names are none of those in o->property. */
struct gbnf_expr *object_write_others(struct object_schema *o);

/* Those of them with one of the names and a value that is also valid against a schema. */
struct gbnf_expr *object_write_some(struct object_schema *o, const struct automaton *names, const struct json *value);

/* ---- object.c ---- */

/* A rule for a member: name, colon, value and the white space after it. */
struct gbnf_expr *object_write_member(struct converter *c, struct gbnf_expr *name, const struct json *schema,
	const char *keyword, const char *word, size_t n);

/* ---- members.c ---- */

/* All members, in order: those with a name, and then the others. */
struct gbnf_expr *object_write_members(struct object_schema *o);

#endif
