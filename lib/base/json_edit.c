/* Nodes are changed where they are, so that their parents and neighbours need not be. */
#include "json_edit.h"

#include <string.h>

struct json *json_find(struct json *object, const char *key)
{
	const struct json *found = json_get(object, key);
	struct json *m = found ? object->child : NULL;

	while (m != found)
		m = m->next;
	return m;
}

struct json *json_copy(struct arena *a, const struct json *v)
{
	struct json *copy = json_new(a, v->type), *child;

	if (!copy)
		return NULL;
	*copy = *v;
	copy->n = v->type == JSON_ARRAY || v->type == JSON_OBJECT ? 0 : v->n;
	copy->child = copy->last = copy->next = NULL;
	for (const struct json *c = v->child; c; c = c->next) {
		if (!(child = json_copy(a, c)))
			return NULL;
		json_add(copy, NULL, child);
		child->key = c->key;
		child->key_n = c->key_n;
	}
	return copy;
}

void json_become(struct json *v, const struct json *of)
{
	struct json was = *v;

	*v = *of;
	v->key = was.key;
	v->key_n = was.key_n;
	v->next = was.next;
}

void json_become_string(struct json *v, const char *s, size_t n)
{
	json_become(v, &(struct json){ .type = JSON_STRING, .s = s, .n = n });
}

struct json *json_need(struct arena *a, struct json *object, const char *key)
{
	struct json *m = json_find(object, key);

	if (!m && (m = json_new(a, JSON_NULL)))
		json_add(object, key, m);
	return m;
}

void json_remove(struct json *parent, struct json *before, struct json *child)
{
	if (before)
		before->next = child->next;
	else
		parent->child = child->next;
	if (parent->last == child)
		parent->last = before;
	parent->n--;
}
