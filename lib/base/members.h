/* members: reads and writes the members of JSON objects, each in one call. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include <stdint.h>

#include "json.h"

/* The member `key` of v; NULL if it is missing or null. */
const struct json *member_given(const struct json *v, const char *key);

/* Whether the member `key` of v is this text. member_is(): whether its member "type" is. */
int member_is_text(const struct json *v, const char *key, const char *s);
int member_is(const struct json *v, const char *type);

int member_is_true(const struct json *v, const char *key);
int64_t member_count(const struct json *v, const char *key);     /* 0 if it is missing or not an integer */

/* The first item of a list; NULL if that is empty, or NULL, or not a list. */
const struct json *member_first(const struct json *list);

/* A writer to b, whose limit is set, that puts no blanks after commas and colons. */
struct json_writer members_to(struct bytes *b);

void member_text(struct json_writer *to, const char *key, const char *s);       /* NULL: null */
void member_bytes(struct json_writer *to, const char *key, const char *s, size_t n);    /* n 0: s may be NULL */
void member_int(struct json_writer *to, const char *key, int64_t i);
void member_ints(struct json_writer *to, const char *key, const int32_t *i, size_t n);  /* a list of i[n] */
void member_hash(struct json_writer *to, const char *key, uint64_t hash);       /* as 16 hexadecimal digits */
void member_real(struct json_writer *to, const char *key, double d);    /* as json_real() */
void member_flag(struct json_writer *to, const char *key, int is_true);
void member_null(struct json_writer *to, const char *key);
void member_raw(struct json_writer *to, const char *key, const char *json);     /* text that is JSON already */
void member_value(struct json_writer *to, const char *key, const struct json *v);       /* NULL: null */
void member_open(struct json_writer *to, const char *key, char bracket);        /* until json_close() */
void member_copy(struct json_writer *to, const struct json *member);    /* under its own name */

/* Copies the members of v with these names, a list that ends with NULL; those that are missing or null are left out. */
void members_copy(struct json_writer *to, const struct json *v, const char *const *names);

/* Appends a buffer that holds a complete JSON value. */
void members_raw(struct json_writer *to, const struct bytes *json);

#endif
