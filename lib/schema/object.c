/* Objects: properties in their order, optional ones left out at will, and others where they may be. */
#include "priv.h"

#include "lib/base/grow.h"
#include "lib/base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1000 };         /* of a property's name that other names must differ from */

struct property {
	const char *name;               /* name[n] */
	size_t n;
	const char *rule;               /* of "name": value */
	int required;
};

struct object {
	struct property *property;      /* those that can be there */
	size_t n, room;
	const char *others;             /* the rule of any other "name": value, or NULL */
};

static int put_colon(struct schema *c, struct bytes *to)
{
	return schema_space(c, to) || schema_put(c, to, "\":\"") || schema_space(c, to) ? -1 : 0;
}

/* ---- names of other properties ---- */

static int by_name(const void *x, const void *y)
{
	const struct property *a = x, *b = y;
	int c = memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);

	return c ? c : (a->n > b->n) - (a->n < b->n);
}

/* The rule of all ways to go on that end in none of the names p[n], which are sorted and agree in their first `depth` bytes. */
static const char *write_unlike(struct schema *c, const struct property *p, size_t n, size_t depth)
{
	struct bytes body = { .limit = c->out->limit }, not = { .limit = c->out->limit };
	const char *name = schema_name(c), *after;
	size_t first = 0;
	int bad = !name;

	while (first < n && p[first].n == depth)
		first++;
	for (size_t i = first, end; i < n && !bad; i = end) {
		unsigned used;
		uint32_t point = (uint32_t)utf8_next(p[i].name + depth, p[i].n - depth, &used);

		for (end = i; end < n && p[end].n >= depth + used && !memcmp(p[end].name + depth, p[i].name + depth, used); end++)
			;
		if (point < 0x20 || point == '"' || point == '\\' || point == 0x7f)
			continue;       /* comes escaped alone, and other names hold no escapes */
		after = write_unlike(c, p + i, end - i, depth + used);
		bad = !after || schema_print(c, &body, "[\\U%08X] %s | ", (unsigned)point, after) || schema_print(c, &not, "\\U%08X", (unsigned)point);
	}
	bad = bad || schema_put(c, &body, "[^\"\\\\\\x7F\\x00-\\x1F") || schema_append(c, &body, &not) || schema_put(c, &body, "] ")
		|| schema_primitive(c, &body, SCHEMA_PLAIN) || schema_put(c, &body, first ? "*" : "* | \"\"") || schema_rule(c, name, &body);
	bytes_free(&body);
	bytes_free(&not);
	return bad ? NULL : name;
}

/* A name that is none of the declared properties' (those that cannot be there included) nor of those that are required without a declaration. */
static int write_other_name(struct schema *c, const struct json *declared, const struct object *o, struct bytes *to)
{
	size_t n = 0, all = (declared ? declared->n : 0) + o->n;
	struct property *list;
	const char *rule;

	if (!all)
		return schema_primitive(c, to, SCHEMA_STRING);
	list = calloc(all, sizeof *list);
	if (!list)
		return schema_fail(c, "no memory");
	for (const struct json *m = declared ? declared->child : NULL; m; m = m->next)
		list[n++] = (struct property){ .name = m->key, .n = m->key_n };
	for (size_t i = 0; i < o->n; i++)
		list[n++] = o->property[i];
	for (size_t i = 0; i < n; i++)
		if (list[i].n > NAME_MAX_BYTES) {
			free(list);
			return schema_fail(c, "a property's name of more than %d bytes beside additionalProperties", NAME_MAX_BYTES);
		}
	qsort(list, n, sizeof *list, by_name);
	rule = write_unlike(c, list, n, 0);
	free(list);
	return !rule || schema_put(c, to, "\"\\\"\" ") || schema_put(c, to, rule) || schema_put(c, to, " \"\\\"\"") ? -1 : 0;
}

/* Sets the rule of properties beside those found, where there may be any. */
static int find_others(struct schema *c, const struct json *s, struct object *o)
{
	const struct json *others = json_get(s, "additionalProperties");
	struct bytes body = { .limit = c->out->limit };
	int status = -1;

	if (!others || others->type == JSON_FALSE)
		return 0;
	if (!write_other_name(c, json_get(s, "properties"), o, &body) && !put_colon(c, &body))
		status = schema_write(c, others, "additionalProperties", 20, &body);
	if (!status)
		status = schema_space(c, &body);
	if (!status)
		status = (o->others = schema_name(c)) && !schema_rule(c, o->others, &body) ? 0 : -1;
	bytes_free(&body);
	return status == SCHEMA_NEVER ? 0 : status;
}

/* ---- properties ---- */

static int is_required(const struct json *s, const char *name, size_t n)
{
	const struct json *list = json_get(s, "required");

	for (const struct json *r = list ? list->child : NULL; r; r = r->next)
		if (r->type == JSON_STRING && r->n == n && !memcmp(r->s, name, n))
			return 1;
	return 0;
}

/* One property's rule. One that no value holds to is left out, if it can be. */
static int add_property(struct schema *c, struct object *o, const char *name, size_t n, const struct json *schema, int required)
{
	struct json key = { .type = JSON_STRING, .s = name, .n = n };
	struct schema_spot spot = { c->spot, name, n };
	struct bytes body = { .limit = c->out->limit };
	int status = -1;

	if (o->n == o->room && grow(&o->property, &o->room, sizeof *o->property, 16))
		return schema_fail(c, "no memory");
	if (!schema_literal(c, &body, &key) && !put_colon(c, &body))
		status = schema_write(c, schema, name, n, &body);
	if (!status)
		status = schema_space(c, &body);
	if (!status) {
		struct property p = { .name = name, .n = n, .required = required };

		c->spot = &spot;
		p.rule = schema_name(c);
		c->spot = spot.up;
		status = p.rule && !schema_rule(c, p.rule, &body) ? 0 : -1;
		o->property[o->n++] = p;
	}
	bytes_free(&body);
	return status == SCHEMA_NEVER && !required ? 0 : status;
}

static int known(const struct object *o, const char *name, size_t n)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->property[i].n == n && !memcmp(o->property[i].name, name, n))
			return 1;
	return 0;
}

static int find_properties(struct schema *c, const struct json *s, struct object *o)
{
	static const struct json anything = { .type = JSON_TRUE };
	const struct json *declared = json_get(s, "properties"), *required = json_get(s, "required"), *others = json_get(s, "additionalProperties");
	int status = 0;

	if (declared && declared->type != JSON_OBJECT)
		return schema_fail(c, "properties wants an object of schemas");
	if (required && required->type != JSON_ARRAY)
		return schema_fail(c, "required wants an array of names");
	for (const struct json *p = declared ? declared->child : NULL; p && !status; p = p->next)
		status = known(o, p->key, p->key_n) ? schema_fail(c, "the property \"%.60s\" is there twice", p->key)
			: add_property(c, o, p->key, p->key_n, p, is_required(s, p->key, p->key_n));
	for (const struct json *r = required ? required->child : NULL; r && !status; r = r->next) {
		if (r->type != JSON_STRING)
			return schema_fail(c, "required wants an array of names");
		if (!known(o, r->s, r->n))
			status = others && others->type == JSON_FALSE ? SCHEMA_NEVER : add_property(c, o, r->s, r->n, others ? others : &anything, 1);
	}
	return status;
}

/* ---- the object ---- */

static int put_next(struct schema *c, const char *rule, struct bytes *to)
{
	return schema_put(c, to, "\",\"") || schema_space(c, to) || schema_put(c, to, rule) ? -1 : 0;
}

/* What follows once a property is there: those from the i-th on, each with its comma, then others. */
static int write_rest(struct schema *c, const struct object *o, size_t i, struct bytes *to)
{
	for (; i < o->n; i++)
		if (schema_put(c, to, o->property[i].required ? " " : " (") || put_next(c, o->property[i].rule, to)
			|| schema_put(c, to, o->property[i].required ? "" : ")?"))
			return -1;
	if (!o->others)
		return 0;
	return schema_put(c, to, " (") || put_next(c, o->others, to) || schema_put(c, to, ")*") ? -1 : 0;
}

/* Any of the properties up to the first required one may be the first that is there. What follows the i-th is a rule, each leading to the next. */
static int write_members(struct schema *c, const struct object *o, struct bytes *to)
{
	struct bytes body = { .limit = c->out->limit };
	const char *after = NULL;
	size_t last = 0;
	int bad = 0, none;

	while (last < o->n && !o->property[last].required)
		last++;
	none = last == o->n;            /* none of them need be there */
	bad = schema_put(c, to, "(");
	for (size_t i = none ? o->n : last + 1; i-- > 0 && !bad; ) {
		const char *name = schema_name(c);

		bad = !name;
		if (!bad && !after)
			bad = write_rest(c, o, i + 1, &body);
		else if (!bad)
			bad = schema_put(c, &body, o->property[i + 1].required ? "" : "(") || put_next(c, o->property[i + 1].rule, &body)
				|| schema_put(c, &body, o->property[i + 1].required ? " " : ")? ") || schema_put(c, &body, after);
		if (!bad && !body.n)
			bad = schema_put(c, &body, "\"\"");
		bad = bad || schema_rule(c, name, &body) || schema_put(c, to, o->property[i].rule) || schema_put(c, to, " ") || schema_put(c, to, name)
			|| schema_put(c, to, i || (none && o->others) ? " | " : "");
		after = name;
	}
	if (!bad && none && o->others)
		bad = schema_put(c, to, o->others) || schema_put(c, to, " (") || put_next(c, o->others, to) || schema_put(c, to, ")*");
	bytes_free(&body);
	return bad ? -1 : schema_put(c, to, ")");
}

static int write_object(struct schema *c, const struct json *s, struct object *o, struct bytes *body)
{
	size_t required = 0;
	int status;

	if (!json_get(s, "properties") && !json_get(s, "required") && !json_get(s, "additionalProperties"))
		return schema_primitive(c, body, SCHEMA_OBJECT);
	status = find_properties(c, s, o);
	if (!status)
		status = find_others(c, s, o);
	if (status)
		return status;
	for (size_t i = 0; i < o->n; i++)
		required += (size_t)o->property[i].required;
	if (schema_put(c, body, "\"{\"") || schema_space(c, body))
		return -1;
	if ((o->n || o->others) && (schema_put(c, body, required ? " " : " (") || write_members(c, o, body) || schema_put(c, body, required ? "" : ")?")))
		return -1;
	return schema_put(c, body, " \"}\"");
}

int schema_write_object(struct schema *c, const struct json *s, struct bytes *to)
{
	struct bytes body = { .limit = c->out->limit };
	struct object o = { 0 };
	const char *name = schema_name(c);
	int status = name ? write_object(c, s, &o, &body) : -1;

	if (!status)
		status = schema_rule(c, name, &body) || schema_put(c, to, name) ? -1 : 0;
	free(o.property);
	bytes_free(&body);
	return status;
}
