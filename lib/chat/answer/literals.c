/* A reader of tokens, with a stack of brackets. */
#include "literals.h"

#include <string.h>

#include "tools.h"

void literals_start(struct literals *l, const char *quote, int open)
{
	*l = (struct literals){ .quote = quote };
	if (open) {
		l->close[l->depth++] = '}';
		l->started = 1;
	}
}

static int is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static int is_word(char c)
{
	return !span_is_space(c) && !is_one_of(c, ",:=()[]{}\"'");
}

/* Separates an item from the one before. */
static void item(struct literals *l, struct bytes *out)
{
	if (l->comma)
		bytes_puts(out, ", ");
	l->comma = 0;
	l->started = 1;
}

/* ---- strings ---- */

/* An escape sequence at s[n]: its length, 0 if it is not complete. */
static size_t escape(const char *s, size_t n, struct bytes *out)
{
	static const char same[] = "\"\\/bfnrt";
	size_t digits = n > 1 && s[1] == 'u' ? 4 : n > 1 && s[1] == 'x' ? 2 : 0;

	if (n < 2 + digits)
		return 0;
	if (digits && strspn(s + 2, "0123456789abcdefABCDEF") >= digits) {
		bytes_puts(out, digits == 2 ? "\\u00" : "\\u");
		bytes_put(out, s + 2, digits);
		return 2 + digits;
	}
	if (is_one_of(s[1], same))
		bytes_put(out, s, 2);
	else if (s[1] == '\'')
		bytes_put(out, s + 1, 1);
	else if (s[1] != '\n')
		bytes_puts(out, "\\\\");
	return is_one_of(s[1], same) || s[1] == '\'' || s[1] == '\n' ? 2 : 1;
}

/* Reads the inside of a string; sets *used. */
static enum match string(struct literals *l, const char *s, size_t n, int end, struct bytes *out, size_t *used)
{
	size_t i = 0, from = 0, quote = strlen(l->quote), left, length;

	for (; i < n; i++) {
		left = n - i;
		if (l->in_string == 1 ? *l->quote == s[i] && !memcmp(l->quote, s + i, left < quote ? left : quote)
		    : s[i] == l->in_string || s[i] == '\\')
			break;
	}
	value_put_escaped(s + from, i - from, out);
	*used = i;
	if (i == n)
		return MATCH_MORE;
	if (l->in_string != 1 && s[i] == '\\') {
		length = escape(s + i, n - i, out);
		*used += length;
		return length ? MATCH_YES : MATCH_MORE;
	}
	length = l->in_string == 1 ? quote : 1;
	if (n - i < length) {
		*used = end ? n : i;
		return MATCH_MORE;
	}
	bytes_puts(out, "\"");
	*used += length;
	l->in_string = 0;
	l->comma = 1;
	return MATCH_YES;
}

/* ---- words ---- */

static int is_number(const char *s, size_t n)
{
	size_t i = n && *s == '-', digits = 0;

	for (; i < n && s[i] >= '0' && s[i] <= '9'; i++)
		digits++;
	if (!digits || (digits > 1 && s[i - digits] == '0'))
		return 0;
	if (i < n && s[i] == '.')
		for (digits = 0, i++; i < n && s[i] >= '0' && s[i] <= '9'; i++)
			digits++;
	if (digits && i < n && (s[i] == 'e' || s[i] == 'E')) {
		i += i + 1 < n && (s[i + 1] == '+' || s[i + 1] == '-') ? 2 : 1;
		for (digits = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++)
			digits++;
	}
	return digits && i == n;
}

static void word(const char *s, size_t n, int is_key, struct bytes *out)
{
	static const char *const names[][2] = { { "True", "true" }, { "true", "true" }, { "False", "false" },
		{ "false", "false" }, { "None", "null" }, { "null", "null" } };

	for (size_t i = 0; !is_key && i < sizeof names / sizeof *names; i++)
		if (strlen(names[i][0]) == n && !memcmp(names[i][0], s, n)) {
			bytes_puts(out, names[i][1]);
			return;
		}
	if (!is_key && is_number(s, n)) {
		bytes_put(out, s, n);
		return;
	}
	bytes_puts(out, "\"");
	value_put_escaped(s, n, out);
	bytes_puts(out, "\"");
}

/* ---- all tokens ---- */

static int begins_quote(const struct literals *l, const char *s, size_t n)
{
	size_t quote = strlen(l->quote);

	return quote && !memcmp(l->quote, s, n < quote ? n : quote);
}

/* Reads a token outside of strings; MATCH_MORE: it is not complete. */
static enum match token(struct literals *l, const char *s, size_t n, int end, struct bytes *out, size_t *used)
{
	size_t quote = strlen(l->quote), i;

	*used = 1;
	if (span_is_space(*s))
		return MATCH_YES;
	if (begins_quote(l, s, n)) {
		*used = n < quote ? 0 : quote;
		l->in_string = n < quote ? 0 : 1;
	} else if (*s == '"' || *s == '\'') {
		l->in_string = *s;
	}
	if (l->in_string) {
		item(l, out);
		bytes_puts(out, "\"");
	}
	if (l->in_string || !*used)
		return *used ? MATCH_YES : MATCH_MORE;
	if (is_one_of(*s, "([{")) {
		if (l->depth == LITERALS_DEPTH)
			return MATCH_YES;
		item(l, out);
		bytes_puts(out, *s == '{' ? "{" : "[");
		l->close[l->depth++] = *s == '{' ? '}' : ']';
	} else if (is_one_of(*s, ")]}")) {
		if (l->depth)
			bytes_put(out, &l->close[--l->depth], 1);
		l->comma = 1;
	} else if (*s == ':' || *s == '=') {
		bytes_puts(out, ": ");
		l->comma = 0;
	} else if (*s != ',') {
		for (i = 0; i < n && is_word(s[i]); i++)
			;
		*used = i;
		while (i < n && span_is_space(s[i]))
			i++;
		if (i == n && !end)
			return MATCH_MORE;
		item(l, out);
		word(s, *used, i < n && (s[i] == ':' || s[i] == '='), out);
		l->comma = 1;
	}
	return MATCH_YES;
}

enum match literals_read(struct literals *l, const char *s, size_t n, int end, struct bytes *out, size_t *used)
{
	enum match so_far = MATCH_YES;
	size_t at = 0, read;

	while (at < n && so_far == MATCH_YES && (!l->started || l->depth || l->in_string)) {
		if (l->in_string)
			so_far = string(l, s + at, n - at, end, out, &read);
		else
			so_far = token(l, s + at, n - at, end, out, &read);
		if (so_far == MATCH_YES || l->in_string)
			at += read;
	}
	*used = at;
	return l->started && !l->depth && !l->in_string ? MATCH_YES : MATCH_MORE;
}
