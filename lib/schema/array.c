/* Arrays: the first items each by a schema of its own, the others by one, and how many. */
#include "priv.h"

#include <string.h>

/* Draft 2019 and before say items: [...] and additionalItems where 2020-12 says prefixItems and items. */
static int item_schemas(struct schema *c, const struct json *s, const struct json **first, const struct json **others)
{
	const struct json *items = json_get(s, "items");

	*first = json_get(s, "prefixItems");
	*others = items;
	if (*first && (*first)->type != JSON_ARRAY)
		return schema_fail(c, "prefixItems wants an array of schemas");
	if (items && items->type == JSON_ARRAY) {
		if (*first)
			return schema_fail(c, "items beside prefixItems wants one schema");
		*first = items;
		*others = json_get(s, "additionalItems");
	}
	return 0;
}

/* [ a, b, ... ] of the first schemas, as many as there can be; how many in *n. */
static int write_first(struct schema *c, const struct json *first, uint32_t min, uint32_t *max, uint32_t *n, struct bytes *to)
{
	for (const struct json *i = first ? first->child : NULL; i && *n < *max; i = i->next) {
		size_t before = to->n;
		int status = -1;

		if (!*n || (!schema_put(c, to, " \",\"") && !schema_space(c, to)))
			status = schema_write(c, i, "item", 4, to);
		if (!status)
			status = schema_space(c, to);
		if (status < 0)
			return -1;
		if (status == SCHEMA_NEVER) {
			to->n = before;
			*max = *n;
			return *n < min ? SCHEMA_NEVER : 0;
		}
		++*n;
	}
	return 0;
}

/* {low,high} of what was written last, high UINT32_MAX for no bound. */
static int write_count(struct schema *c, uint32_t low, uint32_t high, struct bytes *to)
{
	return high == UINT32_MAX ? schema_print(c, to, "{%u,}", (unsigned)low) : schema_print(c, to, "{%u,%u}", (unsigned)low, (unsigned)high);
}

/* low to high items of one kind, after n others: x ("," x)* and its like. */
static int write_others(struct schema *c, const struct bytes *item, uint32_t n, uint32_t low, uint32_t high, struct bytes *to)
{
	int alone = n == 0, optional = alone && !low;

	if (high == 0)
		return 0;
	if (schema_put(c, to, optional ? " (" : " ") || (alone && schema_append(c, to, item)))
		return -1;
	low -= alone && low;
	high -= alone && high != UINT32_MAX;
	if (high) {
		if (schema_put(c, to, " (\",\"") || schema_space(c, to) || schema_append(c, to, item)
			|| schema_put(c, to, ")") || write_count(c, low, high, to))
			return -1;
	}
	return schema_put(c, to, optional ? ")?" : "");
}

static int write_items(struct schema *c, const struct json *s, uint32_t min, uint32_t max, struct bytes *to)
{
	static const struct json anything = { .type = JSON_TRUE };
	const struct json *first, *others;
	struct bytes item = { .limit = to->limit };
	uint32_t n = 0, low;
	int status;

	if (item_schemas(c, s, &first, &others))
		return -1;
	status = write_first(c, first, min, &max, &n, to);
	if (status)
		return status;
	low = min > n ? min - n : 0;
	if (max != UINT32_MAX)
		max -= n;
	else if (first && !others)
		max = low;              /* what a tuple does not name is left out */
	if (max) {
		status = schema_write(c, others ? others : &anything, "item", 4, &item);
		if (!status)
			status = schema_space(c, &item);
		if (status == SCHEMA_NEVER && !low)
			status = max = 0;
		if (!status)
			status = write_others(c, &item, n, low, max, to);
	}
	bytes_free(&item);
	return status;
}

int schema_write_array(struct schema *c, const struct json *s, struct bytes *to)
{
	struct bytes body = { .limit = to->limit };
	uint32_t min = 0, max = UINT32_MAX;
	const struct json *unique = json_get(s, "uniqueItems");
	const char *name = schema_name(c);
	int status = -1;

	if (!name || schema_count(c, s, "minItems", &min) || schema_count(c, s, "maxItems", &max))
		return -1;
	if (unique && unique->type != JSON_FALSE && max > 1)
		return schema_fail(c, "uniqueItems is not supported");
	if (min > max)
		return SCHEMA_NEVER;
	if (!schema_put(c, &body, "\"[\"") && !schema_space(c, &body))
		status = write_items(c, s, min, max, &body);
	if (!status)
		status = schema_put(c, &body, " \"]\"") || schema_rule(c, name, &body) || schema_put(c, to, name) ? -1 : 0;
	bytes_free(&body);
	return status;
}
