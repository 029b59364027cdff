/* Checks a value against each keyword in turn. */
#include "validator.h"

#include <math.h>
#include <regex.h>
#include <string.h>

static const struct json *document;     /* to resolve references */

static int is_number(const struct json *v)
{
	return v->type == JSON_INT || v->type == JSON_BIG || v->type == JSON_FLOAT;
}

static int equal(const struct json *a, const struct json *b)
{
	if (is_number(a) && is_number(b))
		return a->d == b->d;
	if (a->type != b->type || (a->type == JSON_STRING && (a->n != b->n || memcmp(a->s, b->s, a->n))))
		return 0;
	if (a->type == JSON_ARRAY || a->type == JSON_OBJECT) {
		if (a->n != b->n)
			return 0;
		for (const struct json *x = a->child, *y = b->child; x; x = x->next, y = y->next)
			if (!equal(x, y) || (x->key && strcmp(x->key, y->key)))
				return 0;
	}
	return 1;
}

static int is_type(const struct json *v, const char *name)
{
	return !strcmp(name, "null") ? v->type == JSON_NULL
		: !strcmp(name, "boolean") ? v->type == JSON_TRUE || v->type == JSON_FALSE
		: !strcmp(name, "integer") ? is_number(v) && v->d == floor(v->d)
		: !strcmp(name, "number") ? is_number(v)
		: !strcmp(name, "string") ? v->type == JSON_STRING
		: !strcmp(name, "array") ? v->type == JSON_ARRAY : v->type == JSON_OBJECT;
}

static double number_of(const struct json *s, const char *keyword, double otherwise)
{
	const struct json *v = json_get(s, keyword);

	return v ? v->d : otherwise;
}

static int is_valid(const struct json *s, const struct json *v);

static int is_match(const char *pattern, const char *s)
{
	regex_t re;
	int ok;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		return 0;
	ok = !regexec(&re, s, 0, NULL, 0);
	regfree(&re);
	return ok;
}

static int is_valid_string(const struct json *s, const struct json *v)
{
	const char *pattern = json_get_string(s, "pattern"), *format = json_get_string(s, "format");
	double n = 0;

	for (size_t i = 0; i < v->n; i++)
		n += ((unsigned char)v->s[i] & 0xc0) != 0x80;
	if (n < number_of(s, "minLength", 0) || n > number_of(s, "maxLength", HUGE_VAL))
		return 0;
	if (format && !strcmp(format, "date"))
		pattern = "^[0-9]{4}-[01][0-9]-[0-3][0-9]$";
	return !pattern || is_match(pattern, v->s);
}

static int is_unique(const struct json *v)
{
	for (const struct json *i = v->child; i; i = i->next)
		for (const struct json *k = i->next; k; k = k->next)
			if (equal(i, k))
				return 0;
	return 1;
}

static int is_valid_array(const struct json *s, const struct json *v)
{
	const struct json *first = json_get(s, "prefixItems"), *items = json_get(s, "items");
	const struct json *f = first ? first->child : NULL, *contains = json_get(s, "contains");
	double contained = 0;

	if ((double)v->n < number_of(s, "minItems", 0) || (double)v->n > number_of(s, "maxItems", HUGE_VAL))
		return 0;
	for (const struct json *i = v->child; i; i = i->next) {
		const struct json *by = f ? f : items;

		if (by && !is_valid(by, i))
			return 0;
		f = f ? f->next : NULL;
		contained += contains && is_valid(contains, i);
	}
	if (contains && (contained < number_of(s, "minContains", 1) || contained > number_of(s, "maxContains",
		HUGE_VAL)))
		return 0;
	return !json_get(s, "uniqueItems") || is_unique(v);
}

/* A member that `properties` does not declare. */
static int is_valid_other(const struct json *s, const struct json *m)
{
	const struct json *patterns = json_get(s, "patternProperties"), *others = json_get(s, "additionalProperties");
	int known = 0;

	for (const struct json *p = patterns ? patterns->child : NULL; p; p = p->next)
		if (is_match(p->key, m->key)) {
			known = 1;
			if (!is_valid(p, m))
				return 0;
		}
	return known || !others || is_valid(others, m);
}

static int has_dependents(const struct json *s, const struct json *v)
{
	const struct json *dependent = json_get(s, "dependentRequired");

	for (const struct json *d = dependent ? dependent->child : NULL; d; d = d->next)
		for (const struct json *r = json_get(v, d->key) ? d->child : NULL; r; r = r->next)
			if (!json_get(v, r->s))
				return 0;
	return 1;
}

static int is_valid_object(const struct json *s, const struct json *v)
{
	const struct json *properties = json_get(s, "properties"), *required = json_get(s, "required");
	double n = 0;

	for (const struct json *m = v->child; m; m = m->next) {
		const struct json *p = properties ? json_get(properties, m->key) : NULL;

		if (json_get(v, m->key) != m && p)      /* a property twice */
			return 0;
		if (json_get(v, m->key) != m)
			continue;
		n++;
		if (p ? !is_valid(p, m) : !is_valid_other(s, m))
			return 0;
	}
	if (n < number_of(s, "minProperties", 0) || n > number_of(s, "maxProperties", HUGE_VAL) || !has_dependents(s,
		v))
		return 0;
	for (const struct json *r = required ? required->child : NULL; r; r = r->next)
		if (!json_get(v, r->s))
			return 0;
	return 1;
}

static int is_valid_number(const struct json *s, const struct json *v)
{
	return v->d >= number_of(s, "minimum", -HUGE_VAL) && v->d <= number_of(s, "maximum", HUGE_VAL)
		&& v->d > number_of(s, "exclusiveMinimum", -HUGE_VAL)
		&& v->d < number_of(s, "exclusiveMaximum", HUGE_VAL)
		&& (!json_get(s, "multipleOf") || fmod(v->d, json_get(s, "multipleOf")->d) == 0);
}

static int count_valid(const struct json *list, const struct json *v)
{
	int n = 0;

	for (const struct json *b = list->child; b; b = b->next)
		n += is_valid(b, v);
	return n;
}

static int is_valid(const struct json *s, const struct json *v)
{
	const struct json *x;
	int ok = 0;

	if (s->type != JSON_OBJECT)
		return s->type == JSON_TRUE;
	if ((x = json_get(s, "$ref"))) {
		const struct json *target = strlen(x->s) > 8 ? json_get(json_get(document, "$defs"), x->s + 8)
			: document;

		if (!target || !is_valid(target, v))
			return 0;
	}
	if ((x = json_get(s, "type"))) {
		if (x->type == JSON_STRING)
			ok = is_type(v, x->s);
		else
			for (const struct json *t = x->child; t; t = t->next)
				ok |= is_type(v, t->s);
		if (!ok)
			return 0;
	}
	if ((x = json_get(s, "const")) && !equal(x, v))
		return 0;
	if ((x = json_get(s, "enum"))) {
		ok = 0;
		for (const struct json *e = x->child; e; e = e->next)
			ok |= equal(e, v);
		if (!ok)
			return 0;
	}
	if ((x = json_get(s, "anyOf")) && !count_valid(x, v))
		return 0;
	if ((x = json_get(s, "oneOf")) && count_valid(x, v) != 1)
		return 0;
	if ((x = json_get(s, "allOf")) && count_valid(x, v) != (int)x->n)
		return 0;
	if ((x = json_get(s, "not")) && is_valid(x, v))
		return 0;
	if ((x = json_get(s, "if"))) {
		x = json_get(s, is_valid(x, v) ? "then" : "else");
		if (x && !is_valid(x, v))
			return 0;
	}
	return v->type == JSON_STRING ? is_valid_string(s, v) : v->type == JSON_ARRAY ? is_valid_array(s, v)
		: v->type == JSON_OBJECT ? is_valid_object(s, v) : is_number(v) ? is_valid_number(s, v) : 1;
}

int validator_allows(const struct json *schema, const struct json *value)
{
	document = schema;
	return is_valid(schema, value);
}
