#include "fields.h"

#include <inttypes.h>

#include "lib/base/members.h"

const struct json *field(const struct job *j, const char *name)
{
	return member_given(j->body, name);
}

int field_bad(struct job *j, const char *name, int status)
{
	j->param = name;
	return status;
}

int field_flag(struct job *j, const char *name, int *to, struct why *w)
{
	const struct json *v = field(j, name);

	if (v && v->type != JSON_TRUE && v->type != JSON_FALSE)
		return field_bad(j, name, why(w, "%s: expected true or false, not %s", name, json_type_name(v)));
	if (v)
		*to = v->type == JSON_TRUE;
	return 0;
}

int field_integer(struct job *j, const char *name, int64_t low, int64_t high, int64_t *to, struct why *w)
{
	const struct json *v = field(j, name);

	if (!v)
		return 0;
	if (v->type != JSON_INT)
		return field_bad(j, name, why(w, "%s: expected an integer, not %s", name,
			v->type == JSON_BIG || v->type == JSON_FLOAT ? v->s : json_type_name(v)));
	if (v->i < low || v->i > high)
		return field_bad(j, name, why(w, "%s: %" PRId64 " is not from %" PRId64 " to %" PRId64, name, v->i, low,
			high));
	*to = v->i;
	return 0;
}

int field_ids(struct job *j, const char *name, const struct json *list, int32_t n_vocab, struct ids *to, struct why *w)
{
	for (const struct json *v = list->child; v; v = v->next) {
		if (v->type != JSON_INT || v->i < 0 || v->i >= n_vocab)
			return field_bad(j, name, why(w, "%s: expected token ids from 0 to %" PRId32, name,
				n_vocab - 1));
		if (ids_add(to, (int32_t)v->i))
			return why(w, "out of memory");
	}
	return 0;
}
