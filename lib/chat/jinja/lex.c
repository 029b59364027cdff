/* Template text to tokens: text outside the tags with the white space that tags take away gone, and the tags' words. */
#include "priv.h"

#include "lib/base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct lexer *l, const char *reason)
{
	return why(l->w, "template line %d: %s", l->line, reason);
}

static size_t left(const struct lexer *l)
{
	return (size_t)(l->end - l->at);
}

static void skip(struct lexer *l, size_t n)
{
	for (const char *stop = l->at + n; l->at < stop; l->at++)
		l->line += *l->at == '\n';
}

static bool starts(const char *s, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - s) >= n && !memcmp(s, with, n);
}

/* The place of the next {{, {% or {#, or the end. */
static const char *next_tag(const char *s, const char *end)
{
	while ((s = memchr(s, '{', (size_t)(end - s)))) {
		if (end - s >= 2 && (s[1] == '{' || s[1] == '%' || s[1] == '#'))
			return s;
		s++;
	}
	return end;
}

/* Bytes of the text s[n] that stay, with a tag after it whose sign is '-', '+' or another character. */
static size_t kept(const struct lexer *l, const char *s, size_t n, char sign, bool prints)
{
	size_t line = n;

	if (sign == '-')
		return text_trimmed(s, n);
	if (sign == '+' || prints)
		return n;
	while (line && s[line - 1] != '\n')
		line--;
	if ((line || l->at_line_start) && text_spaces(s + line, n - line) == n - line)
		return line;
	return n;
}

/* Behind a closing tag: takes white space after '-', else one newline if `newline`. */
static void after_tag(struct lexer *l, char sign, bool newline)
{
	const char *start = l->at;

	if (sign == '-')
		skip(l, text_spaces(l->at, left(l)));
	else if (newline && sign != '+' && l->at < l->end && *l->at == '\n')
		skip(l, 1);
	l->at_line_start = l->at > start && l->at[-1] == '\n';
}

static int comment(struct lexer *l)
{
	const char *s = l->at + 2, *close;

	if (s < l->end && (*s == '-' || *s == '+'))
		s++;
	close = text_find(s, (size_t)(l->end - s), "#}", 2);
	if (!close)
		return fail(l, "missing end of comment tag");
	skip(l, (size_t)(close + 2 - l->at));
	after_tag(l, close > s ? close[-1] : ' ', true);
	return 0;
}

/* If s begins a tag {% name %}, with signs and spaces, where it ends; else NULL. *sign: the closing one. */
static const char *bare_tag(const char *s, const char *end, const char *name, char *sign)
{
	s += 2;
	if (s < end && (*s == '-' || *s == '+'))
		s++;
	s += text_spaces(s, (size_t)(end - s));
	if (!starts(s, end, name))
		return NULL;
	s += strlen(name);
	s += text_spaces(s, (size_t)(end - s));
	*sign = s < end && (*s == '-' || *s == '+') ? *s++ : ' ';
	return starts(s, end, "%}") ? s + 2 : NULL;
}

/* {% raw %} at the cursor, which ends at `open`: its text as a token. */
static int raw(struct lexer *l, struct token *t, const char *open, char sign)
{
	const char *start, *s, *close = NULL;

	skip(l, (size_t)(open - l->at));
	after_tag(l, sign, false);
	t->type = T_DATA;
	t->line = l->line;
	start = l->at;
	for (s = start; (s = next_tag(s, l->end)) < l->end; s++)
		if (s[1] == '%' && (close = bare_tag(s, l->end, "endraw", &sign)))
			break;
	if (!close)
		return fail(l, "missing end of raw directive");
	t->s = start;
	t->n = (uint32_t)kept(l, start, (size_t)(s - start), s[2], false);
	skip(l, (size_t)(close - l->at));
	after_tag(l, sign, true);
	return 0;
}

/* The opening of a tag at the cursor; a comment or empty text gives no token and *t is left at T_END. */
static int open_tag(struct lexer *l, struct token *t)
{
	char sign;
	const char *end = NULL;

	l->pending = false;
	if (l->at[1] == '#')
		return comment(l);
	if (l->at[1] == '%')
		end = bare_tag(l->at, l->end, "raw", &sign);
	if (end)
		return raw(l, t, end, sign);
	t->type = l->at[1] == '%' ? T_BLOCK_BEGIN : T_PRINT_BEGIN;
	t->line = l->line;
	l->state = l->at[1] == '%' ? IN_BLOCK : IN_PRINT;
	l->nesting = 0;
	l->at += 2;
	if (l->at < l->end && (*l->at == '-' || *l->at == '+'))
		l->at++;
	return 0;
}

static int lex_text(struct lexer *l, struct token *t)
{
	while (l->at < l->end) {
		const char *tag;

		if (l->pending) {
			if (open_tag(l, t))
				return -1;
			if (t->type != T_END)
				return 0;
			continue;
		}
		tag = next_tag(l->at, l->end);
		t->s = l->at;
		t->n = (uint32_t)(tag - l->at);
		t->line = l->line;
		if (tag < l->end) {
			t->n = (uint32_t)kept(l, t->s, t->n, tag + 2 < l->end ? tag[2] : ' ', tag[1] == '{');
			l->pending = true;
		}
		skip(l, (size_t)(tag - l->at));
		if (t->n) {
			t->type = T_DATA;
			return 0;
		}
	}
	return 0;
}

static int32_t hex_digits(struct lexer *l, int n)
{
	int32_t c = 0;

	for (int i = 0; i < n; i++, l->at++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *hit = l->at < l->end && *l->at ? strchr(digits, *l->at) : NULL;

		if (!hit || c > 0xffffff)
			return -1;
		c = c << 4 | (int32_t)(hit - digits - (hit - digits > 15 ? 6 : 0));
	}
	return c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? -1 : c;
}

/* The escape at the cursor, unescaped to out; the number of bytes, or -1. */
static int unescape(struct lexer *l, char out[4])
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	char c = l->at[1];
	const char *hit = c ? strchr(from, c) : NULL;
	int32_t code = 0;

	l->at += 2;
	if (hit) {
		out[0] = to[hit - from];
		return 1;
	}
	if (c == '\n') {
		l->line++;
		return 0;
	}
	if (c == 'x' || c == 'u' || c == 'U') {
		code = hex_digits(l, c == 'x' ? 2 : c == 'u' ? 4 : 8);
		if (code < 0)
			return fail(l, "malformed escape in a string");
		return (int)utf8_put(out, code);
	}
	if (c < '0' || c > '7') {
		out[0] = '\\';
		out[1] = c;
		return 2;
	}
	l->at--;
	for (int i = 0; i < 3 && l->at < l->end && *l->at >= '0' && *l->at <= '7'; i++)
		code = code << 3 | (*l->at++ - '0');
	return (int)utf8_put(out, code);
}

static int lex_string(struct lexer *l, struct token *t)
{
	char quote = *l->at++, *out, *p;
	const char *close = l->at;

	while (close < l->end && *close != quote)
		close += *close == '\\' ? 2 : 1;
	if (close >= l->end)
		return fail(l, "a string does not end");
	p = out = arena_text(l->arena, (size_t)(close - l->at));
	if (!out)
		return fail(l, "out of memory");
	while (l->at < close) {
		char piece[4];
		int n;

		if (*l->at != '\\') {
			l->line += *l->at == '\n';
			*p++ = *l->at++;
			continue;
		}
		n = unescape(l, piece);
		if (n < 0)
			return -1;
		memcpy(p, piece, (size_t)n);
		p += n;
	}
	l->at = close + 1;
	t->type = T_STRING;
	t->s = out;
	t->n = (uint32_t)(p - out);
	return 0;
}

/* Digits of the base, with single underscores between them, to out[cap]; how many characters were read. */
static size_t digits(const char *s, const char *end, int base, char *out, size_t cap, size_t *n)
{
	const char *p = s;

	for (; p < end; p++) {
		int c = (unsigned char)*p | 32;
		int digit = *p >= '0' && *p <= '9' ? *p - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;

		if (*p == '_' && p > s && p[-1] != '_' && p + 1 < end && p[1] != '_')
			continue;
		if (digit >= base)
			break;
		if (*n < cap)
			out[(*n)++] = *p;
	}
	while (p > s && p[-1] == '_')
		p--;
	return (size_t)(p - s);
}

static int lex_number(struct lexer *l, struct token *t, bool whole_only)
{
	char text[128];
	size_t n = 0;
	const char *s = l->at, *p;
	int base = 10;

	if (*s == '0' && s + 1 < l->end)
		base = (s[1] | 32) == 'x' ? 16 : (s[1] | 32) == 'o' ? 8 : (s[1] | 32) == 'b' ? 2 : 10;
	if (base != 10)
		s += 2;
	p = s + digits(s, l->end, base, text, sizeof text - 8, &n);
	t->type = T_INT;
	if (!whole_only && base == 10 && l->end - p >= 2 && *p == '.' && p[1] >= '0' && p[1] <= '9') {
		t->type = T_FLOAT;
		text[n++] = '.';
		p++;
		p += digits(p, l->end, 10, text, sizeof text - 6, &n);
	}
	if (!whole_only && base == 10 && l->end - p >= 2 && (*p | 32) == 'e') {
		size_t sign = p[1] == '+' || p[1] == '-';

		if ((size_t)(l->end - p) > 1 + sign && p[1 + sign] >= '0' && p[1 + sign] <= '9') {
			t->type = T_FLOAT;
			text[n++] = 'e';
			if (sign)
				text[n++] = p[1];
			p += 1 + sign;
			p += digits(p, l->end, 10, text, sizeof text - 1, &n);
		}
	}
	text[n] = '\0';
	errno = 0;
	t->d = strtod(text, NULL);
	if (t->type == T_INT) {
		t->i = strtoll(text, NULL, base);
		if (errno || !n)
			return fail(l, "an integer that does not fit 64 bits");
	}
	l->at = p;
	return 0;
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static int lex_operator(struct lexer *l, struct token *t)
{
	static const char *const twos[] = { "==", "!=", ">=", "<=", "//", "**" };
	char c = *l->at;

	t->type = T_OP;
	for (size_t i = 0; i < sizeof twos / sizeof *twos; i++) {
		if (starts(l->at, l->end, twos[i])) {
			t->op = OP2(twos[i][0], twos[i][1]);
			l->at += 2;
			return 0;
		}
	}
	if (!c || !strchr("+-*/%~[](){}><=.:|,;", c)) {
		char reason[32];

		snprintf(reason, sizeof reason, "unexpected char '%c'", c);
		return fail(l, reason);
	}
	if (strchr("([{", c))
		l->nesting++;
	if (strchr(")]}", c)) {
		if (!l->nesting)
			return fail(l, "a closing bracket without its opening one");
		l->nesting--;
	}
	t->op = c;
	l->at++;
	return 0;
}

/* The end of the tag, if it is at the cursor: 1. */
static int close_tag(struct lexer *l, struct token *t)
{
	bool block = l->state == IN_BLOCK;
	const char *s = l->at, *mark = block ? "%}" : "}}";
	char sign = ' ';

	if (l->nesting)
		return 0;
	if (*s == '-' || (block && *s == '+'))
		sign = *s++;
	if (!starts(s, l->end, mark))
		return 0;
	l->at = s + 2;
	after_tag(l, sign, block);
	l->state = IN_TEXT;
	t->type = block ? T_BLOCK_END : T_PRINT_END;
	return 1;
}

int jinja_lex(struct lexer *l, struct token *t)
{
	bool after_dot = l->state != IN_TEXT && l->at[-1] == '.';

	*t = (struct token){ .line = l->line };
	if (l->state == IN_TEXT)
		return lex_text(l, t);
	skip(l, text_spaces(l->at, left(l)));
	t->line = l->line;
	if (l->at == l->end)
		return fail(l, "the template ends inside a tag");
	if (close_tag(l, t))
		return 0;
	if (*l->at == '"' || *l->at == '\'')
		return lex_string(l, t);
	if (*l->at >= '0' && *l->at <= '9')
		return lex_number(l, t, after_dot);
	if (!in_name(*l->at))
		return lex_operator(l, t);
	t->type = T_NAME;
	t->s = l->at;
	while (l->at < l->end && in_name(*l->at))
		l->at++;
	t->n = (uint32_t)(l->at - t->s);
	return 0;
}
