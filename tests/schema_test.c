/* Schemas: the texts that their grammars allow, errors and their messages, and random schemas: every text
 * generated under one is JSON and valid against it (validator.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grammar/grammar.h"
#include "lib/grammar/mask.h"
#include "lib/base/json.h"
#include "lib/schema/schema.h"
#include "check.h"
#include "mkrandom.h"
#include "mkschema.h"
#include "validator.h"

/* The grammar of a schema; NULL with the reason. */
static struct grammar *grammar_of(const char *schema, size_t n, struct bytes *text, struct why *w)
{
	struct grammar *g;

	*text = (struct bytes){ .limit = GRAMMAR_TEXT };
	if (schema_grammar(schema, n, NULL, text, w))
		return NULL;
	g = grammar_parse(text->p, text->n, w);
	if (!g)
		why_in(w, "the grammar");
	return g;
}

/* ---- tables ---- */

struct verdict {
	const char *text;
	int allowed;
};

static void allows(const char *schema, const struct verdict *t)
{
	struct why w = { "" };
	struct bytes text;
	struct grammar *g = grammar_of(schema, strlen(schema), &text, &w);

	if (check(g != NULL, "%s\n  %s", schema, w.text))
		for (; t->text; t++)
			check(grammar_matches(g, t->text, strlen(t->text), &w) == t->allowed, "%s\n  %s: %s\n%.*s",
				schema, t->allowed ? "refuses" : "allows", t->text, (int)text.n, text.p);
	grammar_free(g);
	bytes_free(&text);
}

#define ALLOWS(schema, ...) allows(schema, (const struct verdict[]){ __VA_ARGS__, { NULL, 0 } })

static void test_scalars(void)
{
	ALLOWS("true", { "1", 1 }, { "{\"a\": [true, null]}", 1 }, { "", 0 },
		{ "1 ", 1 }, { " \"a\"\n\t", 1 }, { "  1", 0 });
	ALLOWS("{}", { "[]", 1 }, { "\"x\"", 1 });
	ALLOWS("{\"type\": \"boolean\", \"title\": \"T\", \"x-y\": 1}", { "true", 1 }, { "false", 1 }, { "null", 0 });
	ALLOWS("{\"type\": [\"string\", \"null\"]}", { "null", 1 }, { "\"\\u00e9\\n\xc3\xa9\"", 1 }, { "1", 0 },
		{ "\"\\ud83d\"", 0 }, { "\"\\ud83d\\uDE00\"", 1 }, { "\"\n\"", 0 });
	ALLOWS("{\"type\": \"string\", \"minLength\": 2, \"maxLength\": 3}", { "\"a\"", 0 }, { "\"a\xc3\xa9\"", 1 },
		{ "\"\\ud83d\\ude00bc\"", 1 }, { "\"abcd\"", 0 });
	ALLOWS("{\"type\": \"string\", \"minLength\": 2}", { "\"a\"", 0 }, { "\"abcdefgh\"", 1 });
	ALLOWS("{\"enum\": [\"a\\\"b\", 1, null, {\"x\": [1.50]}]}", { "\"a\\\"b\"", 1 }, { "1", 1 }, { "null", 1 },
		{ "{\"x\": [1.5]}", 1 }, { "2", 0 });
	ALLOWS("{\"type\": \"string\", \"enum\": [\"a\", 1]}", { "\"a\"", 1 }, { "1", 0 });
	ALLOWS("{\"type\": [\"string\", \"integer\"], \"enum\": [\"a\", \"bcd\", 5, 50, null], \"pattern\": \"^b|z\","
		" \"minimum\": 10}", { "\"a\"", 0 }, { "\"bcd\"", 1 }, { "5", 0 }, { "50", 1 }, { "null", 0 });
	ALLOWS("{\"const\": \"x\"}", { "\"x\"", 1 }, { "\"y\"", 0 });
	ALLOWS("{\"type\": \"integer\"}", { "0", 1 }, { "-12", 1 }, { "01", 0 }, { "-0", 0 }, { "1.5", 0 },
		{ "9223372036854775807", 1 }, { "9223372036854775808", 0 }, { "-9223372036854775807", 1 },
		{ "1.0", 1 }, { "1.00", 0 }, { "-3.0", 1 });
	ALLOWS("{\"type\": \"number\"}", { "0", 1 }, { "-1.5e-7", 1 }, { ".5", 0 }, { "1.", 0 }, { "1e5", 1 });
	ALLOWS("{\"type\": \"number\", \"multipleOf\": 1}", { "3", 1 }, { "3.5", 0 });
	ALLOWS("{\"type\": \"number\", \"minimum\": 0, \"maximum\": 1}", { "0", 1 }, { "1", 1 }, { "0.5", 1 },
		{ "1.0", 1 }, { "1.01", 0 }, { "-0.1", 0 });
	ALLOWS("{\"type\": \"number\", \"exclusiveMinimum\": 0, \"exclusiveMaximum\": 1}", { "0", 0 }, { "1", 0 },
		{ "0.5", 1 }, { "0.0", 0 }, { "0.01", 1 });
	ALLOWS("{\"type\": \"number\", \"minimum\": -90, \"maximum\": 90}", { "-90", 1 }, { "-90.0", 1 },
		{ "-90.1", 0 }, { "89.99", 1 }, { "90.5", 0 }, { "-0.5", 1 });
	ALLOWS("{\"type\": \"number\", \"exclusiveMaximum\": -3}", { "-3", 0 }, { "-3.5", 1 }, { "-2.9", 0 },
		{ "-400", 1 }, { "5", 0 }, { "-3.0", 0 });
	/* nothing that a reader of doubles rounds to an excluded bound */
	ALLOWS("{\"type\": \"number\", \"exclusiveMinimum\": 694, \"exclusiveMaximum\": 696}",
		{ "695.9999999999999999", 0 }, { "694.0000000000000001", 0 }, { "695.999999999999", 1 },
		{ "694.000000000001", 1 }, { "696", 0 }, { "694", 0 }, { "694.0", 0 }, { "695", 1 });
	ALLOWS("{\"type\": \"number\", \"exclusiveMinimum\": 9999999999999998}", { "9999999999999999", 1 },
		{ "9999999999999999.5", 1 }, { "9999999999999998.1", 0 });
}

/* Every integer near the bounds, and around the powers of ten. */
static void test_ranges(void)
{
	static const long bounds[] = { -1234, -1000, -999, -100, -10, -9, -1, 0, 1, 7, 9, 10, 11, 99, 100, 105, 999,
		1000, 1042, 12345 };
	size_t n = sizeof bounds / sizeof *bounds;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++) {
			char schema[100], text[24];
			struct bytes gbnf;
			struct why w = { "" };
			struct grammar *g;
			int wrong = 0;

			snprintf(schema, sizeof schema, "{\"type\": \"integer\", \"minimum\": %ld, \"maximum\": %ld}",
				bounds[i], bounds[k]);
			g = grammar_of(schema, strlen(schema), &gbnf, &w);
			for (long v = -1300; g && v < 13000; v += v < 1300 ? 1 : 997) {
				snprintf(text, sizeof text, "%ld", v);
				wrong += grammar_matches(g, text, strlen(text), &w)
					!= (bounds[i] <= v && v <= bounds[k]);
			}
			check(g && !wrong, "%s: %d numbers are judged wrongly %s", schema, wrong, w.text);
			grammar_free(g);
			bytes_free(&gbnf);
		}
	ALLOWS("{\"type\": \"integer\", \"minimum\": 18}", { "17", 0 }, { "18", 1 }, { "9999999999999999", 1 },
		{ "-20", 0 });
	ALLOWS("{\"type\": \"integer\", \"exclusiveMaximum\": 0}", { "-1", 1 }, { "0", 0 }, { "-9999999999999999", 1 });
	ALLOWS("{\"type\": \"integer\", \"format\": \"int32\"}", { "2147483647", 1 }, { "2147483648", 0 },
		{ "-2147483648", 1 }, { "-2147483649", 0 });
	ALLOWS("{\"type\": \"integer\", \"minimum\": -99999999999999999999, \"maximum\": 1e3}", { "1000", 1 },
		{ "1001", 0 }, { "-5", 1 });
}

static void test_strings(void)
{
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^[a-c]{2}(-\\\\d+)?$\"}", { "\"ab\"", 1 }, { "\"ab-12\"", 1 },
		{ "\"ab-\"", 0 }, { "\"xab\"", 0 }, { "\"abx\"", 0 });
	ALLOWS("{\"pattern\": \"b+\"}", { "\"abba\\n\"", 1 }, { "\"a\"", 0 }, { "\"b\"", 1 }, { "b", 0 });
	ALLOWS("{\"pattern\": \"^a|b$\"}", { "\"axx\"", 1 }, { "\"xxb\"", 1 }, { "\"xax\"", 0 });
	ALLOWS("{\"pattern\": \"^(?:a|(?<n>b*?))\\\\.\\\\/[^x\\\\d\\\"]\\\\s?$\"}", { "\"a./y\"", 1 },
		{ "\"bb./\\t\\n\"", 1 }, { "\"./x\"", 0 }, { "\"./3\"", 0 }, { "\"./\\\"\"", 0 });
	ALLOWS("{\"pattern\": \"^[\\\"\\\\\\\\\\\\]-]\\\\u00e9\\\\x41\\\\uD83D\\\\uDE00.$\"}",
		{ "\"\\\"\xc3\xa9" "A\xf0\x9f\x98\x80z\"", 1 }, { "\"\\\\\xc3\xa9" "A\xf0\x9f\x98\x80z\"", 1 },
		{ "\"]\xc3\xa9" "A\xf0\x9f\x98\x80\\n\"", 0 });
	ALLOWS("{\"pattern\": \"^[A-Z]{3}$\", \"minLength\": 3, \"maxLength\": 5}", { "\"ABC\"", 1 });
	ALLOWS("{\"format\": \"date\"}", { "\"2024-02-29\"", 1 }, { "\"2023-02-29\"", 0 }, { "\"2000-02-29\"", 1 },
		{ "\"1900-02-29\"", 0 }, { "\"2023-04-31\"", 0 }, { "\"2023-12-31\"", 1 }, { "\"2023-13-01\"", 0 },
		{ "\"2023-00-10\"", 0 });
	ALLOWS("{\"type\": \"string\", \"format\": \"time\"}", { "\"23:59:59Z\"", 1 }, { "\"24:00:00Z\"", 0 },
		{ "\"12:00:00.25+02:00\"", 1 });
	ALLOWS("{\"format\": \"date-time\"}", { "\"2024-02-29T12:00:00Z\"", 1 }, { "\"2024-02-29 12:00:00Z\"", 0 });
	ALLOWS("{\"format\": \"uuid\"}", { "\"123e4567-e89b-12d3-a456-426614174000\"", 1 }, { "\"123e4567\"", 0 });
	ALLOWS("{\"format\": \"email\"}", { "\"a.b@example.org\"", 1 }, { "\"a.b\"", 0 }, { "\"@x.y\"", 0 });
	ALLOWS("{\"format\": \"ipv4\"}", { "\"192.168.0.255\"", 1 }, { "\"192.168.0.256\"", 0 }, { "\"1.2.3\"", 0 });
	ALLOWS("{\"format\": \"email\", \"maxLength\": 254}", { "\"a@xn--a.org\"", 0 });
	ALLOWS("{\"format\": \"hostname\", \"maxLength\": 253}", { "\"a\"", 1 }, { "\"ab\"", 1 }, { "\"a-b\"", 1 },
		{ "\"a-b-c.d1.example\"", 1 }, { "\"a--b\"", 1 }, { "\"ab--c\"", 0 }, { "\"xn--X\"", 0 },
		{ "\"XN--aa---o47jg78q\"", 0 }, { "\"x.xn--4gbwdl.y\"", 0 }, { "\"-a\"", 0 }, { "\"a-\"", 0 },
		{ "\"a-.b\"", 0 }, { "\"ab-\"", 0 }, { "\"ab-c\"", 1 }, { "\"ab-c-\"", 0 }, { "\"a..b\"", 0 },
		{ "\"1.2.3.4\"", 1 }, { "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123\"", 1 },
		{ "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1234\"", 0 },
		{ "\"aa-aaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123\"", 1 },
		{ "\"aa-aaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1234\"", 0 });
	ALLOWS("{\"format\": \"uri\"}", { "\"https://xn--a.org/\"", 0 },
		{ "\"https://example.org/a/b?c=%20d\"", 1 }, { "\"example.org\"", 0 });
}

static void test_arrays(void)
{
	ALLOWS("{\"type\": \"array\"}", { "[]", 1 }, { "[1, \"a\"]", 1 }, { "[\n  1,\n  2\n]", 1 }, { "[1,]", 0 });
	ALLOWS("{\"items\": {\"type\": \"boolean\"}}", { "[]", 1 }, { "[true,false]", 1 }, { "[1]", 0 });
	ALLOWS("{\"items\": {\"const\": 1}, \"minItems\": 2, \"maxItems\": 3}", { "[1]", 0 }, { "[1,1]", 1 },
		{ "[1,1,1]", 1 }, { "[1,1,1,1]", 0 });
	ALLOWS("{\"items\": {\"const\": 1}, \"maxItems\": 1}", { "[]", 1 }, { "[1]", 1 }, { "[1,1]", 0 });
	ALLOWS("{\"items\": {\"const\": 1}, \"maxItems\": 0}", { "[]", 1 }, { "[1]", 0 });
	ALLOWS("{\"type\": \"array\", \"prefixItems\": [{\"const\": 1}, {\"const\": 2}]}", { "[1,2]", 1 }, { "[1]",
		0 }, { "[1,2,3]", 0 });
	ALLOWS("{\"prefixItems\": [{\"const\": 1}, {\"const\": 2}], \"items\": {\"const\": 3}, \"minItems\": 3}",
		{ "[1,2]", 0 }, { "[1,2,3]", 1 }, { "[1,2,3,3]", 1 });
	ALLOWS("{\"prefixItems\": [{\"const\": 1}, {\"const\": 2}], \"maxItems\": 1}", { "[1]", 1 }, { "[1,2]", 0 });
	ALLOWS("{\"items\": [{\"const\": 1}], \"additionalItems\": false}", { "[1]", 1 }, { "[1,2]", 0 });
	ALLOWS("{\"type\": \"array\", \"items\": false}", { "[]", 1 }, { "[1]", 0 });
	ALLOWS("{\"type\": \"array\", \"prefixItems\": [{\"const\": 1}, false]}", { "[1]", 1 }, { "[]", 0 });
	ALLOWS("{\"prefixItems\": [{\"const\": 1}, {\"const\": 2}]}", { "[]", 1 }, { "[1]", 1 }, { "[1,2,\"x\"]", 1 },
		{ "[2]", 0 }, { "[1,1]", 0 }, { "2", 1 });
}

static void test_objects(void)
{
	ALLOWS("{\"type\": \"object\"}", { "{}", 1 }, { "{\"a\": {\"b\": []}}", 1 }, { "[]", 0 });
	ALLOWS("{\"type\": \"object\", \"properties\": {}}", { "{}", 1 }, { "{\"a\": 1}", 0 });
	ALLOWS("{\"properties\": {}}", { "{\"a\": 1}", 1 }, { "[]", 1 });
	ALLOWS("{\"properties\": {\"a\": {\"const\": 1}, \"b\": {\"const\": 2}, \"c\": {\"const\": 3}}}", { "{}", 1 },
		{ "{\"a\":1,\"c\":3}", 1 }, { "{\"b\": 2}", 1 }, { "{\"a\":1,\"b\":2,\"c\":3}", 1 },
		{ "{\"b\":2,\"a\":1}", 0 }, { "{\"a\":1,}", 0 }, { "{,\"a\":1}", 0 }, { "{\"c\":3,\"c\":3}", 0 });
	ALLOWS("{\"properties\": {\"a\": {\"const\": 1}, \"b\": {\"const\": 2}, \"c\": {\"const\": 3}},"
		" \"required\": [\"b\"]}", { "{}", 0 }, { "{\"b\": 2}", 1 }, { "{\"a\":1,\"b\":2,\"c\":3}", 1 },
		{ "{\"a\":1}", 0 }, { "{\"a\":1,\"c\":3}", 0 }, { "{\"b\":2,\"c\":3}", 1 });
	ALLOWS("{\"properties\": {\"a\": {\"const\": 1}}, \"required\": [\"a\", \"z\"]}", { "{\"a\":1,\"z\":[]}", 1 },
		{ "{\"a\":1}", 0 });
	ALLOWS("{\"properties\": {\"a\\\"\xc3\xa9\": {\"const\": 1}}}", { "{\"a\\\"\xc3\xa9\": 1}", 1 });
	ALLOWS("{\"additionalProperties\": {\"const\": 1}}", { "{}", 1 }, { "{\"x\":1,\"\":1}", 1 },
		{ "{\"x\":2}", 0 });
	ALLOWS("{\"properties\": {\"ab\": {\"const\": 1}, \"ac\": {\"const\": 1}, \"\xc3\xa9\": false},"
		" \"additionalProperties\": {\"const\": 2}}", { "{\"ab\":1,\"x\":2}", 1 }, { "{\"x\":2}", 1 },
		{ "{\"ab\":2}", 0 }, { "{\"a\":2,\"abc\":2,\"\":2,\"ad\":2}", 1 }, { "{\"ac\":1,\"ab\":2}", 0 },
		{ "{\"\xc3\xa9\":2}", 0 }, { "{\"\xc3\xa8\":2}", 1 }, { "{\"a\\u0062\":2}", 0 },
		{ "{\"ab\":1,\"ac\":1,\"y\":2,\"z\":2}", 1 });
	ALLOWS("{\"properties\": {\"a\": {\"const\": 1}}, \"required\": [\"a\", \"q\"],"
		" \"additionalProperties\": {\"const\": 2}}", { "{\"a\":1,\"q\":2}", 1 },
		{ "{\"a\":1,\"q\":2,\"q\":2}", 0 }, { "{\"a\":1,\"q\":2,\"r\":2}", 1 });
	ALLOWS("{\"properties\": {\"a\": false, \"b\": true}, \"additionalProperties\": false}",
		{ "{\"b\": null}", 1 }, { "{\"a\": 1}", 0 }, { "{}", 1 });
}

/* White space between any two tokens and around the text, in constants too. */
static void test_space(void)
{
	static const struct verdict pairs[] = { { "{\"a\":1,\"b\":[2,{\"c\":3}]}", 1 },
		{ " { \"a\" : 1 , \"b\" : [ 2 , { \"c\" : 3 } ] } ", 1 },
		{ "\n{\n\t\"a\"\n:\n  1\n,\n\"b\"\n:\n[\n2\n,\n{\n\"c\"\n:\n3\n}\n]\n}\n", 1 },
		{ "{\"a\":1,\"b\":[2,{\"c\":4}]}", 0 }, { "{\"a\":1,\"b\":[2,{\"c\":3}],}", 0 },
		{ "{\"a\"  :1,\"b\":[2,{\"c\":3}]}", 0 }, { NULL, 0 } };

	allows("{\"const\": {\"a\": 1, \"b\": [2, {\"c\": 3}]}}", pairs);
	allows("{\"enum\": [{\"a\": 1, \"b\": [2, {\"c\": 3}]}, []]}", pairs);
	allows("{\"properties\": {\"a\": {\"const\": 1}, \"b\": {\"prefixItems\": [{\"const\": 2},"
		" {\"properties\": {\"c\": {\"const\": 3}}}]}}}", pairs);
	allows("{\"additionalProperties\": {\"anyOf\": [{\"const\": 1}, {\"items\": {\"anyOf\": [{\"const\": 2},"
		" {\"required\": [\"c\"],\"additionalProperties\": {\"const\": 3}}]}}]}}", pairs);
	ALLOWS("true", { " [ 1 , { \"a\" : [ ] } ] ", 1 }, { "[\n1\n\t,\n2]", 1 });
	ALLOWS("{\"items\": {\"const\": 1}, \"minItems\": 2}", { "[ 1 , 1 , 1 ]", 1 }, { "[ ]", 0 });
	ALLOWS("{\"items\": {\"const\": 1}, \"maxItems\": 2}", { "[ 1 , 1 ]", 1 }, { "[ ]", 1 }, { "[ 1 ,]", 0 });
}

static void test_combined(void)
{
	ALLOWS("{\"$ref\": \"#/%24defs/a%20%C3%A9%2Fb%7E1\", \"$defs\": {\"a \xc3\xa9\": {\"b/\": {\"const\": 1}}}}",
		{ "1", 1 }, { "2", 0 });
	ALLOWS("{\"$ref\": \"#/$defs/100%\", \"$defs\": {\"100%\": {\"const\": 1}}}", { "1", 1 }, { "2", 0 });
	ALLOWS("{\"$ref\": \"#/$defs/100%25\", \"$defs\": {\"100%\": {\"const\": 1}}}", { "1", 1 }, { "2", 0 });
	ALLOWS("{\"anyOf\": [{\"type\": \"integer\"}, {\"type\": \"string\"}, false]}", { "1", 1 }, { "\"a\"", 1 },
		{ "null", 0 });
	ALLOWS("{\"properties\": {\"a\": {\"const\": 1}, \"b\": {\"const\": 2}}, \"anyOf\": [{\"required\": [\"a\"]},"
		" {\"required\": [\"b\"]}]}", { "{\"a\":1}", 1 }, { "{\"b\":2}", 1 }, { "{\"a\":1,\"b\":2}", 1 },
		{ "{}", 0 });
	ALLOWS("{\"type\": \"object\", \"oneOf\": [{\"properties\": {\"k\": {\"const\": \"a\"}, \"x\": {\"const\": 1}},"
		" \"required\": [\"k\"]}, {\"properties\": {\"k\": {\"const\": \"b\"}, \"y\": {\"const\": 2}},"
		" \"required\": [\"k\"]}]}", { "{\"k\":\"a\",\"x\":1}", 1 }, { "{\"k\":\"b\",\"x\":1}", 0 },
		{ "{\"k\":\"b\"}", 1 });
	ALLOWS("{\"oneOf\": [{\"const\": 1}, {\"enum\": [2, \"x\"]}, {\"type\": \"string\", \"enum\": [\"y\"]},"
		" {\"type\": \"array\"}, {\"type\": [\"boolean\", \"null\"]}, false]}", { "1", 1 }, { "2", 1 },
		{ "\"x\"", 1 }, { "\"y\"", 1 }, { "[]", 1 }, { "null", 1 }, { "3", 0 });
	ALLOWS("{\"oneOf\": [{\"properties\": {\"a\": {}}, \"required\": [\"a\"]}, {\"properties\": {\"b\": {}},"
		" \"required\": [\"b\"]}]}", { "{\"a\":1}", 1 }, { "{\"b\":1}", 1 }, { "{}", 0 });
	ALLOWS("{\"oneOf\": [{\"type\": \"object\", \"properties\": {\"k\": {\"const\": 1}}, \"required\": [\"k\"],"
		" \"additionalProperties\": true},{\"type\": \"object\", \"properties\": {\"k\": {\"const\": 2}},"
		" \"required\": [\"k\"], \"additionalProperties\": true}]}", { "{\"k\":1,\"x\":0}", 1 },
		{ "{\"k\":3}", 0 });
	ALLOWS("{\"oneOf\": [{\"type\": \"integer\", \"maximum\": 3}, {\"type\": \"integer\", \"minimum\": 7},"
		" {\"type\": \"null\"}]}", { "3", 1 }, { "5", 0 }, { "7", 1 });
	ALLOWS("{\"allOf\": [{\"properties\": {\"a\": {\"type\": \"integer\"}}, \"required\": [\"a\"]},"
		" {\"properties\": {\"b\": {\"const\": 2}, \"a\": {\"minimum\": 5}}}]}", { "{\"a\":5,\"b\":2}", 1 },
		{ "{\"a\":4}", 0 }, { "{\"a\":9}", 1 }, { "{\"b\":2}", 0 });
	ALLOWS("{\"allOf\": [{\"enum\": [1, 2, 3]}, {\"enum\": [2, 3, 4]}], \"type\": \"integer\"}", { "1", 0 },
		{ "2", 1 }, { "4", 0 });
	ALLOWS("{\"allOf\": [{\"type\": [\"integer\", \"null\"]}, {\"type\": \"number\", \"minimum\": 3},"
		" {\"maximum\": 4, \"minimum\": 1}]}", { "2", 0 }, { "3", 1 }, { "5", 0 }, { "null", 0 });
	ALLOWS("{\"allOf\": [{\"properties\": {\"a\": {\"const\": 1}}, \"additionalProperties\": false},"
		" {\"properties\": {\"b\": {\"const\": 2}}}]}", { "{\"a\":1}", 1 }, { "{\"b\":2}", 0 });
	ALLOWS("{\"$ref\": \"#/$defs/n\", \"$defs\": {\"n\": {\"properties\": {\"v\": {\"const\": 1},"
		" \"next\": {\"$ref\": \"#/$defs/n\"}}, \"required\": [\"v\"]}}}", { "{\"v\":1}", 1 },
		{ "{\"v\":1,\"next\":{\"v\":1,\"next\":{\"v\":1}}}", 1 }, { "{\"v\":1,\"next\":{}}", 0 });
	/* what can only contain itself is left out where it may be */
	ALLOWS("{\"properties\": {\"a\": {\"$ref\": \"#/$defs/d\"}, \"b\": {\"const\": 1}},"
		" \"$defs\": {\"d\": {\"properties\": {\"d\": {\"$ref\": \"#/$defs/d\"}},\"required\": [\"d\"]}}}",
		{ "{}", 1 }, { "{\"b\":1}", 1 }, { "{\"a\":{}}", 0 });
	ALLOWS("{\"anyOf\": [{\"items\": {\"$ref\": \"#\"}, \"minItems\": 1}, {\"const\": 0}]}", { "0", 1 },
		{ "[[0],[0,0]]", 1 }, { "[]", 0 }, { "[[]]", 0 });
	ALLOWS("{\"type\": \"object\", \"properties\": {\"c\": {\"type\": \"array\", \"items\": {\"$ref\": \"#\"}}}}",
		{ "{\"c\":[{},{\"c\":[]}]}", 1 }, { "{\"c\":[1]}", 0 });
	ALLOWS("{\"properties\": {\"c\": {\"$ref\": \"#/definitions/a~1b~0/0\", \"description\": \"d\"}},"
		" \"definitions\": {\"a/b~\": [{\"const\": 7}]}}", { "{\"c\":7}", 1 });
	ALLOWS("{\"properties\": {\"c\": {\"allOf\": [{\"$ref\": \"#/$defs/s\"}], \"default\": \"x\"}},"
		" \"$defs\": {\"s\": {\"enum\": [\"x\", \"y\"]}}}", { "{\"c\":\"y\"}", 1 });
}

/* ---- what was refused once ---- */

static void test_numbers(void)
{
	ALLOWS("{\"type\": \"number\", \"minimum\": 0.1, \"exclusiveMaximum\": 0.35}", { "0.1", 1 },
		{ "0.09", 0 }, { "0.34999", 1 }, { "0.35", 0 }, { "0.350", 0 });
	ALLOWS("{\"type\": \"number\", \"minimum\": -2.5}", { "-2.5", 1 }, { "-2.50", 1 }, { "-2.51", 0 },
		{ "-2", 1 }, { "123456.75", 1 });
	ALLOWS("{\"type\": \"integer\", \"multipleOf\": 15}", { "30", 1 }, { "45.0", 1 }, { "-15", 1 },
		{ "0", 1 }, { "20", 0 });
	ALLOWS("{\"type\": \"number\", \"multipleOf\": 0.01}", { "4.02", 1 }, { "4.020", 0 }, { "4.021", 0 },
		{ "7", 1 }, { "0.5", 1 });
	ALLOWS("{\"allOf\": [{\"multipleOf\": 3}, {\"multipleOf\": 5}, {\"type\": \"integer\"}]}", { "15", 1 },
		{ "3", 0 }, { "5", 0 });
	ALLOWS("{\"type\": \"integer\", \"minimum\": -9223372036854775808, \"maximum\": 9223372036854775807}",
		{ "9223372036854775807", 1 }, { "-9223372036854775808", 1 }, { "9223372036854775808", 0 },
		{ "-9223372036854775809", 0 });
	ALLOWS("{\"type\": \"integer\", \"format\": \"uint8\"}", { "255", 1 }, { "256", 0 }, { "-1", 0 });
	ALLOWS("{\"type\": \"number\", \"minimum\": 5, \"exclusiveMinimum\": true}", { "5", 0 }, { "5.1", 1 });
	ALLOWS("{\"type\": \"number\", \"not\": {\"type\": \"integer\"}}", { "1.5", 1 }, { "1", 0 },
		{ "1.0", 0 });
	ALLOWS("{\"type\": \"number\", \"not\": {\"enum\": [0, 2.5]}}", { "0", 0 }, { "-0", 0 }, { "0.0", 0 },
		{ "2.50", 0 }, { "2.51", 1 });
}

static void test_combined_strings(void)
{
	ALLOWS("{\"type\": \"string\", \"format\": \"uuid\", \"pattern\": \"^[0-9a-f]{8}-.*0$\"}",
		{ "\"123e4567-e89b-12d3-a456-426614174000\"", 1 },
		{ "\"123e4567-e89b-12d3-a456-426614174001\"", 0 },
		{ "\"123E4567-e89b-12d3-a456-426614174000\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^[a-z]+(-[0-9]+)?$\", \"minLength\": 3, \"maxLength\":"
		" 5}", { "\"abc\"", 1 }, { "\"ab\"", 0 }, { "\"a-1\"", 1 }, { "\"ab-123\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^a+$\", \"maxLength\": 5}", { "\"aaaaa\"", 1 },
		{ "\"aaaaaa\"", 0 }, { "\"\"", 0 });
	ALLOWS("{\"type\": \"string\", \"format\": \"uri\", \"minLength\": 1, \"maxLength\": 2083}",
		{ "\"https://example.org/a\"", 1 });
	ALLOWS("{\"type\": \"string\", \"format\": \"email\", \"maxLength\": 40}", { "\"a@example.org\"", 1 });
	ALLOWS("{\"allOf\": [{\"pattern\": \"^a\"}, {\"pattern\": \"b$\"}], \"type\": \"string\"}",
		{ "\"ab\"", 1 }, { "\"a\"", 0 }, { "\"axb\"", 1 });
	ALLOWS("{\"type\": \"string\", \"not\": {\"pattern\": \"^a\"}}", { "\"b\"", 1 }, { "\"ab\"", 0 },
		{ "\"\"", 1 });
	ALLOWS("{\"type\": \"string\", \"not\": {\"const\": \"ab\"}}", { "\"ab\"", 0 }, { "\"a\\u0062\"", 0 },
		{ "\"abc\"", 1 }, { "\"\\u0061\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^(?!.*\\\\.\\\\.)[a-z.]+$\"}", { "\"a.b\"", 1 },
		{ "\"a..b\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^(?=.*[A-Z])(?=.*\\\\d)[A-Za-z\\\\d]{3,}$\"}",
		{ "\"aB1\"", 1 }, { "\"ab1\"", 0 }, { "\"B1\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^[a-z]+(?<!x)$\"}", { "\"ab\"", 1 }, { "\"ax\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"\\\\bfoo\\\\b\"}", { "\"a foo b\"", 1 }, { "\"foo\"", 1 },
		{ "\"afoo\"", 0 }, { "\"foob\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"foo(?!bar)$|^$\"}", { "\"foo\"", 1 }, { "\"\"", 1 },
		{ "\"foobar\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^\\\\p{Lu}\\\\p{L}*$\"}", { "\"Été\"", 1 },
		{ "\"été\"", 0 }, { "\"A1\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"(^a|b$)\"}", { "\"ax\"", 1 }, { "\"xb\"", 1 },
		{ "\"xax\"", 0 });
	ALLOWS("{\"type\": \"string\", \"pattern\": \"^\\\\u{1F600}\\\\cA?$\"}", { "\"😀\"", 1 });
	ALLOWS("{\"type\": \"string\", \"format\": \"ipv6\"}", { "\"::1\"", 1 }, { "\"1:2:3:4:5:6:7:8\"", 1 },
		{ "\"fe80::1:2\"", 1 }, { "\"1::2::3\"", 0 }, { "\"1:2:3:4:5:6:7\"", 0 });
	ALLOWS("{\"type\": \"string\", \"format\": \"duration\"}", { "\"P1Y2M3DT4H5M6S\"", 1 }, { "\"P\"", 0 },
		{ "\"PT\"", 0 }, { "\"P7W\"", 1 }, { "\"P1S\"", 0 });
	ALLOWS("{\"type\": \"string\", \"format\": \"json-pointer\"}", { "\"/a~1b\"", 1 }, { "\"a\"", 0 },
		{ "\"\"", 1 });
	ALLOWS("{\"type\": \"string\", \"format\": \"klingon\"}", { "\"nuqneH\"", 1 }, { "1", 0 });
}

static void test_combined_objects(void)
{
	ALLOWS("{\"type\": \"object\", \"propertyNames\": {\"type\": \"string\"}, \"additionalProperties\":"
		" {\"type\": \"integer\"}}", { "{\"a\":1}", 1 }, { "{\"a\":\"b\"}", 0 });
	ALLOWS("{\"type\": \"object\", \"propertyNames\": {\"enum\": [\"a\", \"b\"]},"
		" \"additionalProperties\": {\"type\": \"integer\"}}", { "{\"b\":1}", 1 }, { "{\"c\":1}", 0 });
	ALLOWS("{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"null\"}}, \"patternProperties\":"
		" {\"^x_\": {\"type\": \"integer\"}, \"_s$\": {\"maximum\": 3}}, \"additionalProperties\":"
		" false}", { "{\"a\":null,\"x_1\":5,\"x_s\":3}", 1 }, { "{\"x_s\":4}", 0 }, { "{\"y\":1}", 0 });
	ALLOWS("{\"type\": \"object\", \"properties\": {\"a\": {}, \"b\": {}, \"c\": {}}, \"minProperties\":"
		" 2, \"maxProperties\": 2}", { "{\"a\":1,\"c\":1}", 1 }, { "{\"a\":1}", 0 },
		{ "{\"a\":1,\"b\":1,\"c\":1}", 0 });
	ALLOWS("{\"type\": \"object\", \"additionalProperties\": {\"const\": 1}, \"minProperties\": 1,"
		" \"maxProperties\": 2}", { "{}", 0 }, { "{\"a\":1}", 1 }, { "{\"a\":1,\"b\":1,\"c\":1}", 0 });
	ALLOWS("{\"type\": \"object\", \"properties\": {\"a\": {}, \"b\": {}}, \"dependentRequired\": {\"a\":"
		" [\"b\"]}}", { "{}", 1 }, { "{\"b\":1}", 1 }, { "{\"a\":1}", 0 }, { "{\"a\":1,\"b\":1}", 1 });
	ALLOWS("{\"type\": \"object\", \"properties\": {\"k\": {\"enum\": [\"x\", \"y\"]}, \"v\": {}},"
		" \"required\": [\"k\"], \"if\": {\"properties\": {\"k\": {\"const\": \"x\"}}}, \"then\":"
		" {\"required\": [\"v\"]}}", { "{\"k\":\"x\"}", 0 }, { "{\"k\":\"x\",\"v\":1}", 1 },
		{ "{\"k\":\"y\"}", 1 });
	ALLOWS("{\"allOf\": [{\"properties\": {\"a\": {}}}, {\"anyOf\": [{\"properties\": {\"b\": {}},"
		" \"required\": [\"b\"]}, {}]}], \"type\": \"object\", \"unevaluatedProperties\": false}",
		{ "{\"a\":1}", 1 }, { "{\"a\":1,\"b\":1}", 1 }, { "{\"c\":1}", 0 });
	ALLOWS("{\"type\": \"object\", \"additionalProperties\": true, \"not\": {\"additionalProperties\":"
		" {\"type\": \"string\"}}}", { "{\"a\":1}", 1 }, { "{\"a\":\"b\"}", 0 }, { "{}", 0 });
	ALLOWS("{\"oneOf\": [{\"type\": \"object\", \"properties\": {\"a\": {}}, \"additionalProperties\":"
		" false}, {\"type\": \"object\", \"properties\": {\"b\": {}}, \"additionalProperties\":"
		" false}]}", { "{\"a\":1}", 1 }, { "{\"b\":1}", 1 }, { "{}", 0 });
}

static void test_combined_arrays(void)
{
	ALLOWS("{\"type\": \"array\", \"items\": {\"enum\": [\"a\", \"b\", \"c\"]}, \"uniqueItems\": true,"
		" \"minItems\": 1}", { "[\"c\",\"a\"]", 1 }, { "[\"a\",\"b\",\"a\"]", 0 }, { "[]", 0 },
		{ "[\"a\",\"b\",\"c\"]", 1 });
	ALLOWS("{\"type\": \"array\", \"items\": {\"type\": \"integer\"}, \"contains\": {\"minimum\": 5},"
		" \"minContains\": 2, \"maxContains\": 3}", { "[1,5,6]", 1 }, { "[5]", 0 }, { "[5,6,7,8]", 0 },
		{ "[5,1,6,1,7]", 1 });
	ALLOWS("{\"type\": \"array\", \"not\": {\"items\": {\"type\": \"integer\"}}}", { "[1,\"a\"]", 1 },
		{ "[1]", 0 }, { "[]", 0 });
	ALLOWS("{\"prefixItems\": [{\"const\": 1}], \"type\": \"array\", \"items\": {\"type\": \"string\"},"
		" \"not\": {\"maxItems\": 1}}", { "[1,\"a\"]", 1 }, { "[1]", 0 });
}

static void test_rewritten(void)
{
	ALLOWS("{\"maxLength\": 2}", { "\"abc\"", 0 }, { "123", 1 }, { "{\"a\":[]}", 1 });
	ALLOWS("{\"type\": \"string\", \"nullable\": true}", { "null", 1 }, { "\"a\"", 1 }, { "1", 0 });
	ALLOWS("{\"not\": {\"type\": [\"string\", \"null\"]}}", { "1", 1 }, { "null", 0 }, { "\"a\"", 0 },
		{ "true", 1 });
	ALLOWS("{\"not\": {\"const\": null}, \"type\": [\"null\", \"boolean\"]}", { "true", 1 }, { "null", 0 });
	ALLOWS("{\"not\": {\"const\": {\"a\": [1]}}}", { "{\"a\":[1]}", 0 }, { "{\"a\":[2]}", 1 },
		{ "{\"a\":[1],\"b\":1}", 1 }, { "[1]", 1 });
	ALLOWS("{\"type\": [\"integer\", \"string\"], \"if\": {\"type\": \"integer\"}, \"then\": {\"minimum\":"
		" 3}, \"else\": {\"minLength\": 2}}", { "3", 1 }, { "2", 0 }, { "\"ab\"", 1 }, { "\"a\"", 0 });
	ALLOWS("{\"oneOf\": [{\"type\": \"integer\", \"multipleOf\": 3}, {\"type\": \"integer\","
		" \"multipleOf\": 5}]}", { "3", 1 }, { "10", 1 }, { "15", 0 }, { "0", 0 }, { "7", 0 });
	ALLOWS("{\"anyOf\": [{\"minimum\": 5}, {\"maximum\": 1}], \"allOf\": [{\"anyOf\": [{\"multipleOf\":"
		" 2}, {\"const\": 7}]}], \"type\": \"integer\"}", { "7", 1 }, { "6", 1 }, { "0", 1 }, { "3", 0 },
		{ "9", 0 });
	ALLOWS("{\"$id\": \"http://a.example/x/main.json\", \"$ref\": \"sub.json#n\", \"$defs\": {\"s\":"
		" {\"$id\": \"sub.json\", \"$defs\": {\"t\": {\"$anchor\": \"n\", \"const\": 1}}}}}", { "1", 1 },
		{ "2", 0 });
	ALLOWS("{\"$dynamicAnchor\": \"node\", \"type\": \"object\", \"properties\": {\"c\": {\"type\":"
		" \"array\", \"items\": {\"$dynamicRef\": \"#node\"}}}, \"unevaluatedProperties\": false}",
		{ "{\"c\":[{}]}", 1 }, { "{\"c\":[{\"d\":1}]}", 0 });
	ALLOWS("{\"name\": \"n\", \"strict\": true, \"schema\": {\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\":"
		" {\"const\": 1}}}}", { "1", 1 }, { "2", 0 });
	ALLOWS("{\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"schema\": {\"const\": 1}}}",
		{ "1", 1 }, { "2", 0 });
}

static void refuses(const char *schema, const char *reason)
{
	struct why w = { "" };
	struct bytes text;
	struct grammar *g = grammar_of(schema, strlen(schema), &text, &w);

	check(!g && !strcmp(w.text, reason), "%s\n  says: %s\n  not:  %s", schema, g ? "nothing" : w.text, reason);
	grammar_free(g);
	bytes_free(&text);
}

static void test_errors(void)
{
	refuses("{\"type\": }", "line 1, column 10: not a JSON value");
	refuses("[]", "#: a schema is an object, true or false");
	refuses("false", "#: no value matches this schema");
	refuses("{\"type\": \"text\"}", "#: \"text\" is not a type");
	refuses("{\"properties\": {\"a\": {\"items\": {\"not\": {\"format\": \"date\"}}}}}",
		"#/properties/a/items: format in a schema that must not hold is not supported");
	refuses("{\"requird\": []}", "#: the keyword \"requird\" is not supported");
	refuses("{\"type\": \"array\", \"uniqueItems\": true}", "#:"
		" uniqueItems of items that may have more than 8 values is not supported");
	refuses("{\"type\": \"integer\", \"minimum\": 5, \"maximum\": 4}", "#: no value matches this schema");
	refuses("{\"type\": \"string\", \"minLength\": -1}",
		"#: minLength must be a whole number from 0 to 1000000000");
	refuses("{\"pattern\": \"(a)\\\\1\"}", "#: pattern: back references are not supported");
	refuses("{\"pattern\": \"\\\\p{Greek}\"}", "#: pattern: of the Unicode properties only L, Lu, Ll, Lt, Lm, Lo,"
		" M, N, P"
		" and S are supported (\\p{L})");
	refuses("{\"pattern\": \"(^a){2}\"}", "#: pattern: an assertion (^, $, \\b, (?=, (?!) in a repetition is not"
		" supported");
	refuses("{\"pattern\": \"a$b\", \"type\": \"string\"}", "#: no value matches this schema");
	refuses("{\"pattern\": \"\\\\z\"}", "#: pattern: the escape \\z is not supported");
	refuses("{\"pattern\": \"a\\\\\"}", "#: pattern: it ends in a backslash");
	refuses("{\"pattern\": \"(a\"}", "#: pattern: a group that is not closed");
	refuses("{\"pattern\": \"a)\"}", "#: pattern: ')' without '('");
	refuses("{\"pattern\": \"[a\"}", "#: pattern: a class that is not closed");
	refuses("{\"pattern\": \"a{2,1}\"}", "#: pattern: a repetition is {n}, {n,} or {n,m},"
		" of no more than 1000000000");
	refuses("{\"$ref\": \"#/$defs/x\"}", "#: $ref \"#/$defs/x\": there is nothing of that name");
	refuses("{\"$ref\": \"http://x/y\"}",
		"#: $ref \"http://x/y\": a schema outside the document is not supported");
	refuses("{\"$ref\": \"#\"}", "#: schemas are nested more than 64 deep, or refer to each other without end");
	refuses("{\"allOf\": [{\"$ref\": \"#\"}]}", "#: schemas are nested more than 64 deep,"
		" or refer to each other without end");
	refuses("{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#\"}}, \"required\": [\"a\"]}",
		"#: every value of this schema would have to contain another one, without end");
	refuses("{\"$ref\": \"#/$defs/n%20\","
		" \"$defs\": {\"n \": {\"type\": \"array\", \"prefixItems\": [{\"anyOf\": [{\"$ref\": \"#/$defs/m\"},"
			" false]}]},"
		" \"m\": {\"type\": \"object\", \"properties\": {\"n\": {\"$ref\": \"#/$defs/n%20\"}}, \"required\":"
			" [\"n\"]}}}",
		"#/$defs/m: every value of this schema would have to contain another one, without end");
	refuses("{\"anyOf\": [{\"$ref\": \"#\"}, {\"type\": \"null\"}]}",
		"#/anyOf/0: the schema refers to itself with no array or object between");
	refuses("{\"enum\": []}", "#: enum must be an array of values");
	refuses("{\"enum\": [\"a\", 7], \"type\": \"string\", \"minLength\": 2}", "#: no value matches this schema");
	refuses("{\"properties\": {\"a\": 1}}", "#/properties/a: a schema is an object, true or false");
}

/* ---- generation ---- */

enum { IDS = 320, EOG = 2 };

static const char *const known_pieces[] = { "{\"", "\":", "\": \"", "\",", "\", \"", "\"}", "}]", "true", "null", " 1",
	"00", "[[", "\\u00", "name", "ab", "foo", "20", "\xc3", "\xa9t\xc3\xa9", "\xf0\x9f\x98", "          ",
	"\n    ", "abcabcabcabcabcabcabc", "\\\"" };

static const char *piece(const void *context, int32_t id, size_t *n)
{
	static char bytes[256];

	(void)context;
	if (id >= 32 && id < 288) {
		bytes[id - 32] = (char)(id - 32);
		*n = 1;
		return &bytes[id - 32];
	}
	id = id < 32 ? id : id - 288 + 8;
	*n = id >= 8 && id - 8 < (int)(sizeof known_pieces / sizeof *known_pieces) ? strlen(known_pieces[id - 8]) : 0;
	return *n ? known_pieces[id - 8] : "";
}

static int32_t choose(const uint32_t *mask, uint64_t seed, int hurry)
{
	static const char closing[] = "\"}]0";
	int32_t from = (int32_t)(mkrandom(seed, 1) % IDS);

	if ((mask[EOG / 32] >> EOG % 32 & 1) && (hurry || mkrandom(seed, 2) % 3))
		return EOG;
	for (int k = 0; hurry && k < 4; k++)
		if (mask[(32 + closing[k]) / 32] >> (32 + closing[k]) % 32 & 1)
			return 32 + closing[k];
	for (int32_t i = 0; i < IDS; i++) {
		int32_t id = (from + i * 7) % IDS;

		if (id != EOG && (mask[id / 32] >> id % 32 & 1))
			return id;
	}
	return EOG;
}

/* Generates a value. 1: it ended and is valid; 0: it grew too long; -1: it is wrong. */
static int write_value(struct masker *u, const struct json *schema, uint64_t seed, char *text, size_t room, size_t *n,
	struct why *w)
{
	struct mask_text *p = mask_start(u, w);
	int status = p ? 0 : -1;

	*n = 0;
	for (uint64_t step = 0; !status && *n + 64 < room; step++) {
		const uint32_t *mask = mask_find(p, w);
		int32_t id = mask ? choose(mask, mkrandom(seed, step), *n > 150) : 0;
		const char *s;
		size_t len;

		if (!mask || mask_accept(p, id, w)) {
			status = -1;
		} else if (id == EOG) {
			struct arena a = { .limit = 1 << 22 };
			const struct json *v = json_parse(&a, text, *n, w);

			status = v && validator_allows(schema, v) ? 1 : -1;
			arena_free(&a);
		} else {
			s = piece(NULL, id, &len);
			memcpy(text + *n, s, len);
			*n += len;
		}
	}
	mask_drop(p);
	return status;
}

static void test_random(void)
{
	static struct mkschema m;
	static char text[20000];
	static const int32_t eog[] = { EOG };
	struct mask_vocab pieces = { IDS, piece, NULL, eog, 1, NULL };
	int schemas = 0, refused = 0, finished = 0, endless = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct arena a = { .limit = 1 << 22 };
		const struct json *schema;
		struct bytes gbnf;
		struct why w = { "" };
		struct grammar *g;
		struct masker *u;

		mkschema(&m, seed);
		schema = json_parse(&a, m.text, m.n, &w);
		g = grammar_of(m.text, m.n, &gbnf, &w);
		u = g ? masker_open(g, &pieces, &w) : NULL;
		if (u) {
			schemas++;
		} else {
			refused++;
			check(strstr(w.text, "no value matches") || strstr(w.text, "without end")
				|| strstr(w.text, "in a schema that must not hold") || strstr(w.text,
					"branches too often")
				|| strstr(w.text, "too large to combine") || strstr(w.text, "uniqueItems"),
					"%s\n  %s", m.text, w.text);
		}
		for (uint64_t i = 0; u && i < 5; i++) {
			size_t n = 0;
			int status = write_value(u, schema, mkrandom(seed, i), text, sizeof text, &n, &w);

			finished += status > 0;
			endless += status == 0;
			if (!check(status >= 0, "%s\n  wrote: %.*s\n  %s", m.text, (int)n, text, w.text))
				break;
		}
		masker_close(u);
		grammar_free(g);
		bytes_free(&gbnf);
		arena_free(&a);
	}
	check(finished >= 1000 && refused < schemas / 4 && endless < finished / 10,
		"%d schemas, %d refused, %d texts, %d endless", schemas, refused, finished, endless);
}

/* ---- large schemas ---- */

/* Schemas of n similar parts, which would exceed the bounds on work and memory if these grew with the square of n. */
static void test_large(size_t n, const char *head, const char *part, const char *tail, const char *text)
{
	size_t room = strlen(head) + n * (strlen(part) + 32) + strlen(tail) + 1, used;
	char *schema = malloc(room);
	struct bytes gbnf;
	struct why w = { "" };
	struct grammar *g;

	if (!schema)
		abort();
	used = (size_t)sprintf(schema, "%s", head);
	for (size_t i = 0; i < n; i++) {
		used += (size_t)sprintf(schema + used, "%s", i ? "," : "");
		used += (size_t)sprintf(schema + used, part, (unsigned)i, (unsigned)i, (unsigned)i);
	}
	strcpy(schema + used, tail);
	g = grammar_of(schema, strlen(schema), &gbnf, &w);
	check(g && grammar_matches(g, text, strlen(text), &w) == 1, "%s %s ...: %s", head, part, w.text);
	grammar_free(g);
	bytes_free(&gbnf);
	free(schema);
}

static void test_sizes(void)
{
	test_large(40000, "{\"oneOf\": [", "{\"const\": \"v%u\"}", "]}", "\"v39999\"");
	test_large(40000, "{\"oneOf\": [", "{\"type\": \"object\", \"properties\": {\"k\": {\"const\": %u}},"
		" \"required\": [\"k\"]}", "]}", "{\"k\":77}");
	test_large(40000, "{\"oneOf\": [", "{\"type\": \"object\", \"properties\": {\"p%u\": {}}, \"required\":"
		" [\"p%u\"],"
		" \"additionalProperties\": false}", "]}", "{\"p39999\":[]}");
	test_large(100, "{\"oneOf\": [", "{\"type\": \"object\", \"properties\": {\"p%u\": {}}, \"required\":"
		" [\"p%u\"]}",
		"]}", "{\"p99\":[]}");
	test_large(40000, "{\"oneOf\": [", "{\"type\": \"integer\", \"minimum\": 1%05u0, \"exclusiveMaximum\": 1%05u5}"
		"", "]}", "1000774");
	test_large(40000, "{\"anyOf\": [{\"$ref\": \"#/$defs/d4\"}, {\"type\": \"null\"}], \"$defs\": {",
		"\"d%u\": {\"properties\": {\"p%u\": {}}}", "}}", "{\"p4\":1}");
	test_large(40000, "{\"properties\": {", "\"p%u\": {\"type\": \"null\"}", "}}", "{\"p0\":null,\"p5\":null}");
	test_large(40000, "{\"properties\": {", "\"p%u\": {\"type\": \"null\"}", "}, \"required\": [\"p0\"]}",
		"{\"p0\":null,\"p5\":null}");
	test_large(20000, "{\"allOf\": [", "{\"properties\": {\"p%u\": {\"type\": \"null\"}}}", "]}",
		"{\"p0\":null,\"p5\":null}");
	test_large(100000, "{\"anyOf\": [", "{\"type\": \"object\", \"properties\": {\"p%u\": {}}, \"required\":"
		" [\"p%u\"]}", "]}",
		"{\"p99999\":[]}");
	test_large(100000, "{\"enum\": [", "\"v%u\"", "]}", "\"v99999\"");
}

/* ---- hostile ---- */

static void endures(const char *name, const char *head, const char *s, size_t times, const char *tail)
{
	size_t n = strlen(s);
	char *schema = malloc(strlen(head) + n * times + strlen(tail) + 1), *at = schema;
	struct bytes gbnf;
	struct why w = { "" };
	struct grammar *g;

	if (!schema)
		abort();
	at += sprintf(at, "%s", head);
	for (size_t i = 0; i < times; i++, at += n)
		memcpy(at, s, n);
	strcpy(at, tail);
	g = grammar_of(schema, strlen(schema), &gbnf, &w);
	if (g)
		grammar_matches(g, "{\"a\": [[[]]]}", 13, &w);
	check(g || w.text[0], "%s: fails without a reason", name);
	grammar_free(g);
	bytes_free(&gbnf);
	free(schema);
}

static void test_hostile(void)
{
	static const char sample[] = "{\"properties\": {\"a\": {\"type\": \"array\","
		" \"items\": {\"$ref\": \"#/$defs/d\"}, \"minItems\": 1},"
		" \"b\": {\"anyOf\": [{\"pattern\": \"^[a-z]+(x|y){2}$\"}, {\"enum\": [1, 2]}]}},"
		" \"required\": [\"a\"], \"additionalProperties\": {\"minimum\": -3},"
		" \"$defs\": {\"d\": {\"allOf\": [{\"type\": \"integer\"}, {\"maximum\": 7}]}}}";
	static const char bad[] = "\"[]{}:,\\0123a$#^/()*+?|-.";
	static char many[1 << 16];
	size_t n = sizeof sample - 1, used;

	endures("nested items", "", "{\"items\": ", 60, "{}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}"
		"}");
	endures("nested properties", "", "{\"properties\":{\"a\":", 62,
		"true}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}"
		"}}}}}}}}}}}}}}}}}}}}}}}}}}}");
	endures("a long pattern", "{\"pattern\": \"", "(a|b*)+", 5000, "\"}");
	endures("a deep pattern", "{\"pattern\": \"", "(", 5000, "\"}");
	endures("many repetitions", "{\"pattern\": \"^(((((a{1000000}){1000000}){1000000}){1000000}){1000000}", "", 0,
		"$\"}");
	endures("large counts", "{\"items\": {\"minLength\": 1000000000}, \"minItems\": 1000000000", "", 0, "}");
	endures("a large enum", "{\"enum\": [0", ", \"abcdefghijklmnopqrstuvwxyz\"", 20000, "]}");
	endures("a long name", "{\"additionalProperties\": true, \"properties\": {\"", "x", 1000, "\": true}}");
	endures("a longer name", "{\"additionalProperties\": true, \"properties\": {\"", "x", 100000, "\": true}}");
	/* each definition is twice the next one, joined with something so that it is no bare reference */
	used = (size_t)sprintf(many, "{\"$ref\": \"#/$defs/d0\", \"$defs\": {\"d40\": {\"type\": \"object\"}");
	for (int i = 0; i < 40; i++)
		used += (size_t)sprintf(many + used, ", \"d%d\": {\"minimum\": %d, "
			"\"anyOf\": [{\"$ref\": \"#/$defs/d%d\"}, {\"$ref\": \"#/$defs/d%d\"}]}", i, i, i + 1, i + 1);
	strcpy(many + used, "}}");
	endures("doubling", many, "", 0, "");
	for (uint64_t i = 0; i < 3000; i++) {
		struct bytes gbnf;
		struct why w;
		struct grammar *g;

		memcpy(many, sample, n);
		for (uint64_t k = 0; k <= i % 3; k++)
			many[mkrandom(20 + k, i) % n] = bad[mkrandom(30 + k, i) % (sizeof bad - 1)];
		g = grammar_of(many, n, &gbnf, &w);
		if (g)
			grammar_matches(g, "{\"a\": [1, 2]}", 13, &w);
		grammar_free(g);
		bytes_free(&gbnf);
	}
	check(1, "damage");
}

int main(void)
{
	test_scalars();
	test_ranges();
	test_strings();
	test_arrays();
	test_objects();
	test_space();
	test_combined();
	test_numbers();
	test_combined_strings();
	test_combined_objects();
	test_combined_arrays();
	test_rewritten();
	test_errors();
	test_random();
	test_sizes();
	test_hostile();
	return check_end("schema");
}
