/* Arrays: the first items with a schema each, further items with a common one, and their number. */
#include "converter.h"

static const struct json anything = { .type = JSON_TRUE };

/* Drafts up to 2019-09 have items (an array) and additionalItems in place of prefixItems and items. */
static void item_schemas(struct converter *c, const struct json *s, const struct json **first,
	const struct json **others)
{
	const struct json *items = json_get(s, "items");

	*first = json_get(s, "prefixItems");
	*others = items;
	if (*first && (*first)->type != JSON_ARRAY) {
		schema_fail(c, "prefixItems must be an array of schemas");
	} else if (items && items->type == JSON_ARRAY) {
		if (*first)
			schema_fail(c, "items beside prefixItems must be one schema");
		*first = items;
		*others = json_get(s, "additionalItems");
	}
}

/* Adds as many of the first items as there can be, at most *max; returns how many. */
static uint32_t write_first(struct converter *c, const struct json *first, uint32_t *max, struct gbnf_expr *out)
{
	uint32_t n = 0;

	for (const struct json *i = first ? first->child : NULL; i && n < *max && !c->failed; i = i->next) {
		struct gbnf_expr *item = schema_write(c, i, "item", 4);

		if (gbnf_is_never(item))
			*max = n;
		else
			gbnf_add(&c->g, out, gbnf_join(&c->g, n++ ? ",_%_" : "%_", item));
	}
	return n;
}

/* low to high items of one kind, the first of them with a comma before it if `more` of others are there. */
static struct gbnf_expr *repeat_item(struct gbnf *g, struct gbnf_expr *item, int more, uint32_t low, uint32_t high)
{
	struct gbnf_expr *next = gbnf_join(g, ",_%_", item);

	if (more || !high)
		return gbnf_repeat(g, next, low, high);
	next = gbnf_repeat(g, next, low ? low - 1 : 0, high == GBNF_FOREVER ? high : high - 1);
	return gbnf_repeat(g, gbnf_join(g, "%_%", item, next), low > 0, 1);
}

static struct gbnf_expr *write_items(struct converter *c, const struct json *s, uint32_t min, uint32_t max)
{
	struct gbnf_expr *out = gbnf_sequence(&c->g), *item;
	const struct json *first, *others;
	uint32_t n, low;

	item_schemas(c, s, &first, &others);
	n = c->failed ? 0 : write_first(c, first, &max, out);
	if (n == max && min > n)
		return gbnf_never();
	low = min > n ? min - n : 0;
	if (max != GBNF_FOREVER)
		max -= n;
	else if (first && !others)
		max = low;              /* a tuple has no further items unless minItems requires them */
	if (!max || c->failed)
		return out;
	item = schema_write(c, others ? others : &anything, "item", 4);
	gbnf_add(&c->g, out, repeat_item(&c->g, item, n > 0, low, max));
	return out;
}

struct gbnf_expr *schema_write_array(struct converter *c, const struct json *s)
{
	uint32_t min = schema_count(c, s, "minItems", 0), max = schema_count(c, s, "maxItems", GBNF_FOREVER);
	const struct json *unique = json_get(s, "uniqueItems");
	struct gbnf_rule *rule = gbnf_rule(&c->g, c->path->name, c->path->n, NULL);

	if (unique && unique->type != JSON_FALSE && max > 1)
		schema_fail(c, "uniqueItems is not supported");
	if (min > max || c->failed)
		return gbnf_never();
	gbnf_define(&c->g, rule, gbnf_join(&c->g, "[_%]", write_items(c, s, min, max)));
	return gbnf_use(&c->g, rule);
}
