/* A tree, or the caller's own values, to JSON text. */
#include "json.h"

#include "out.h"
#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json_writer json_to_out(void)
{
	return json_to_bytes(NULL);
}

struct json_writer json_to_bytes(struct bytes *b)
{
	return (struct json_writer){ .bytes = b, .comma = ", ", .colon = ": " };
}

static void put(struct json_writer *w, const char *s, size_t n)
{
	if (w->bytes)
		w->failed |= bytes_put(w->bytes, s, n) != 0;
	else
		out_bytes(s, n);
}

static void new_line(struct json_writer *w)
{
	put(w, "\n", 1);
	for (int i = 0; i < w->depth && !w->failed; i++)
		put(w, w->indent, strlen(w->indent));
}

/* Separates the next item or key from the one before it. */
static void separate(struct json_writer *w)
{
	if (w->after_key) {
		w->after_key = 0;
		return;
	}
	if (w->items)
		put(w, w->comma, strlen(w->comma));
	if (w->indent && w->depth)
		new_line(w);
	w->items = 1;
}

void json_open(struct json_writer *w, char bracket)
{
	separate(w);
	put(w, &bracket, 1);
	w->depth++;
	w->items = 0;
}

void json_close(struct json_writer *w, char bracket)
{
	w->depth--;
	if (w->indent && w->items)
		new_line(w);
	put(w, &bracket, 1);
	w->items = 1;
}

static void put_escaped(struct json_writer *w, int32_t c)
{
	static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *hit = c && c < 0x80 ? strchr(named, (int)c) : NULL;
	char out[16];

	if (hit)
		snprintf(out, sizeof out, "\\%c", names[hit - named]);
	else if (c < 0x10000)
		snprintf(out, sizeof out, "\\u%04x", (unsigned)c);
	else
		snprintf(out, sizeof out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
			(unsigned)(0xdc00 + (c & 0x3ff)));
	put(w, out, strlen(out));
}

static void put_quoted(struct json_writer *w, const char *s, size_t n)
{
	const char *end = s + n, *plain = s;

	put(w, "\"", 1);
	while (s < end) {
		unsigned used;
		int32_t c = utf8_next(s, (size_t)(end - s), &used);

		if (c >= ' ' && c != '"' && c != '\\' && (c < 0x7f || (!w->ascii && (c >= 0xa0 || w->raw)))) {
			s += used;
			continue;
		}
		put(w, plain, (size_t)(s - plain));
		if (c < 0 && !w->ascii)
			put(w, "\xef\xbf\xbd", 3);
		else
			put_escaped(w, c < 0 ? UTF8_BAD : c);
		s += used;
		plain = s;
	}
	put(w, plain, (size_t)(s - plain));
	put(w, "\"", 1);
}

void json_string(struct json_writer *w, const char *s, size_t n)
{
	separate(w);
	put_quoted(w, s, n);
}

void json_key(struct json_writer *w, const char *s, size_t n)
{
	separate(w);
	put_quoted(w, s, n);
	put(w, w->colon, strlen(w->colon));
	w->after_key = 1;
}

void json_name(struct json_writer *w, const char *name)
{
	json_key(w, name, strlen(name));
}

void json_raw(struct json_writer *w, const char *s)
{
	separate(w);
	put(w, s, strlen(s));
}

void json_int(struct json_writer *w, int64_t i)
{
	char out[24];

	snprintf(out, sizeof out, "%" PRId64, i);
	json_raw(w, out);
}

/* Lays out the digits d.ddd with a decimal exponent as Python's repr does. */
static void lay_out(char *out, const char *digits, int n, int exponent)
{
	if (exponent < -4 || exponent >= 16) {
		out += sprintf(out, n > 1 ? "%c." : "%c", digits[0]);
		sprintf(out, "%.*se%c%02d", n - 1, digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
		return;
	}
	if (exponent < 0) {
		out += sprintf(out, "0.%.*s", -exponent - 1, "000");
		sprintf(out, "%.*s", n, digits);
		return;
	}
	for (int i = 0; i <= exponent; i++)
		*out++ = i < n ? digits[i] : '0';
	sprintf(out, ".%s", n > exponent + 1 ? digits + exponent + 1 : "0");
}

void json_spell_float(char out[32], double d)
{
	char try[32], digits[24];
	int precision = 0, n = 0;

	if (!isfinite(d)) {
		strcpy(out, isnan(d) ? "nan" : d > 0 ? "inf" : "-inf");
		return;
	}
	do
		snprintf(try, sizeof try, "%.*e", precision, d);
	while (strtod(try, NULL) != d && ++precision < 17);
	if (try[0] == '-')
		*out++ = '-';
	for (const char *p = try; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	digits[n] = '\0';
	lay_out(out, digits, n, atoi(strchr(try, 'e') + 1));
}

void json_float(struct json_writer *w, double d)
{
	char out[32];

	json_spell_float(out, d);
	json_raw(w, isfinite(d) ? out : isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
}

void json_real(struct json_writer *w, double d)
{
	if (isfinite(d))
		json_float(w, d);
	else
		json_raw(w, "null");
}

void json_value(struct json_writer *w, const struct json *v)
{
	static const char *const words[] = { [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true" };
	int object = v->type == JSON_OBJECT;

	switch (v->type) {
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE:
		json_raw(w, words[v->type]);
		break;
	case JSON_INT:
		json_int(w, v->i);
		break;
	case JSON_BIG:
		json_raw(w, v->s);
		break;
	case JSON_FLOAT:
		json_float(w, v->d);
		break;
	case JSON_STRING:
		json_string(w, v->s, v->n);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		json_open(w, object ? '{' : '[');
		for (const struct json *c = v->child; c; c = c->next) {
			if (object)
				json_key(w, c->key, c->key_n);
			json_value(w, c);
		}
		json_close(w, object ? '}' : ']');
		break;
	}
}
