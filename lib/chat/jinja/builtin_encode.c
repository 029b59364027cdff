/* Filters that encode values for HTML, URLs and JSON, and read JSON. */
#include "builtin.h"

#include <stdio.h>
#include <string.h>

struct jv markup_escape(struct env *e, struct jv v)
{
	static const char special[] = "&<>'\"";
	static const char *const escapes[] = { "&amp;", "&lt;", "&gt;", "&#39;", "&#34;" };
	size_t start = e->out->n, plain = 0;
	struct jv s;

	if (v.kind == JV_STR && v.markup)
		return v;
	s = jv_to_str(e, v);
	env_tick(e, s.n / 3);
	for (uint32_t i = 0; i < s.n; i++) {
		const char *hit = s.s[i] ? strchr(special, s.s[i]) : NULL;

		if (!hit)
			continue;
		env_put(e, s.s + plain, i - plain);
		env_puts(e, escapes[hit - special]);
		plain = i + 1;
	}
	if (s.n)
		env_put(e, s.s + plain, s.n - plain);
	return jv_markup(jv_since(e, start), true);
}

/* what: 1 to escape markup too */
struct jv text_escape(struct env *e, struct call *c)
{
	return markup_escape(e, jv_markup(c->self, c->self.markup && !c->b->what));
}

/* Appends v escaped for a URL, or for its query. */
static void put_url(struct env *e, struct jv v, bool query)
{
	struct jv s = jv_to_str(e, v);

	env_tick(e, s.n);
	for (uint32_t i = 0; i < s.n; i++) {
		unsigned char ch = (unsigned char)s.s[i];

		if (ch == ' ' && query)
			env_puts(e, "+");
		else if (text_digit((char)ch) < 36 || (ch && strchr("_.-~", ch)) || (ch == '/' && !query))
			env_put(e, s.s + i, 1);
		else
			env_printf(e, "%%%02X", ch);
	}
}

/* A mapping or pairs become a query string. */
struct jv text_urlencode(struct env *e, struct call *c)
{
	size_t start = e->out->n;
	struct jv v = c->self;
	const struct jv_list *l;

	if (v.kind < JV_LIST) {
		put_url(e, v, false);
		return jv_since(e, start);
	}
	l = jv_items(e, v.kind == JV_DICT ? dict_items(e, v.dict) : v);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct jv_list *pair = jv_items(e, l->items[i]);

		if (pair->n != 2)
			env_fail(e, "urlencode: expected pairs, not %u values", pair->n);
		env_puts(e, i ? "&" : "");
		put_url(e, pair->items[0], true);
		env_puts(e, "=");
		put_url(e, pair->items[1], true);
	}
	return jv_since(e, start);
}

/* Copies a short string and terminates it. */
static void copy_short(struct env *e, char *out, size_t room, struct jv s, const char *what)
{
	if (s.kind != JV_STR || s.n >= room)
		env_fail(e, "tojson: the %s must be a string shorter than %zu bytes", what, room);
	snprintf(out, room, "%.*s", (int)s.n, s.n ? s.s : "");
}

struct jv text_tojson(struct env *e, struct call *c)
{
	struct json_writer w = json_to_bytes(e->out);
	struct jv indent = c->arg[1], separators = c->arg[2];
	size_t start = e->out->n;
	char pad[256], comma[32], colon[32];

	w.raw = 1;
	w.ascii = jv_true(c->arg[0]);
	if (indent.kind != JV_ABSENT && indent.kind != JV_NONE) {
		copy_short(e, pad, sizeof pad, text_indentation(e, c, 1), "indent");
		w.indent = pad;
		w.comma = ",";
	}
	if (jv_in(separators, JV_ARRAYS)) {
		if (separators.list->n != 2)
			env_fail(e, "tojson: expected two separators");
		copy_short(e, comma, sizeof comma, separators.list->items[0], "separators");
		copy_short(e, colon, sizeof colon, separators.list->items[1], "separators");
		w.comma = comma;
		w.colon = colon;
	}
	jv_put_json(e, &w, c->self, jv_true(c->arg[3]));
	return jv_since(e, start);
}

struct jv text_from_json(struct env *e, struct call *c)
{
	struct why w;
	struct json *v;

	if (c->self.kind != JV_STR)
		env_fail(e, "from_json: expected a string, not %s", jv_type(c->self));
	env_tick(e, c->self.n / 2);
	v = json_parse(e->arena, c->self.s, c->self.n, &w);
	if (!v)
		env_fail(e, "from_json: %s", w.text);
	return jv_from_json(e, v);
}
