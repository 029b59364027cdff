/* The table of keywords in schema(1) is true: for each keyword there is a schema, a text that its grammar must allow,
 * one that is not valid and must not be allowed, and, where that is so, a valid one that the grammar does not allow and
 * a schema that is refused. If the manual says something else, the table is printed as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lib/grammar/grammar.h"
#include "lib/schema/converter.h"

static const struct row {
	const char *keyword, *schema, *valid, *invalid;
	const char *unwritten;          /* valid, but not allowed; NULL: the grammar allows all that is valid */
	const char *refused;            /* a schema; NULL: every value of the keyword is supported */
} rows[] = {
	{ "type", "{\"type\": \"boolean\"}", "true", "1", NULL, NULL },
	{ "enum", "{\"enum\": [1, \"a\", {\"x\": 1, \"y\": 2}]}", "{\"x\": 1, \"y\": 2}", "\"b\"",
		"{\"y\": 2, \"x\": 1}",
		NULL },
	{ "const", "{\"const\": {\"x\": 1, \"y\": 2}}", "{\"x\": 1, \"y\": 2}", "1", "{\"y\": 2, \"x\": 1}", NULL },
	{ "properties", "{\"type\": \"object\", \"properties\": {\"a\": {\"const\": 1}, \"b\": {}}}",
		"{\"a\": 1, \"b\": 2}",
		"{\"a\": 2}", "{\"b\": 2, \"a\": 1}", NULL },
	{ "required", "{\"required\": [\"a\", \"b\"]}", "{\"a\": 1, \"b\": 2}", "{\"a\": 1}", "{\"b\": 2, \"a\": 1}",
		NULL },
	{ "additionalProperties", "{\"properties\": {\"a\": {}}, \"additionalProperties\": {\"const\": 1}}",
		"{\"a\": 2, \"b\": 1}", "{\"b\": 2}", "{\"b\": 1, \"a\": 2}", NULL },
	{ "patternProperties", "{\"properties\": {\"a\": {}}, \"patternProperties\": {\"^x\": {\"const\": 1}}}",
		"{\"a\": 2, \"x1\": 1}", "{\"x1\": 2}", "{\"x1\": 1, \"a\": 2}",
		NULL },
	{ "propertyNames", "{\"propertyNames\": {\"pattern\": \"^[a-z]$\"}}", "{\"a\": 1}", "{\"aa\": 1}", NULL,
		"{\"not\": {\"propertyNames\": {\"maxLength\": 3}}}" },
	{ "minProperties", "{\"type\": \"object\", \"properties\": {\"a\": {}, \"b\": {}}, \"minProperties\": 2}",
		"{\"a\": 1, \"b\": 2}", "{\"a\": 1}", "{\"a\": 1, \"b\": 2, \"c\": 3}", NULL },
	{ "maxProperties", "{\"maxProperties\": 1}", "{\"a\": 1}", "{\"a\": 1, \"b\": 1}", NULL, NULL },
	{ "unevaluatedProperties", "{\"allOf\": [{\"properties\": {\"a\": {}}}], \"unevaluatedProperties\": false}",
		"{\"a\": 1}", "{\"a\": 1, \"b\": 1}", NULL,
		NULL },
	{ "dependentRequired", "{\"dependentRequired\": {\"a\": [\"b\"]}}", "{\"a\": 1, \"b\": 1}", "{\"a\": 1}",
		"{\"b\": 1, \"a\": 1}", NULL },
	{ "dependentSchemas", "{\"dependentSchemas\": {\"a\": {\"required\": [\"b\"]}}}", "{\"a\": 1, \"b\": 1}",
		"{\"a\": 1}", "{\"b\": 1, \"a\": 1}", NULL },
	{ "dependencies", "{\"dependencies\": {\"a\": [\"b\"], \"b\": {\"required\": [\"a\"]}}}",
		"{\"a\": 1, \"b\": 1}",
		"{\"b\": 1}", "{\"b\": 1, \"a\": 1}", NULL },
	{ "items", "{\"items\": {\"const\": 1}}", "[1, 1]", "[1, 2]", NULL, NULL },
	{ "prefixItems", "{\"type\": \"array\", \"prefixItems\": [{\"const\": 1}, {\"const\": 2}]}", "[1, 2]", "[2]",
		"[1, 2, 3]", NULL },
	{ "additionalItems", "{\"items\": [{\"const\": 1}], \"additionalItems\": false}", "[1]", "[1, 2]", NULL, NULL },
	{ "unevaluatedItems", "{\"allOf\": [{\"prefixItems\": [true]}], \"unevaluatedItems\": false}", "[1]",
		"[1, 2]", NULL,
		NULL },
	{ "contains", "{\"contains\": {\"const\": 1}}", "[0, 1, 1]", "[0]", NULL,
		"{\"contains\": {\"format\": \"date\"}, \"maxContains\": 1}" },
	{ "minContains", "{\"contains\": {\"const\": 1}, \"minContains\": 2}", "[1, 0, 1]", "[1, 0]", NULL, NULL },
	{ "maxContains", "{\"contains\": {\"const\": 1}, \"maxContains\": 1}", "[1, 0]", "[1, 0, 1]", NULL,
		"{\"contains\": {}, \"maxContains\": 100000}" },
	{ "minItems", "{\"minItems\": 2}", "[1, 2]", "[1]", NULL, NULL },
	{ "maxItems", "{\"maxItems\": 1}", "[1]", "[1, 2]", NULL, NULL },
	{ "uniqueItems", "{\"items\": {\"enum\": [1, 2, 3]}, \"uniqueItems\": true}", "[3, 1]", "[1, 1]", NULL,
		"{\"items\": {\"type\": \"string\"}, \"uniqueItems\": true}" },
	{ "minLength", "{\"minLength\": 2}", "\"ab\"", "\"a\"", NULL, NULL },
	{ "maxLength", "{\"maxLength\": 1}", "\"a\"", "\"ab\"", NULL, NULL },
	{ "pattern", "{\"pattern\": \"^\\\\S$\"}", "\"a\"", "\"ab\"", "\"\\u0001\"", "{\"pattern\": \"(a)\\\\1\"}" },
	{ "format", "{\"format\": \"date-time\"}", "\"2024-02-29T12:00:00Z\"", "\"noon\"", "\"2016-12-31T23:59:60Z\"",
		"{\"not\": {\"format\": \"date\"}}" },
	{ "minimum", "{\"minimum\": 0.5}", "0.5", "0.49", "5e-1", NULL },
	{ "maximum", "{\"maximum\": 0.5}", "0.5", "0.51", "5e-1", NULL },
	{ "exclusiveMinimum", "{\"exclusiveMinimum\": 0.5}", "0.51", "0.5", "5.1e-1", NULL },
	{ "exclusiveMaximum", "{\"exclusiveMaximum\": 0.5}", "0.49", "0.5", "4.9e-1", NULL },
	{ "multipleOf", "{\"multipleOf\": 0.25}", "1.75", "1.7", "175e-2", "{\"multipleOf\": 1234567}" },
	{ "allOf", "{\"allOf\": [{\"minLength\": 1}, {\"maxLength\": 2}]}", "\"a\"", "\"abc\"", NULL, NULL },
	{ "anyOf", "{\"anyOf\": [{\"const\": 1}, {\"const\": 2}]}", "2", "3", NULL, NULL },
	{ "oneOf", "{\"oneOf\": [{\"type\": \"integer\"}, {\"type\": \"number\", \"minimum\": 2}]}", "1", "3", NULL,
		"{\"oneOf\": [{\"format\": \"date\"}, {\"format\": \"time\"}]}" },
	{ "not", "{\"not\": {\"type\": \"string\"}}", "1", "\"a\"", NULL, "{\"not\": {\"uniqueItems\": true}}" },
	{ "if", "{\"if\": {\"const\": 1}, \"then\": false}", "2", "1", NULL,
		"{\"if\": {\"format\": \"date\"}, \"then\": {}}" },
	{ "then", "{\"if\": {\"type\": \"string\"}, \"then\": {\"minLength\": 1}}", "1", "\"\"", NULL, NULL },
	{ "else", "{\"if\": {\"type\": \"string\"}, \"else\": {\"minimum\": 1}}", "1", "0", NULL, NULL },
	{ "$ref", "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"const\": 1}}}", "1", "2", NULL,
		"{\"$ref\": \"x.json\"}" },
	{ "$dynamicRef", "{\"$dynamicRef\": \"#a\", \"$defs\": {\"a\": {\"$dynamicAnchor\": \"a\", \"const\": 1}}}",
		"1",
		"2", NULL, "{\"$dynamicRef\": \"x.json#a\"}" },
	{ "nullable", "{\"type\": \"string\", \"nullable\": true}", "null", "1", NULL, NULL },
};

/* ---- one keyword ---- */

/* Appends the grammar; -1: refused. */
static int convert(const char *schema, struct bytes *out)
{
	struct why w;

	*out = (struct bytes){ .limit = GRAMMAR_TEXT };
	return schema_grammar(schema, strlen(schema), NULL, out, &w);
}

static int allows(const char *schema, const char *text)
{
	struct bytes gbnf;
	struct why w = { "" };
	struct grammar *g = convert(schema, &gbnf) ? NULL : grammar_parse(gbnf.p, gbnf.n, &w);
	int allowed = g ? grammar_matches(g, text, strlen(text), &w) : -1;

	grammar_free(g);
	bytes_free(&gbnf);
	return allowed;
}

static const struct row *find_row(const char *keyword)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].keyword, keyword))
			return &rows[i];
	return NULL;
}

static void check_row(const struct row *r)
{
	struct bytes gbnf;

	check(allows(r->schema, r->valid) == 1, "%s: does not allow %s", r->schema, r->valid);
	check(allows(r->schema, r->invalid) == 0, "%s: allows %s", r->schema, r->invalid);
	if (r->unwritten)
		check(allows(r->schema, r->unwritten) == 0, "%s: allows %s now", r->schema, r->unwritten);
	if (r->refused) {
		check(convert(r->refused, &gbnf), "%s: is supported now", r->refused);
		bytes_free(&gbnf);
	}
}

/* An annotation changes nothing. */
static void check_annotation(const char *keyword)
{
	char schema[200];
	struct bytes with, without;

	snprintf(schema, sizeof schema, "{\"type\": \"integer\", \"%s\": {}}", keyword);
	if (check(!convert(schema, &with), "%s is refused", schema)) {
		convert("{\"type\": \"integer\"}", &without);
		check(with.n == without.n && !memcmp(with.p, without.p, with.n), "%s: is no annotation", keyword);
		bytes_free(&without);
	}
	bytes_free(&with);
}

/* ---- the manual ---- */

static const char *standing(const struct row *r)
{
	return r->unwritten && r->refused ? "narrower, some refused" : r->unwritten ? "narrower"
		: r->refused ? "exact, some refused" : "exact";
}

static void check_manual(const struct bytes *table)
{
	static char manual[1 << 16];
	const char *tests = getenv("TESTS");
	char path[1000], *at;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "%s/../sample/schema.1", tests ? tests : "tests");
	f = fopen(path, "r");
	if (!check(f != NULL, "%s cannot be read", path))
		return;
	n = fread(manual, 1, sizeof manual - 1, f);
	fclose(f);
	manual[n] = 0;
	at = strstr(manual, ".It Li type Ta");
	check(at && !strncmp(at, table->p, table->n), "the table of keywords in schema.1 should be:\n%.*s",
		(int)table->n,
		table->p);
}

static void put_line(struct bytes *table, const char *keyword, const char *standing)
{
	char line[200];

	snprintf(line, sizeof line, ".It Li %s Ta %s\n", keyword, standing);
	bytes_puts(table, line);
}

int main(void)
{
	struct bytes table = { .limit = 1 << 16 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		check_row(&rows[i]);
		put_line(&table, rows[i].keyword, standing(&rows[i]));
	}
	for (size_t i = 0; i < schema_n_keywords; i++) {
		const struct schema_keyword *k = &schema_keywords[i];

		if ((unsigned char)*k->name == 0xff)    /* not in documents */
			continue;
		if (k->merged != ANNOTATION) {
			check(find_row(k->name) != NULL, "no row for %s", k->name);
			continue;
		}
		check_annotation(k->name);
		put_line(&table, k->name, "annotation");
	}
	check_annotation("x-anything");
	put_line(&table, "x-...", "annotation");
	check(allows("{\"typ\": \"string\"}", "1") < 0, "an unknown keyword is not refused");
	bytes_puts(&table, ".It others Ta refused\n.El\n");
	check_manual(&table);
	bytes_free(&table);
	return check_end("keywords");
}
