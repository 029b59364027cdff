/* Filters that read and write HTML: striptags, xmlattr, urlize. */
#include "builtin.h"

#include "lib/base/space.h"

#include <string.h>
#include <strings.h>

/* Whether s begins with the text. */
static bool begins(struct jv s, const char *text)
{
	return s.n >= strlen(text) && !memcmp(s.s, text, strlen(text));
}

static struct jv after(struct jv s, size_t n)
{
	return jv_str(s.s + n, s.n - n);
}

/* ---- striptags ---- */

/* Appends s without what is between `open` and `close`. */
static void put_outside(struct env *e, struct jv s, struct jv open, struct jv close)
{
	const char *from, *to;

	while ((from = jv_find(e, s, open, false)) && (to = jv_find(e, after(s, (size_t)(from - s.s)), close, false))) {
		env_put(e, s.s, (size_t)(from - s.s));
		s = after(s, (size_t)(to + close.n - s.s));
	}
	jv_put(e, s);
}

/* The character that &#...; names, as HTML replaces those that are none; 0 for one that is left out; -1: no number. */
static int32_t numbered(struct jv name)
{
	bool hex = name.n > 1 && (name.s[1] | 32) == 'x';
	uint32_t at = hex ? 2 : 1, code = 0, base = hex ? 16 : 10;

	if (at == name.n)
		return -1;
	for (; at < name.n; at++) {
		if ((uint32_t)text_digit(name.s[at]) >= base)
			return -1;
		code = code > 0x10ffff ? code : code * base + (uint32_t)text_digit(name.s[at]);
	}
	if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return UTF8_BAD;
	return (code < ' ' && code != '\t' && code != '\n' && code != '\f' && code != '\r') || code == 0x7f ? 0
		: (int32_t)code;
}

/* The character with that name, -1 for a name that is not known. */
static int32_t named(struct jv name)
{
	static const struct {
		const char *name;
		int32_t code;
	} entities[] = {
		{ "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' }, { "apos", '\'' }, { "nbsp", 0xa0 },
		{ "laquo", 0xab }, { "raquo", 0xbb }, { "copy", 0xa9 }, { "reg", 0xae }, { "trade", 0x2122 },
		{ "deg", 0xb0 }, { "middot", 0xb7 }, { "sect", 0xa7 }, { "para", 0xb6 }, { "times", 0xd7 },
		{ "ndash", 0x2013 }, { "mdash", 0x2014 }, { "lsquo", 0x2018 }, { "rsquo", 0x2019 },
		{ "ldquo", 0x201c }, { "rdquo", 0x201d }, { "bull", 0x2022 }, { "hellip", 0x2026 }, { "euro", 0x20ac },
		{ "pound", 0xa3 }, { "larr", 0x2190 }, { "rarr", 0x2192 },
	};

	if (name.n && *name.s == '#')
		return numbered(name);
	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
		if (jv_is(name, entities[i].name))
			return entities[i].code;
	return -1;
}

/* Appends s with entities replaced by their characters. */
static void put_unescaped(struct env *e, struct jv s)
{
	const char *hit, *end;
	struct jv name;
	int32_t code;
	char out[4];

	while (s.n && (hit = memchr(s.s, '&', s.n))) {
		env_put(e, s.s, (size_t)(hit - s.s));
		s = after(s, (size_t)(hit - s.s) + 1);
		env_tick(e, 4);
		end = memchr(s.s, ';', s.n < 32 ? s.n : 32);
		name = jv_str(s.s, end ? (size_t)(end - s.s) : 0);
		code = end ? named(name) : -1;
		if (code < 0)
			env_puts(e, "&");
		else
			s = after(s, name.n + 1);
		if (code > 0)
			env_put(e, out, utf8_put(out, code));
	}
	jv_put(e, s);
}

struct jv text_striptags(struct env *e, struct call *c)
{
	size_t start = e->out->n;
	struct call words = { .self = c->self, .b = builtin_find(jv_str("split", 5), OF_STR) };
	const struct jv_list *l;

	put_outside(e, c->self, jv_str("<!--", 4), jv_str("-->", 3));
	put_outside(e, jv_since(e, start), jv_str("<", 1), jv_str(">", 1));
	words.self = jv_since(e, start);
	l = text_split(e, &words).list;
	for (uint32_t i = 0; i < l->n; i++) {
		env_puts(e, i ? " " : "");
		jv_put(e, l->items[i]);
	}
	put_unescaped(e, jv_since(e, start));
	return jv_since(e, start);
}

/* ---- xmlattr ---- */

struct jv text_xmlattr(struct env *e, struct call *c)
{
	bool space = c->arg[0].kind == JV_ABSENT || jv_true(c->arg[0]), first = true;
	size_t start = e->out->n;

	jv_defined(e, c->self);
	if (c->self.kind != JV_DICT)
		env_fail(e, "'%s' object has no attribute 'items'", jv_type(c->self));
	for (uint32_t i = 0; i < c->self.dict->n; i++) {
		const struct jv_pair *p = &c->self.dict->pairs[i];
		struct jv key = jv_to_str(e, p->key), rest = key, one;
		int32_t ch;

		if (p->value.kind == JV_NONE || p->value.kind == JV_UNDEF)
			continue;
		env_tick(e, 1 + key.n);
		while (jv_next(&rest, &one, &ch))
			if (space_char(ch) || ch == '/' || ch == '>' || ch == '=')
				env_fail(e, "Invalid character in attribute name: '%.*s'", JV_SHOWN(key));
		env_puts(e, first && !space ? "" : " ");
		jv_put(e, markup_escape(e, key));
		env_puts(e, "=\"");
		jv_put(e, markup_escape(e, p->value));
		env_puts(e, "\"");
		first = false;
	}
	return jv_since(e, start);
}

/* ---- urlize ---- */

static bool is_word(int32_t c)
{
	return c == '_' || text_is(c, TEXT_ALNUM);
}

/* Whether the label has `least` to `most` characters of names of hosts. */
static bool is_label(struct jv label, int least, int most)
{
	struct jv one;
	int32_t c;
	int n = 0;

	for (; jv_next(&label, &one, &c); n++)
		if (!is_word(c) && c != '%' && c != '-')
			return false;
	return n >= least && n <= most;
}

static bool is_ascii_letters(struct jv s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (text_digit(s.s[i]) < 10 || text_digit(s.s[i]) > 35)
			return false;
	return true;
}

/* Takes the label before the next dot; false after the last. */
static bool next_label(struct jv *rest, struct jv *label)
{
	const char *dot;

	if (!rest->s)
		return false;
	dot = rest->n ? memchr(rest->s, '.', rest->n) : NULL;
	*label = jv_str(rest->s, dot ? (size_t)(dot - rest->s) : rest->n);
	*rest = dot ? after(*rest, label->n + 1) : jv_str(NULL, 0);
	return true;
}

/* A host whose labels before the last have at least `least` characters. With a scheme or www. the last label is any;
 * without, one of the oldest. */
static bool is_host(struct jv host, bool schemed)
{
	static const char *const oldest[] = { "com", "net", "int", "edu", "gov", "org", "info", "mil" };
	struct jv label;
	int n = 0;

	for (; next_label(&host, &label) && host.s; n++)
		if (!is_label(label, schemed ? 1 : 2, schemed ? INT32_MAX : 63))
			return false;
	if (schemed && label.n > 4 && !strncasecmp(label.s, "xn--", 4))
		return is_label(after(label, 4), 2, 59) && !memchr(label.s + 4, '-', label.n - 4);
	if (schemed)
		return is_ascii_letters(label) && label.n >= 2 && label.n <= 63;
	for (size_t i = 0; n && i < sizeof oldest / sizeof *oldest; i++)
		if (label.n == strlen(oldest[i]) && !strncasecmp(label.s, oldest[i], label.n))
			return true;
	return false;
}

static bool is_ipv4(struct jv host)
{
	struct jv label;
	int n = 0;

	for (; next_label(&host, &label); n++) {
		if (!label.n || label.n > 3)
			return false;
		for (uint32_t i = 0; i < label.n; i++)
			if (text_digit(label.s[i]) > 9)
				return false;
	}
	return n == 4;
}

/* [hex digits and colons]: two groups that end in a colon, and one to six more. */
static bool is_ipv6(struct jv host)
{
	int colons = 0, digits = 0;

	if (host.n < 4 || *host.s != '[' || host.s[host.n - 1] != ']')
		return false;
	for (uint32_t i = 1; i < host.n - 1; i++) {
		if (host.s[i] != ':' && (text_digit(host.s[i]) > 15 || ++digits > 4))
			return false;
		if (host.s[i] == ':') {
			colons++;
			digits = 0;
		}
	}
	return colons >= 2 && colons <= 8;
}

/* [:port][/path, ?query or #fragment] */
static bool is_path(struct jv s)
{
	uint32_t n = 1;

	if (s.n && *s.s == ':') {
		while (n < s.n && text_digit(s.s[n]) < 10)
			n++;
		if (n == 1 || n > 6)
			return false;
		s = after(s, n);
	}
	return !s.n || strchr("/?#", *s.s);
}

static bool is_address(struct jv s)
{
	static const char *const schemes[] = { "https://", "http://", "www." };
	struct jv host, rest = s;
	const char *close;
	size_t n = 0;
	bool schemed = false, www = false;

	for (size_t i = 0; i < 3 && !schemed; i++) {
		if (s.n < strlen(schemes[i]) || strncasecmp(s.s, schemes[i], strlen(schemes[i])))
			continue;
		schemed = true;
		www = i == 2;
		rest = after(s, strlen(schemes[i]));
	}
	close = rest.n && *rest.s == '[' ? memchr(rest.s, ']', rest.n) : NULL;
	if (close)
		n = (size_t)(close - rest.s) + 1;
	while (!close && n < rest.n && !strchr(":/?#", rest.s[n]))
		n++;
	host = jv_str(rest.s, n);
	if (!is_path(after(rest, n)))
		return false;
	if (schemed && (is_host(host, true) || (!www && (is_ipv4(host) || is_ipv6(host)))))
		return true;
	host = jv_str(s.s, (size_t)(rest.s - s.s) + n);
	return (!schemed || www) && is_host(host, false);
}

/* name@host: the host has a dot, and a word after the last one. */
static bool is_mail(struct jv s)
{
	const char *at = NULL;
	bool first = true, dot = false, word = false;
	struct jv host, one;
	int32_t c;

	for (uint32_t i = 1; i < s.n; i++)
		at = s.s[i] == '@' ? s.s + i : at;
	if (!at)
		return false;
	for (host = after(s, (size_t)(at - s.s) + 1); jv_next(&host, &one, &c); first = false) {
		if (!is_word(c) && (first || (c != '.' && c != '-')))
			return false;
		dot |= c == '.';
		word = c == '.' || (is_word(c) && word);
	}
	return dot && word && at[1] && s.s[s.n - 1] != '.';
}

struct link {
	struct jv rel, target;          /* as attributes */
	int64_t longest;                /* characters shown; negative: all */
	const struct jv_list *schemes;  /* or NULL */
};

static void put_link(struct env *e, const struct link *l, const char *prefix, struct jv address, struct jv shown)
{
	bool mail = !strcmp(prefix, "mailto:");
	int64_t n = l->longest >= 0 && !mail ? jv_length(e, shown) : 0;

	env_puts(e, "<a href=\"");
	env_puts(e, prefix);
	jv_put(e, address);
	env_puts(e, "\"");
	jv_put(e, mail ? jv_str("", 0) : l->rel);
	jv_put(e, mail ? jv_str("", 0) : l->target);
	env_puts(e, ">");
	if (n > l->longest && l->longest >= 0 && !mail) {
		shown.n = (uint32_t)text_offset(shown.s, shown.n, l->longest);
		jv_put(e, shown);
		env_puts(e, "...");
	} else
		jv_put(e, shown);
	env_puts(e, "</a>");
}

/* Takes what may stand before an address off *s. */
static struct jv take_head(struct jv *s)
{
	struct jv head = jv_str(s->s, 0);
	uint32_t n;

	while ((n = begins(*s, "(") || begins(*s, "<") ? 1 : begins(*s, "&lt;") ? 4 : 0)) {
		head.n += n;
		*s = after(*s, n);
	}
	return head;
}

/* The same for what may stand after it. */
static struct jv take_tail(struct jv *s)
{
	uint32_t end = s->n, n;

	for (; s->n; s->n -= n) {
		n = strchr(")>.,\n", s->s[s->n - 1]) ? 1 : s->n >= 4 && !memcmp(s->s + s->n - 4, "&gt;", 4) ? 4 : 0;
		if (!n)
			break;
	}
	return jv_str(s->s + s->n, end - s->n);
}

static uint32_t count(struct env *e, struct jv s, struct jv what)
{
	const char *hit;
	uint32_t n = 0;

	for (; (hit = jv_find(e, s, what, false)); n++)
		s = after(s, (size_t)(hit - s.s) + what.n);
	return n;
}

/* Gives the word closing brackets back from the tail that belong to opening ones in it. */
static void balance(struct env *e, struct jv *word, struct jv *tail)
{
	static const char *const open[] = { "(", "<", "&lt;" }, *const close[] = { ")", ">", "&gt;" };

	for (int i = 0; i < 3; i++) {
		struct jv from = jv_str(open[i], strlen(open[i])), to = jv_str(close[i], strlen(close[i]));
		uint32_t n = count(e, *word, from), back = count(e, *tail, to);

		if (n <= count(e, *word, to))
			continue;
		for (n = n < back ? n : back; n; n--) {
			size_t taken = (size_t)(jv_find(e, *tail, to, false) - tail->s) + to.n;

			word->n += (uint32_t)taken;
			*tail = after(*tail, taken);
		}
	}
}

static void put_word(struct env *e, const struct link *l, struct jv word)
{
	struct jv head = take_head(&word), tail = take_tail(&word);
	bool done = true;

	balance(e, &word, &tail);
	env_tick(e, 8 + word.n / 2);
	jv_put(e, head);
	if (is_address(word))
		put_link(e, l, begins(word, "https://") || begins(word, "http://") ? "" : "https://", word, word);
	else if (begins(word, "mailto:") && is_mail(after(word, 7)))
		put_link(e, l, "mailto:", after(word, 7), after(word, 7));
	else if (word.n && *word.s != '@' && !begins(word, "www.") && !memchr(word.s, ':', word.n) && is_mail(word))
		put_link(e, l, "mailto:", word, word);
	else
		done = false;
	for (uint32_t i = 0; !done && l->schemes && i < l->schemes->n; i++) {
		struct jv scheme = l->schemes->items[i];

		done = scheme.kind == JV_STR && word.n > scheme.n && !memcmp(word.s, scheme.s, scheme.n);
		if (done)
			put_link(e, &(struct link){ l->rel, l->target, -1, NULL }, "", word, word);
	}
	if (!done)
		jv_put(e, word);
	jv_put(e, tail);
}

/* ` name="value"`, nothing for an empty value. */
static struct jv attribute(struct env *e, const char *name, struct jv value)
{
	size_t start = e->out->n;

	if (!value.n)
		return jv_str("", 0);
	env_printf(e, " %s=\"", name);
	jv_put(e, markup_escape(e, value));
	env_puts(e, "\"");
	return jv_since(e, start);
}

/* The words of rel in order, each once, with those that urlize adds. */
static struct jv relations(struct env *e, struct jv rel, bool nofollow)
{
	struct jv all = jv_dict(e, JV_DICT);
	size_t start = e->out->n;
	struct call words = { .self = rel, .b = builtin_find(jv_str("split", 5), OF_STR) };
	const struct jv_list *l = text_split(e, &words).list;

	for (uint32_t i = 0; i < l->n; i++)
		jv_dict_set(e, all.dict, l->items[i], jv_none);
	if (nofollow)
		jv_dict_set(e, all.dict, jv_str("nofollow", 8), jv_none);
	jv_dict_set(e, all.dict, jv_str("noopener", 8), jv_none);
	jv_sort(e, all.dict->pairs, all.dict->n, false);
	for (uint32_t i = 0; i < all.dict->n; i++) {
		env_puts(e, i ? " " : "");
		jv_put(e, all.dict->pairs[i].key);
	}
	return jv_since(e, start);
}

/* The arguments are trim_url_limit, nofollow, target, rel and extra_schemes. */
struct jv text_urlize(struct env *e, struct call *c)
{
	const struct jv none = jv_str("", 0);
	struct jv target = arg_str(e, c, 2, jv_none), rel = arg_str(e, c, 3, jv_none), text, one, word;
	struct link l = { .rel = relations(e, rel.kind == JV_STR ? rel : none, jv_true(c->arg[1])),
		.longest = arg_int(e, c, 0, -1), .schemes = jv_in(c->arg[4], JV_ARRAYS) ? c->arg[4].list : NULL };
	size_t start;
	int32_t ch;

	l.rel = attribute(e, "rel", l.rel);
	l.target = attribute(e, "target", target.kind == JV_STR ? target : none);
	text = markup_escape(e, c->self);
	start = e->out->n;
	for (word = jv_str(text.s, 0); jv_next(&text, &one, &ch); word.n += one.n) {
		if (!space_char(ch))
			continue;
		put_word(e, &l, word);
		jv_put(e, one);
		word = jv_str(text.s, 0);
		one.n = 0;
	}
	put_word(e, &l, word);
	return jv_since(e, start);
}
