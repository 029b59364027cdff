/* Template text to tokens: the text outside the tags, without the white space that tags remove, and the words of the
 * tags. */
#include "syntax.h"
#include "text.h"

#include "lib/base/space.h"
#include "lib/base/utf8.h"

#include <stdio.h>
#include <string.h>

static _Noreturn void fail(struct lexer *l, const char *reason)
{
	l->e->line = l->line;
	env_fail(l->e, "%s", reason);
}

static void skip(struct lexer *l, const char *to)
{
	for (; l->at < to; l->at++)
		l->line += *l->at == '\n';
}

static bool starts(const char *s, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - s) >= n && !memcmp(s, with, n);
}

static const char *skip_space(const char *s, const char *end)
{
	return s + space_leading(s, (size_t)(end - s));
}

static bool is_sign(const char *s, const char *end)
{
	return s < end && (*s == '-' || *s == '+');
}

/* Where the next {{, {% or {# starts, or the end. */
static const char *next_tag(const char *s, const char *end)
{
	for (; (s = memchr(s, '{', (size_t)(end - s))); s++)
		if (end - s >= 2 && (s[1] == '{' || s[1] == '%' || s[1] == '#'))
			return s;
	return end;
}

/* The text from s up to `tag`, without the white space that the tag removes. */
static struct lexeme text_before(const struct lexer *l, const char *s, const char *tag)
{
	char sign = l->end - tag > 2 ? tag[2] : ' ';
	size_t n = (size_t)(tag - s), line = n;

	if (sign == '-') {
		n = space_trimmed(s, n);
	} else if (tag < l->end && sign != '+' && tag[1] != '{') {
		while (line && s[line - 1] != '\n')
			line--;
		if ((line || l->at_line_start) && space_leading(s + line, n - line) == n - line)
			n = line;
	}
	return (struct lexeme){ .type = T_DATA, .line = l->line, .s = s, .n = (uint32_t)n };
}

/* Takes a closing tag, which ends at `to`: then skips all white space if its sign is '-', or else one newline if
 * `newline`. */
static void close_at(struct lexer *l, const char *to, char sign, bool newline)
{
	skip(l, to);
	if (sign == '-')
		skip(l, skip_space(l->at, l->end));
	else if (newline && sign != '+' && l->at < l->end && *l->at == '\n')
		skip(l, l->at + 1);
	l->at_line_start = l->at > to && l->at[-1] == '\n';
}

static void comment(struct lexer *l)
{
	const char *s = l->at + 2, *close;

	s += is_sign(s, l->end);
	close = jv_find(l->e, jv_str(s, (size_t)(l->end - s)), jv_str("#}", 2), false);
	if (!close)
		fail(l, "missing end of comment tag");
	close_at(l, close + 2, close > s ? close[-1] : ' ', true);
}

/* If s starts a tag {% name %}, with signs and spaces, where it ends; else NULL. *sign: the closing one. */
static const char *bare_tag(const char *s, const char *end, const char *name, char *sign)
{
	s += 2;
	s = skip_space(s + is_sign(s, end), end);
	if (!starts(s, end, name))
		return NULL;
	s = skip_space(s + strlen(name), end);
	*sign = is_sign(s, end) ? *s++ : ' ';
	return starts(s, end, "%}") ? s + 2 : NULL;
}

/* {% raw %} at the cursor, which ends at `open`: its text as a token. */
static struct lexeme raw(struct lexer *l, const char *open, char sign)
{
	const char *s, *close = NULL;
	struct lexeme t;

	close_at(l, open, sign, false);
	for (s = l->at; (s = next_tag(s, l->end)) < l->end; s++)
		if (s[1] == '%' && (close = bare_tag(s, l->end, "endraw", &sign)))
			break;
	if (!close)
		fail(l, "missing end of raw directive");
	t = text_before(l, l->at, s);
	close_at(l, close, sign, true);
	return t;
}

/* The start of the tag at the cursor, or the text of a raw block; T_END for a comment. */
static struct lexeme open_tag(struct lexer *l)
{
	struct lexeme t = { .type = T_SIGN, .line = l->line, .s = l->at, .n = 2 };
	char sign;
	const char *end;

	l->tag_next = false;
	if (l->at[1] == '#') {
		comment(l);
		return (struct lexeme){ .type = T_END };
	}
	if (l->at[1] == '%' && (end = bare_tag(l->at, l->end, "raw", &sign)))
		return raw(l, end, sign);
	l->state = l->at[1] == '%' ? IN_BLOCK : IN_PRINT;
	l->nesting = 0;
	l->at += 2;
	l->at += is_sign(l->at, l->end);
	return t;
}

static struct lexeme lex_text(struct lexer *l)
{
	struct lexeme t;

	while (l->at < l->end) {
		if (l->tag_next) {
			t = open_tag(l);
			if (t.type != T_END)
				return t;
		} else {
			const char *tag = next_tag(l->at, l->end);

			t = text_before(l, l->at, tag);
			l->tag_next = tag < l->end;
			skip(l, tag);
			if (t.n)
				return t;
		}
	}
	return (struct lexeme){ .type = T_END, .line = l->line };
}

/* Up to n digits of the base, with the cursor after them. */
static int32_t digits(struct lexer *l, int n, int base)
{
	int32_t c = 0;

	for (; n > 0 && l->at < l->end && text_digit(*l->at) < base; n--)
		c = c > 0xffffff ? c : c * base + text_digit(*l->at++);
	return n && base == 16 ? -1 : c;
}

/* The escape at the cursor, unescaped to out; returns the number of bytes. */
static unsigned unescape(struct lexer *l, char out[4])
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	char c = l->at[1];
	const char *hit = c ? strchr(from, c) : NULL;
	int32_t code;

	l->at += 2;
	if (hit) {
		out[0] = to[hit - from];
		return 1;
	}
	if (c == '\n') {
		l->line++;
		return 0;
	}
	if (c >= '0' && c <= '7') {
		l->at--;
		return utf8_put(out, digits(l, 3, 8));
	}
	if (c != 'x' && c != 'u' && c != 'U') {
		out[0] = '\\';
		out[1] = c;
		return 2;
	}
	code = digits(l, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16);
	if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		fail(l, "malformed escape in a string");
	return utf8_put(out, code);
}

static void lex_string(struct lexer *l, struct lexeme *t)
{
	char quote = *l->at++, *p;
	const char *close = l->at;

	while (close < l->end && *close != quote)
		close += *close == '\\' ? 2 : 1;
	if (close >= l->end)
		fail(l, "unterminated string");
	t->type = T_STRING;
	t->s = p = env_text(l->e, (size_t)(close - l->at));
	while (l->at < close) {
		char piece[4];
		unsigned n = 1;

		if (*l->at == '\\') {
			n = unescape(l, piece);
		} else {
			l->line += *l->at == '\n';
			piece[0] = *l->at++;
		}
		memcpy(p, piece, n);
		p += n;
	}
	l->at = close + 1;
	t->n = (uint32_t)(p - t->s);
}

/* Where the digits of the base end, with the underscores between them. */
static const char *skip_digits(const char *s, const char *end, int base)
{
	while (s < end && text_digit(*s == '_' && s + 1 < end ? s[1] : *s) < base)
		s++;
	return s;
}

/* whole: the number follows a dot, and has neither fraction nor exponent. */
static void lex_number(struct lexer *l, struct lexeme *t, bool whole)
{
	const char *s = l->at, *p, *end = l->end;
	bool prefix = *s == '0' && s + 1 < end && s[1] && strchr("xXoObB", s[1]);
	int base = !prefix ? 10 : (s[1] | 32) == 'x' ? 16 : (s[1] | 32) == 'o' ? 8 : 2;
	size_t sign;

	whole |= prefix;
	l->at = p = skip_digits(s + 2 * prefix, end, base);
	if (!whole && end - p >= 2 && *p == '.' && text_digit(p[1]) < 10)
		p = skip_digits(p + 1, end, 10);
	sign = end - p >= 2 && is_sign(p + 1, end);
	if (!whole && (size_t)(end - p) > 1 + sign && (*p | 32) == 'e' && text_digit(p[1 + sign]) < 10)
		p = skip_digits(p + 1 + sign, end, 10);
	t->type = T_NUMBER;
	t->value = jv_str(s, (size_t)(p - s));
	t->value = p == l->at ? number_integer(l->e, t->value, base) : number_real(l->e, t->value);
	if (t->value.kind == JV_ABSENT)
		fail(l, "malformed number");
	l->at = p;
}

static bool in_name(char c)
{
	return text_digit(c) < 36 || c == '_' || (unsigned char)c >= 0x80;
}

static void lex_operator(struct lexer *l, struct lexeme *t)
{
	static const char *const twos[] = { "==", "!=", ">=", "<=", "//", "**" };
	char c = *l->at, reason[32];

	t->n = 1;
	for (size_t i = 0; i < sizeof twos / sizeof *twos; i++)
		if (starts(l->at, l->end, twos[i]))
			t->n = 2;
	if (t->n == 1 && (!c || !strchr("+-*/%~[](){}><=.:|,;", c))) {
		snprintf(reason, sizeof reason, "unexpected char '%c'", c);
		fail(l, reason);
	}
	if (strchr("([{", c))
		l->nesting++;
	if (strchr(")]}", c) && !l->nesting--)
		fail(l, "closing bracket without an opening one");
	t->s = l->at;
	l->at += t->n;
}

/* Takes the end of the tag if it is at the cursor. */
static bool close_tag(struct lexer *l, struct lexeme *t)
{
	bool block = l->state == IN_BLOCK;
	char sign = *l->at == '-' || (block && *l->at == '+') ? *l->at : ' ';

	t->s = l->at + (sign != ' ');
	t->n = 2;
	if (l->nesting || !starts(t->s, l->end, block ? "%}" : "}}"))
		return false;
	close_at(l, t->s + 2, sign, block);
	l->state = IN_TEXT;
	return true;
}

struct lexeme lex(struct lexer *l)
{
	bool after_dot = l->state != IN_TEXT && l->at[-1] == '.';
	struct lexeme t = { .type = T_SIGN };

	if (l->state == IN_TEXT)
		return lex_text(l);
	skip(l, skip_space(l->at, l->end));
	t.line = l->line;
	if (l->at == l->end)
		fail(l, "the template ends inside a tag");
	if (close_tag(l, &t))
		return t;
	if (*l->at == '"' || *l->at == '\'') {
		lex_string(l, &t);
	} else if (text_digit(*l->at) < 10) {
		lex_number(l, &t, after_dot);
	} else if (in_name(*l->at)) {
		t.type = T_NAME;
		for (t.s = l->at; l->at < l->end && in_name(*l->at); l->at++)
			;
		t.n = (uint32_t)(l->at - t.s);
	} else {
		lex_operator(l, &t);
	}
	return t;
}
