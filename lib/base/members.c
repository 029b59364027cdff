/* Short forms of json_get(), and of json_name() and what follows it. */
#include "members.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

const struct json *member_given(const struct json *v, const char *key)
{
	v = json_get(v, key);
	return v && v->type != JSON_NULL ? v : NULL;
}

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

/* ---- writing ---- */

struct json_writer members_to(struct bytes *b)
{
	struct json_writer to = json_to_bytes(b);

	to.comma = ",";
	to.colon = ":";
	return to;
}

void member_raw(struct json_writer *to, const char *key, const char *json)
{
	json_name(to, key);
	json_raw(to, json);
}

void member_null(struct json_writer *to, const char *key)
{
	member_raw(to, key, "null");
}

void member_flag(struct json_writer *to, const char *key, int is_true)
{
	member_raw(to, key, is_true ? "true" : "false");
}

void member_bytes(struct json_writer *to, const char *key, const char *s, size_t n)
{
	json_name(to, key);
	json_string(to, n ? s : "", n);
}

void member_text(struct json_writer *to, const char *key, const char *s)
{
	if (s)
		member_bytes(to, key, s, strlen(s));
	else
		member_null(to, key);
}

void member_int(struct json_writer *to, const char *key, int64_t i)
{
	json_name(to, key);
	json_int(to, i);
}

void member_ints(struct json_writer *to, const char *key, const int32_t *i, size_t n)
{
	member_open(to, key, '[');
	for (size_t k = 0; k < n; k++)
		json_int(to, i[k]);
	json_close(to, ']');
}

void member_hash(struct json_writer *to, const char *key, uint64_t hash)
{
	char digits[17];

	snprintf(digits, sizeof digits, "%016" PRIx64, hash);
	member_text(to, key, digits);
}

void member_real(struct json_writer *to, const char *key, double d)
{
	json_name(to, key);
	json_real(to, d);
}

void member_value(struct json_writer *to, const char *key, const struct json *v)
{
	if (!v) {
		member_null(to, key);
		return;
	}
	json_name(to, key);
	json_value(to, v);
}

void member_open(struct json_writer *to, const char *key, char bracket)
{
	json_name(to, key);
	json_open(to, bracket);
}

void member_copy(struct json_writer *to, const struct json *member)
{
	json_key(to, member->key, member->key_n);
	json_value(to, member);
}

void members_copy(struct json_writer *to, const struct json *v, const char *const *names)
{
	for (; *names; names++) {
		const struct json *member = member_given(v, *names);

		if (member)
			member_value(to, *names, member);
	}
}

void members_raw(struct json_writer *to, const struct bytes *json)
{
	json_raw(to, "");
	if (bytes_put(to->bytes, json->p, json->n))
		to->failed = 1;
}
