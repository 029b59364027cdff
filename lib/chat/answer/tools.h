/* tools: what the variables of a template say about tools, and the types of their arguments. */
#ifndef TOOLS_H
#define TOOLS_H

#include "lib/base/json.h"
#include "pattern.h"

/* Whether there is a tool. Templates have several names for the list of them, so every list is looked at. */
int tools_any(const struct json *variables);

/* Whether the tool is declared; sets *parameters to the schema of its arguments, or NULL. */
int tools_find(const struct json *variables, struct span name, const struct json **parameters);

/* The next tool with a name that none before it has: the name and *parameters, as above. 0: there are no more. */
struct tools_at {                       /* starts as zeros */
	const struct json *list, *tool;
};
int tools_next(const struct json *variables, struct tools_at *at, struct span *name, const struct json **parameters);

/* The schema of a member of an object, or of the items of a list; NULL: none. schema may be NULL. */
const struct json *schema_member(const struct json *schema, struct span key);
const struct json *schema_items(const struct json *schema);

/* The types that a schema admits, a sum of 1 << enum json_type where numbers are JSON_INT and JSON_FLOAT; 0: any. */
unsigned value_types(const struct json *schema);

/* Appends the value that a model wrote as plain text, as JSON: of one of the types if it can be, else a string. */
int value_put(struct span text, unsigned types, struct bytes *out);

/* Appends the text as part of a JSON string, without quotes. */
void value_put_escaped(const char *s, size_t n, struct bytes *out);

#endif
