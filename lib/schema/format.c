/* Each format that a grammar enforces is a pattern. */
#include "format.h"

#include <stddef.h>
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

/* 1934 characters at most; there is a limit of 2083 that generators write beside it */
#define URI "[A-Za-z][A-Za-z0-9+.-]{1,20}://" HOST "(:[1-9][0-9]{0,3})?" \
	"(/([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}){0,400})?" \
	"(\\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}){0,150})?"
#define GROUP "[0-9A-Fa-f]{1,4}"
#define IPV4 OCTET "(\\." OCTET "){3}"
#define IPV6 "((" GROUP ":){7}" GROUP "|(" GROUP ":){1,7}:|(" GROUP ":){1,6}:" GROUP \
	"|(" GROUP ":){1,5}(:" GROUP "){2}|(" GROUP ":){1,4}(:" GROUP "){3}" \
	"|(" GROUP ":){1,3}(:" GROUP "){4}|(" GROUP ":){1,2}(:" GROUP "){5}" \
	"|" GROUP ":(:" GROUP "){6}|:((:" GROUP "){1,7}|:))"
#define DURATION_TIME "([0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S)"
#define DURATION_DATE "([0-9]{1,9}Y([0-9]{1,9}M([0-9]{1,9}D)?)?|[0-9]{1,9}M([0-9]{1,9}D)?|[0-9]{1,9}D)"
#define POINTER "(/([^/~]|~[01])*)*"
#define BASE64 "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"

static const struct {
	const char *name, *pattern;
} formats[] = {
	{ "date", "^" DATE "$" }, { "time", "^" TIME "$" }, { "date-time", "^" DATE "T" TIME "$" },
	{ "duration", "^P(" DURATION_DATE "(T" DURATION_TIME ")?|T" DURATION_TIME "|[0-9]{1,9}W)$" },
	{ "uuid", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" },
	{ "email", "^" ATOM "(\\." ATOM ")?@" LABEL46 "(\\." LABEL46 "){1,3}$" },       /* 249 characters at most */
	{ "hostname", "^" HOST "$" }, { "ipv4", "^" IPV4 "$" }, { "ipv6", "^" IPV6 "$" },
	{ "uri", "^" URI "$" }, { "json-pointer", "^" POINTER "$" },
	{ "relative-json-pointer", "^(0|[1-9][0-9]{0,8})(#|" POINTER ")$" }, { "byte", "^" BASE64 "$" },
};

const char *schema_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(name, formats[i].name))
			return formats[i].pattern;
	return NULL;
}
