/* members: reads and writes the members of JSON objects; what it writes has no blanks. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include <stdint.h>

#include "lib/base/json.h"

/* Whether v has a member `type`, or another, that is this text. */
int member_is(const struct json *v, const char *type);
int member_is_text(const struct json *v, const char *key, const char *s);

/* Whether v has a member that is true; an integer that is a member, or 0; the first item of a list, or NULL. */
int member_is_true(const struct json *v, const char *key);
int64_t member_count(const struct json *v, const char *key);
const struct json *member_first(const struct json *list);

/* A writer to b, whose limit is set, without blanks between the parts. */
struct json_writer members_to(struct bytes *b);

void member_key(struct json_writer *to, const char *key);
void member_text(struct json_writer *to, const char *key, const char *s);
void member_bytes(struct json_writer *to, const char *key, const char *s, size_t n);
void member_int(struct json_writer *to, const char *key, int64_t i);
void member_raw(struct json_writer *to, const char *key, const char *json);     /* text that is JSON already */
void member_value(struct json_writer *to, const char *key, const struct json *v);       /* NULL: null */
void member_open(struct json_writer *to, const char *key, char bracket);

/* Copies the members of v whose names are in the list, which ends with NULL; those that are null are left out. */
void members_copy(struct json_writer *to, const struct json *v, const char *const *names);

/* The bytes of a buffer as JSON text that is complete. */
void members_raw(struct json_writer *to, const struct bytes *json);

#endif
