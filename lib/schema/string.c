/* Strings: lengths, patterns and formats; each format is a pattern. */
#include "converter.h"

#include <string.h>

/* Only days that exist: February 29 in years divisible by 4 but not by 100, or divisible by 400. */
#define DATE "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)" \
	"|02-(0[1-9]|1[0-9]|2[0-8]))" \
	"|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])"
#define OCTET "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
/* A label of a host name. The third and fourth character are not both hyphens: such a label is encoded (xn--), and
 * a pattern cannot validate the encoding. LABEL(m, n) has at most m + 4 characters; n is m - 1. */
#define ALNUM "[A-Za-z0-9]"
#define INNER "[-A-Za-z0-9]"
#define LABEL(m, n) ALNUM "(" ALNUM "|" INNER "(" ALNUM "(" INNER "{0," m "}" ALNUM ")?" \
	"|-" ALNUM "(" INNER "{0," n "}" ALNUM ")?))?"
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
	{ "uri", "^[A-Za-z][A-Za-z0-9+.-]{1,20}://" HOST "(:[1-9][0-9]{0,3})?"
		"(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}){0,200}){0,20}"
		"(\\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}){0,500})?$" },
};

static const char *format_pattern(const struct json *format)
{
	for (size_t i = 0; format->type == JSON_STRING && i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(format->s, formats[i].name))
			return formats[i].pattern;
	return NULL;
}

/* The pattern, if all that it matches is within the bounds: a grammar cannot express an intersection. */
static struct gbnf_expr *write_pattern(struct converter *c, const char *pattern, size_t n, uint32_t min, uint32_t max)
{
	struct schema_span span = { 0, 0 };
	struct gbnf_expr *inside = schema_pattern(c, pattern, n, &span);

	if (span.min < min || span.max > max)
		schema_fail(c, "minLength or maxLength beside a pattern or format that goes past it is not supported");
	return gbnf_join(&c->g, "\"%\"", inside);
}

struct gbnf_expr *schema_write_string(struct converter *c, const struct json *s)
{
	const struct json *pattern = json_get(s, "pattern"), *format = json_get(s, "format");
	uint32_t min = schema_count(c, s, "minLength", 0), max = schema_count(c, s, "maxLength", GBNF_FOREVER);
	const char *known = format ? format_pattern(format) : NULL;

	if (min > max)
		return gbnf_never();
	if (pattern && format)
		schema_fail(c, "pattern beside format is not supported");
	else if (pattern && pattern->type != JSON_STRING)
		schema_fail(c, "pattern must be a string");
	else if (format && !known)
		schema_fail(c, "the format \"%.60s\" is not supported", format->type == JSON_STRING ? format->s : "");
	else if (pattern)
		return write_pattern(c, pattern->s, pattern->n, min, max);
	else if (format)
		return write_pattern(c, known, strlen(known), min, max);
	if (!min && max == GBNF_FOREVER)
		return gbnf_primitive(&c->g, GBNF_STRING);
	return gbnf_join(&c->g, "\"%\"", gbnf_repeat(&c->g, gbnf_primitive(&c->g, GBNF_CHAR), min, max));
}
