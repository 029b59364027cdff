/* Strings: lengths, patterns, and formats, which are patterns of our own. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

/* Only dates that there are: the 29th of February in years that 4 divides and 100 does not, and in those that 400 divides. */
#define DATE "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))" \
	"|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])"
#define OCTET "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
/* A label of a host's name. None has hyphens as its third and fourth character: those are encoded names (xn--), whose code
 * a pattern cannot check. LABEL(m, n) has at most m + 4 characters, where n is m - 1. */
#define ALNUM "[A-Za-z0-9]"
#define INNER "[-A-Za-z0-9]"
#define LABEL(m, n) ALNUM "(" ALNUM "|" INNER "(" ALNUM "(" INNER "{0," m "}" ALNUM ")?|-" ALNUM "(" INNER "{0," n "}" ALNUM ")?))?"
#define LABEL46 LABEL("42", "41")
#define LABEL61 LABEL("57", "56")
#define LABEL63 LABEL("59", "58")
#define HOST LABEL63 "(\\." LABEL63 "){0,2}(\\." LABEL61 ")?"    /* 253 characters at most */
#define ATOM "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,30}"

static const struct {
	const char *name, *pattern;
} formats[] = {
	{ "date", "^" DATE "$" },
	{ "time", "^" TIME "$" },
	{ "date-time", "^" DATE "T" TIME "$" },
	{ "uuid", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" },
	{ "email", "^" ATOM "(\\." ATOM ")?@" LABEL46 "(\\." LABEL46 "){1,3}$" },       /* 249 characters at most */
	{ "ipv4", "^" OCTET "(\\." OCTET "){3}$" },
	{ "hostname", "^" HOST "$" },
	{ "uri", "^[A-Za-z][A-Za-z0-9+.-]{1,20}://" HOST "(:[1-9][0-9]{0,3})?(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}){0,200}){0,20}"
		"(\\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}){0,500})?$" },
};

static const char *format_pattern(const struct json *format)
{
	for (size_t i = 0; format->type == JSON_STRING && i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(format->s, formats[i].name))
			return formats[i].pattern;
	return NULL;
}

/* The pattern, if what it allows is within the bounds anyway: to cut one language with another is more than a grammar can say. */
static int write_pattern(struct schema *c, const char *pattern, size_t n, uint32_t min, uint32_t max, struct bytes *to)
{
	struct schema_span span;
	int status;

	if (schema_put(c, to, "(\"\\\"\" "))
		return -1;
	status = schema_pattern(c, pattern, n, &span, to);
	if (status)
		return status;
	if (span.min < min || span.max > max)
		return schema_fail(c, "minLength or maxLength beside a pattern or format that goes past it is not supported");
	return schema_put(c, to, " \"\\\"\")");
}

int schema_write_string(struct schema *c, const struct json *s, struct bytes *to)
{
	const struct json *pattern = json_get(s, "pattern"), *format = json_get(s, "format");
	uint32_t min = 0, max = UINT32_MAX;
	const char *known;

	if (schema_count(c, s, "minLength", &min) || schema_count(c, s, "maxLength", &max))
		return -1;
	if (min > max)
		return SCHEMA_NEVER;
	if (pattern && format)
		return schema_fail(c, "pattern beside format is not supported");
	if (pattern && pattern->type != JSON_STRING)
		return schema_fail(c, "pattern wants a string");
	if (pattern)
		return write_pattern(c, pattern->s, pattern->n, min, max, to);
	if (format) {
		known = format_pattern(format);
		return known ? write_pattern(c, known, strlen(known), min, max, to)
			: schema_fail(c, "the format \"%.60s\" is not supported", format->type == JSON_STRING ? format->s : "");
	}
	if (!min && max == UINT32_MAX)
		return schema_primitive(c, to, SCHEMA_STRING);
	if (schema_put(c, to, "(\"\\\"\" ") || schema_primitive(c, to, SCHEMA_CHAR))
		return -1;
	return max == UINT32_MAX ? schema_print(c, to, "{%u,} \"\\\"\")", (unsigned)min)
		: schema_print(c, to, "{%u,%u} \"\\\"\")", (unsigned)min, (unsigned)max);
}
