/* json_edit: changes a tree of JSON that the caller owns. */
#ifndef JSON_EDIT_H
#define JSON_EDIT_H

#include "json.h"

/* A copy of a whole tree, which borrows its strings. NULL: memory is short. */
struct json *json_copy(struct arena *a, const struct json *v);

/* The member of an object that json_get() finds, to be changed. json_need(): a new one that is null if there is none;
 * NULL: memory is short. */
struct json *json_find(struct json *object, const char *key);
struct json *json_need(struct arena *a, struct json *object, const char *key);

/* Gives v the type and value of another node, or a string, which is borrowed; its name stays. */
void json_become(struct json *v, const struct json *of);
void json_become_string(struct json *v, const char *s, size_t n);

/* Removes a child, given the one before it, or NULL. */
void json_remove(struct json *parent, struct json *before, struct json *child);

#endif
