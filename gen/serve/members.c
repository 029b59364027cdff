/* Short forms of json_key() and what follows it. */
#include "members.h"

#include <string.h>

int member_is_text(const struct json *v, const char *key, const char *s)
{
	const char *text = json_get_string(v, key);

	return text && !strcmp(text, s);
}

int member_is(const struct json *v, const char *type)
{
	return member_is_text(v, "type", type);
}

int member_is_true(const struct json *v, const char *key)
{
	v = json_get(v, key);
	return v && v->type == JSON_TRUE;
}

int64_t member_count(const struct json *v, const char *key)
{
	v = json_get(v, key);
	return v && v->type == JSON_INT ? v->i : 0;
}

const struct json *member_first(const struct json *list)
{
	return list && list->type == JSON_ARRAY ? list->child : NULL;
}

struct json_writer members_to(struct bytes *b)
{
	struct json_writer to = json_to_bytes(b);

	to.comma = ",";
	to.colon = ":";
	return to;
}

void member_key(struct json_writer *to, const char *key)
{
	json_name(to, key);
}

void member_bytes(struct json_writer *to, const char *key, const char *s, size_t n)
{
	member_key(to, key);
	json_string(to, s, n);
}

void member_text(struct json_writer *to, const char *key, const char *s)
{
	member_bytes(to, key, s, strlen(s));
}

void member_int(struct json_writer *to, const char *key, int64_t i)
{
	member_key(to, key);
	json_int(to, i);
}

void member_raw(struct json_writer *to, const char *key, const char *json)
{
	member_key(to, key);
	json_raw(to, json);
}

void member_value(struct json_writer *to, const char *key, const struct json *v)
{
	member_key(to, key);
	if (v)
		json_value(to, v);
	else
		json_raw(to, "null");
}

void member_open(struct json_writer *to, const char *key, char bracket)
{
	member_key(to, key);
	json_open(to, bracket);
}

void members_copy(struct json_writer *to, const struct json *v, const char *const *names)
{
	for (; *names; names++) {
		const struct json *member = json_get(v, *names);

		if (member && member->type != JSON_NULL)
			member_value(to, *names, member);
	}
}

void members_raw(struct json_writer *to, const struct bytes *json)
{
	json_raw(to, "");
	if (bytes_put(to->bytes, json->p, json->n))
		to->failed = 1;
}
