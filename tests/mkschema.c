/* Picks types, keywords and branches at random. */
#include "mkschema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mkrandom.h"

static unsigned pick(struct mkschema *m, unsigned n)
{
	return (unsigned)(mkrandom(m->seed, m->count++) % n);
}

__attribute__((format(printf, 2, 3)))
static void print(struct mkschema *m, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	m->n += (size_t)vsnprintf(m->text + m->n, sizeof m->text - m->n, format, ap);
	va_end(ap);
	if (m->n >= sizeof m->text)
		abort();
}

static const char *const names[] = { "a", "ab", "abc", "b", "", "name", "\xc3\xa9t\xc3\xa9", "x\\\"y", "n\\nl", "k" };

static void make(struct mkschema *m, int depth);

static void make_string(struct mkschema *m)
{
	static const char *const patterns[] = { "^[a-c]+$", "^[A-Z]{2}-[0-9]{1,4}$", "^(foo|ba[rz])*$", "x", "^a|b$",
		"^[ -_]{0,3}$", "^[!-~]$", "[0-9]+(px|em)$" };

	switch (pick(m, 5)) {
	case 0:
		print(m, "{\"type\": \"string\", \"pattern\": \"%s\"}",
			patterns[pick(m, sizeof patterns / sizeof *patterns)]);
		break;
	case 1:
		print(m, "{\"type\": \"string\", \"minLength\": %u, \"maxLength\": %u}", pick(m, 5), 5 + pick(m, 40));
		break;
	case 2:
		print(m, "{\"type\": \"string\", \"format\": \"date\"}");
		break;
	case 3:
		print(m, "{\"type\": \"string\", \"minLength\": %u}", pick(m, 30));
		break;
	default:
		print(m, "{\"type\": \"string\"}");
	}
}

static void make_number(struct mkschema *m)
{
	int low = (int)pick(m, 3000) - 1000;

	print(m, "{\"type\": \"%s\"", pick(m, 2) ? "integer" : "number");
	if (pick(m, 2))
		print(m, ", \"%s\": %d", pick(m, 2) ? "minimum" : "exclusiveMinimum", low);
	if (pick(m, 2))
		print(m, ", \"%s\": %d", pick(m, 2) ? "maximum" : "exclusiveMaximum", low + (int)pick(m, 1200));
	print(m, "}");
}

static void make_array(struct mkschema *m, int depth)
{
	unsigned low = pick(m, 3);

	print(m, "{\"type\": \"array\"");
	if (pick(m, 2)) {
		print(m, ", \"prefixItems\": [");
		make(m, depth - 1);
		print(m, ", ");
		make(m, depth - 1);
		print(m, "]");
	}
	if (pick(m, 3)) {
		print(m, ", \"items\": ");
		make(m, depth - 1);
	}
	if (pick(m, 2))
		print(m, ", \"minItems\": %u", low);
	if (pick(m, 2))
		print(m, ", \"maxItems\": %u", low + pick(m, 4));
	print(m, "}");
}

/* With some of the names, from number `from` on. */
static void make_object(struct mkschema *m, int depth, unsigned from, const char *tag)
{
	unsigned total = sizeof names / sizeof *names, chosen[10], n = 0;

	print(m, "{\"type\": \"object\", \"properties\": {");
	if (tag)
		print(m, "\"tag\": {\"const\": \"%s\"}", tag);
	for (unsigned i = from; i < total; i++) {
		if (pick(m, 3))
			continue;
		print(m, "%s\"%s\": ", tag || n ? ", " : "", names[i]);
		make(m, depth - 1);
		chosen[n++] = i;
	}
	print(m, "}, \"required\": [%s", tag ? "\"tag\"" : "");
	for (unsigned i = 0, any = tag != NULL; i < n; i++)
		if (pick(m, 2)) {
			print(m, "%s\"%s\"", any ? ", " : "", names[chosen[i]]);
			any = 1;
		}
	print(m, "]");
	if (!pick(m, 4))
		print(m, ", \"additionalProperties\": false");
	else if (!pick(m, 3)) {
		print(m, ", \"additionalProperties\": ");
		make(m, depth - 1);
	}
	print(m, "}");
}

static void make_branches(struct mkschema *m, int depth)
{
	switch (pick(m, 3)) {
	case 0:
		print(m, "{\"anyOf\": [");
		make(m, depth - 1);
		print(m, ", ");
		make(m, depth - 1);
		break;
	case 1:
		print(m, "{\"oneOf\": [");
		make_object(m, depth - 1, 4, "one");
		print(m, ", ");
		make_object(m, depth - 1, 2, "two");
		print(m, ", {\"type\": \"null\"}");
		break;
	default:
		print(m, "{\"description\": \"both\", \"allOf\": [");
		make_object(m, depth - 1, 6, NULL);
		print(m, ", ");
		make_object(m, depth - 1, 6, NULL);
	}
	print(m, "]}");
}

/* "keyword": schema */
static void make_under(struct mkschema *m, int depth, const char *keyword)
{
	print(m, ", \"%s\": ", keyword);
	make(m, depth - 1);
}

/* Keywords that are rewritten. */
static void make_rewritten(struct mkschema *m, int depth)
{
	switch (pick(m, 8)) {
	case 0:
		print(m, "{\"type\": [\"number\", \"string\", \"boolean\", \"array\"]");
		make_under(m, depth, "not");
		break;
	case 1:
		print(m, "{\"description\": \"if\"");
		make_under(m, depth, "if");
		make_under(m, depth, "then");
		make_under(m, depth, "else");
		break;
	case 2:
		print(m, "{\"type\": \"array\", \"maxContains\": %u", 1 + pick(m, 2));
		make_under(m, depth, "items");
		make_under(m, depth, "contains");
		break;
	case 3:
		print(m, "{\"type\": \"object\", \"minProperties\": %u, \"maxProperties\": 3", pick(m, 3));
		print(m, ", \"patternProperties\": {\"^a\": ");
		make(m, depth - 1);
		print(m, ", \"b$\": ");
		make(m, depth - 1);
		print(m, "}");
		make_under(m, depth, "additionalProperties");
		break;
	case 4:
		print(m, "{\"type\": \"array\", \"uniqueItems\": true, \"items\": {\"enum\": [1, null, \"x\", 2.5]}");
		break;
	case 5:
		print(m, "{\"type\": \"object\", \"properties\": {\"a\": {}, \"b\": {}, \"k\": {}},"
			" \"dependentRequired\":"
			" {\"a\": [\"k\"], \"b\": [\"a\"]}");
		break;
	case 6:
		print(m, "{\"type\": \"number\", \"multipleOf\": %s, \"minimum\": %d.5",
			pick(m, 2) ? "0.25" : "3", (int)pick(m, 100) - 50);
		break;
	default:
		print(m, "{\"oneOf\": [");
		make(m, depth - 1);
		print(m, ", ");
		make(m, depth - 1);
		print(m, "]");
	}
	print(m, "}");
}

static void make(struct mkschema *m, int depth)
{
	switch (pick(m, depth > 0 ? 16 : 7)) {
	case 0: case 1:
		make_string(m);
		break;
	case 2: case 3:
		make_number(m);
		break;
	case 4:
		print(m, "{\"enum\": [\"red\", \"gr\\u00fcn\", 3, null, [1, {\"x\": \"\\\\\"}]]}");
		break;
	case 5:
		print(m, "{\"type\": [\"boolean\", \"null\"]}");
		break;
	case 6:
		print(m, pick(m, 3) ? "{\"const\": 42}" : "{\"type\": \"boolean\"}");
		break;
	case 7: case 8:
		make_array(m, depth);
		break;
	case 9: case 10:
		make_object(m, depth, 0, NULL);
		break;
	case 11:
		make_branches(m, depth);
		break;
	case 12: case 13: case 14:
		make_rewritten(m, depth);
		break;
	case 15:
		print(m, pick(m, 4) ? "{\"$ref\": \"#/$defs/d%u\"}" : "true", pick(m, 2));
		break;
	}
}

void mkschema(struct mkschema *m, uint64_t seed)
{
	m->seed = seed;
	m->count = m->n = 0;
	print(m, "{\"$defs\": {\"d0\": ");
	make(m, 2);
	print(m, ", \"d1\": ");
	make_object(m, 2, 5, NULL);
	print(m, "}, \"anyOf\": [");
	make(m, 3);
	print(m, "]}");
}
