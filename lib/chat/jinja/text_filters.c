/* The filters that make text of their operand. */
#include "priv.h"

#include "lib/base/utf8.h"

#include <string.h>

/* What most of them begin with: text as it is, anything else as str() spells it. */
static struct jv soft(struct env *e, struct jv v)
{
	return v.kind == JV_STR ? v : jv_to_str(e, v);
}

static struct jv recase(struct env *e, struct call *c, enum text_case to)
{
	struct jv s = soft(e, c->self);

	return s.kind == JV_ERROR ? s : text_recase(e, s, to);
}

static struct jv f_upper(struct env *e, struct call *c)
{
	return recase(e, c, TEXT_UPPER);
}

static struct jv f_lower(struct env *e, struct call *c)
{
	return recase(e, c, TEXT_LOWER);
}

static struct jv f_capitalize(struct env *e, struct call *c)
{
	return recase(e, c, TEXT_CAPITAL);
}

/* Unlike str.title: a word begins after space and -([{< alone. */
static struct jv f_title(struct env *e, struct call *c)
{
	struct jv s = soft(e, c->self);
	struct bytes b = jinja_buffer(e);
	bool first = true;
	unsigned used;

	if (s.kind == JV_ERROR || jinja_tick(e, s.n / 2))
		return jv_error();
	for (uint32_t at = 0; at < s.n; at += used) {
		int32_t ch = utf8_next(s.s + at, s.n - at, &used);
		char piece[4];

		if (ch < 0)
			bytes_put(&b, s.s + at, used);
		else
			bytes_put(&b, piece, utf8_put(piece, first ? text_upper(ch) : text_lower(ch)));
		first = text_is_space(ch) || (ch > 0 && ch < 0x80 && strchr("-({[<", (int)ch));
	}
	return jv_take(e, &b);
}

static struct jv f_trim(struct env *e, struct call *c)
{
	struct jv s = soft(e, c->self), chars;

	if (s.kind == JV_ERROR || jinja_arg_str(e, c, 0, jv_none(), &chars))
		return jv_error();
	return text_strip(e, s, chars, 3);
}

static struct jv f_string(struct env *e, struct call *c)
{
	return soft(e, c->self);
}

static struct jv f_safe(struct env *e, struct call *c)
{
	struct jv s = soft(e, c->self);

	s.markup = s.kind == JV_STR;
	return s;
}

static struct jv f_escape(struct env *e, struct call *c)
{
	return text_escape(e, c->self);
}

static struct jv f_forceescape(struct env *e, struct call *c)
{
	c->self.markup = false;
	return text_escape(e, c->self);
}

static struct jv f_replace(struct env *e, struct call *c)
{
	struct jv s = jv_to_str(e, c->self), old = jv_to_str(e, c->arg[0]), new = jv_to_str(e, c->arg[1]);
	int64_t count;

	if (e->failed || jinja_arg_int(e, c, 2, -1, &count))
		return jv_error();
	return text_replace(e, s, old, new, count);
}

/* What lines are set in by: a string or a number of spaces. */
static struct jv indention(struct env *e, const struct call *c)
{
	int64_t width;

	if (c->arg[0].kind == JV_STR)
		return c->arg[0];
	if (jinja_arg_int(e, c, 0, 4, &width))
		return jv_error();
	return jinja_arith(e, '*', jv_str(" ", 1), jv_int(width));
}

static struct jv f_indent(struct env *e, struct call *c)
{
	struct jv s = c->self, pad, lines;
	struct bytes b = jinja_buffer(e);
	bool first = jinja_arg_true(c, 1, false), blank = jinja_arg_true(c, 2, false);

	if (s.kind == JV_UNDEF)
		return jv_fail_undefined(e, s);
	if (s.kind != JV_STR)
		return jv_fail(e, "indent: a string is wanted, not %s", jv_type(s));
	pad = indention(e, c);
	lines = pad.kind == JV_ERROR ? pad : jv_concat(e, s, jv_str("\n", 1));
	lines = lines.kind == JV_ERROR ? lines : text_split_lines(e, lines, false);
	if (lines.kind == JV_ERROR)
		return lines;
	for (uint32_t i = 0; i < lines.list->n && !b.failed; i++) {
		struct jv line = lines.list->items[i];

		if (i)
			bytes_puts(&b, "\n");
		if (i ? blank || line.n : first)
			bytes_put(&b, pad.s, pad.n);
		bytes_put(&b, line.s, line.n);
	}
	lines = jv_take(e, &b);
	lines.markup = s.markup && lines.kind == JV_STR;
	return lines;
}

static struct jv f_center(struct env *e, struct call *c)
{
	struct call center = { .self = soft(e, c->self), .pos = c->arg, .n_pos = 1 };

	if (center.self.kind == JV_ERROR)
		return center.self;
	if (c->arg[0].kind == JV_ABSENT)
		c->arg[0] = jv_int(80);
	return jinja_run(e, jinja_find(jinja_str_methods, "center", 6), &center);
}

static struct jv f_truncate(struct env *e, struct call *c)
{
	struct jv s = c->self, end;
	int64_t length, leeway, keep, n;
	bool killwords = jinja_arg_true(c, 1, false);

	if (jinja_arg_int(e, c, 0, 255, &length) || jinja_arg_str(e, c, 2, jv_str("...", 3), &end) || jinja_arg_int(e, c, 3, 5, &leeway))
		return jv_error();
	keep = length - (int64_t)text_length(end.s, end.n);
	if (keep < 0 || leeway < 0)
		return jv_fail(e, "truncate: expected length >= the end's, leeway >= 0");
	n = jv_length(e, s);
	if (n < 0 || n <= length + leeway)
		return n < 0 ? jv_error() : s;
	if (s.kind != JV_STR)
		return jv_fail(e, "truncate: a string is wanted, not %s", jv_type(s));
	s.n = (uint32_t)text_offset(s.s, s.n, keep);
	if (!killwords) {
		uint32_t cut = s.n;

		while (cut && s.s[cut - 1] != ' ')
			cut--;
		s.n = cut ? cut - 1 : s.n;
	}
	return jv_concat(e, s, end);
}

static struct jv f_wordcount(struct env *e, struct call *c)
{
	struct jv s = soft(e, c->self);
	int64_t n = 0;
	bool inside = false;
	unsigned used;

	if (s.kind == JV_ERROR || jinja_tick(e, s.n / 2))
		return jv_error();
	for (uint32_t at = 0; at < s.n; at += used) {
		int32_t ch = utf8_next(s.s + at, s.n - at, &used);
		bool word = ch == '_' || (ch >= '0' && ch <= '9') || text_is_letter(ch);

		n += word && !inside;
		inside = word;
	}
	return jv_int(n);
}

static struct jv f_format(struct env *e, struct call *c)
{
	struct jv s = soft(e, c->self), args;

	if (s.kind == JV_ERROR)
		return s;
	if (c->n_kw) {
		struct call named = { .name = "format", .kw = c->kw, .n_kw = c->n_kw };

		args = jv_dict(e, JV_DICT);
		if (args.kind == JV_ERROR || jinja_fill_dict(e, args.dict, &named))
			return jv_error();
		return text_percent(e, s, args);
	}
	args = jv_list(e, JV_TUPLE, c->n_pos);
	for (uint32_t i = 0; i < c->n_pos && args.kind != JV_ERROR; i++)
		if (jv_push(e, args.list, c->pos[i]))
			return jv_error();
	return args.kind == JV_ERROR ? args : text_percent(e, s, args);
}

/* v as a part of a URL; query: as a part of what follows its '?'. */
static int put_quoted(struct env *e, struct bytes *b, struct jv v, bool query)
{
	struct jv s = jv_to_str(e, v);

	if (s.kind == JV_ERROR || jinja_tick(e, s.n))
		return -1;
	for (uint32_t i = 0; i < s.n; i++) {
		unsigned char ch = (unsigned char)s.s[i];
		char out[4];

		if (ch == ' ' && query)
			bytes_puts(b, "+");
		else if ((ch < 0x80 && text_is_letter(ch)) || (ch >= '0' && ch <= '9') || (ch && strchr("_.-~", ch)) || (ch == '/' && !query))
			bytes_put(b, s.s + i, 1);
		else
			bytes_put(b, out, (size_t)snprintf(out, sizeof out, "%%%02X", ch));
	}
	return 0;
}

/* A mapping or pairs become a query string. */
static struct jv f_urlencode(struct env *e, struct call *c)
{
	struct bytes b = jinja_buffer(e);
	struct jv v = c->self;
	struct jv_list *l;

	if (v.kind == JV_UNDEF || v.kind == JV_STR || v.kind < JV_LIST) {
		put_quoted(e, &b, v, false);
	} else if ((l = v.kind == JV_DICT ? jv_walk(e, jinja_dict_items(e, v)) : jv_walk(e, v))) {
		for (uint32_t i = 0; i < l->n && !e->failed; i++) {
			struct jv_list *pair = jv_walk(e, l->items[i]);

			if (pair && pair->n != 2)
				jv_fail(e, "urlencode: pairs are wanted, not %u values", pair->n);
			if (i)
				bytes_puts(&b, "&");
			if (!e->failed && !put_quoted(e, &b, pair->items[0], true) && !bytes_puts(&b, "="))
				put_quoted(e, &b, pair->items[1], true);
		}
	}
	if (e->failed) {
		bytes_free(&b);
		return jv_error();
	}
	return jv_take(e, &b);
}

static struct jv f_tojson(struct env *e, struct call *c)
{
	struct bytes b = jinja_buffer(e);
	struct json_writer w = json_to_bytes(&b);
	struct jv pad = c->arg[1], separators = c->arg[2], parts[2];
	char indent[256], comma[32], colon[32];

	w.ascii = jinja_arg_true(c, 0, false);
	if (pad.kind != JV_ABSENT && pad.kind != JV_NONE) {
		if (pad.kind != JV_STR)
			pad = indention(e, &(struct call){ .name = "tojson", .arg = { c->arg[1] } });
		if (pad.kind == JV_ERROR || pad.n >= sizeof indent)
			return jv_fail(e, "tojson: the indent is too wide");
		snprintf(indent, sizeof indent, "%.*s", (int)pad.n, pad.n ? pad.s : "");
		w.indent = indent;
		w.comma = ",";
	}
	if (separators.kind == JV_LIST || separators.kind == JV_TUPLE) {
		if (separators.list->n != 2)
			return jv_fail(e, "tojson: two separators are wanted");
		for (int i = 0; i < 2; i++) {
			parts[i] = separators.list->items[i];
			if (parts[i].kind != JV_STR || parts[i].n >= sizeof comma)
				return jv_fail(e, "tojson: separators are short strings");
		}
		snprintf(comma, sizeof comma, "%.*s", (int)parts[0].n, parts[0].s);
		snprintf(colon, sizeof colon, "%.*s", (int)parts[1].n, parts[1].s);
		w.comma = comma;
		w.colon = colon;
	}
	if (jv_put_json(e, &w, c->self, jinja_arg_true(c, 3, false))) {
		bytes_free(&b);
		return jv_full(e);
	}
	return jv_take(e, &b);
}

static struct jv f_from_json(struct env *e, struct call *c)
{
	struct why w;
	struct json *v;

	if (c->self.kind != JV_STR)
		return jv_fail(e, "from_json: a string is wanted, not %s", jv_type(c->self));
	if (jinja_tick(e, c->self.n / 2))
		return jv_error();
	v = json_parse(&e->arena, c->self.s, c->self.n, &w);
	return v ? jv_from_json(e, v) : jv_fail(e, "from_json: %s", w.text);
}

const struct builtin jinja_text_filters[] = {
	{ "capitalize", f_capitalize, "" }, { "center", f_center, "?width" }, { "e", f_escape, "" }, { "escape", f_escape, "" },
	{ "forceescape", f_forceescape, "" }, { "format", f_format, NULL }, { "from_json", f_from_json, "" }, { "fromjson", f_from_json, "" },
	{ "indent", f_indent, "?width first blank" }, { "lower", f_lower, "" }, { "replace", f_replace, "old new ?count" },
	{ "safe", f_safe, "" }, { "string", f_string, "" }, { "title", f_title, "" },
	{ "tojson", f_tojson, "?ensure_ascii indent separators sort_keys" }, { "trim", f_trim, "?chars" },
	{ "truncate", f_truncate, "?length killwords end leeway" }, { "upper", f_upper, "" }, { "urlencode", f_urlencode, "" },
	{ "wordcount", f_wordcount, "" },
	{ 0 },
};
