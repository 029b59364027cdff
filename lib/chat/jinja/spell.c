/* Values as text: Python's str() and repr(), and JSON. */
#include "value.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_string_repr(struct env *e, struct jv v)
{
	bool single = !v.n || !memchr(v.s, '\'', v.n) || memchr(v.s, '"', v.n);
	const char *quote = single ? "'" : "\"", *markup = v.markup ? ")" : "";
	struct jv first;
	int32_t c;

	env_tick(e, v.n / 4);
	env_printf(e, "%s%s", v.markup ? "Markup(" : "", quote);
	while (jv_next(&v, &first, &c)) {
		if (c == '\n' || c == '\r' || c == '\t')
			env_puts(e, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		else if (c == '\\' || (c == '\'' && single))
			env_printf(e, "\\%c", (int)c);
		else if (text_is(c, TEXT_PRINTABLE))
			jv_put(e, first);
		else
			env_printf(e, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x",
				c < 0 ? (unsigned char)*first.s : (unsigned)c);
	}
	env_printf(e, "%s%s", quote, markup);
}

static void put_bytes_repr(struct env *e, struct jv v)
{
	bool single = !v.n || !memchr(v.s, '\'', v.n) || memchr(v.s, '"', v.n);
	const char *quote = single ? "'" : "\"";

	env_tick(e, v.n / 2);
	env_printf(e, "b%s", quote);
	for (uint32_t i = 0; i < v.n; i++) {
		unsigned char c = (unsigned char)v.s[i];

		if (c == '\n' || c == '\r' || c == '\t')
			env_puts(e, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		else if (c == '\\' || (c == '\'' && single))
			env_printf(e, "\\%c", c);
		else
			env_printf(e, c >= ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
	}
	env_puts(e, quote);
}

/* Lists, dicts and views. */
static void put_nested(struct env *e, struct jv v)
{
	static const char *const brackets[][2] = { [JV_LIST] = { "[", "]" }, [JV_TUPLE] = { "(", ")" },
		[JV_ITER] = { "([", "])" }, [JV_DICT] = { "{", "}" }, [JV_NAMESPACE] = { "<Namespace {", "}>" } };
	bool dict = v.kind == JV_DICT || v.kind == JV_NAMESPACE;

	env_puts(e, v.kind == JV_ITER ? v.list->type : "");
	env_puts(e, brackets[v.kind][0]);
	for (uint32_t i = 0; i < *v.count; i++) {
		env_puts(e, i ? ", " : "");
		if (dict) {
			jv_put_repr(e, v.dict->pairs[i].key);
			env_puts(e, ": ");
		}
		jv_put_repr(e, dict ? v.dict->pairs[i].value : v.list->items[i]);
	}
	env_puts(e, v.kind == JV_TUPLE && v.list->n == 1 ? "," : "");
	env_puts(e, brackets[v.kind][1]);
}

static void put_range(struct env *e, const struct jv_range *r)
{
	env_printf(e, "range(%" PRId64 ", %" PRId64, r->start, r->stop);
	if (r->step != 1)
		env_printf(e, ", %" PRId64, r->step);
	env_puts(e, ")");
}

/* A number as text, or the constant for None, False or True; NULL for other values. */
static const char *spelling(char out[32], struct jv v, const char *const constants[3])
{
	switch (v.kind) {
	case JV_NONE:
		return constants[0];
	case JV_BOOL:
		return constants[1 + v.b];
	case JV_INT:
		snprintf(out, 32, "%" PRId64, v.i);
		return out;
	case JV_BIG:
		return v.s;
	case JV_FLOAT:
		json_spell_float(out, v.d);
		return out;
	}
	return NULL;
}

void jv_put_repr(struct env *e, struct jv v)
{
	static const char *const constants[] = { "None", "False", "True" };
	char out[32];
	const char *s = spelling(out, v, constants);

	env_tick(e, 2);
	if (s) {
		env_puts(e, s);
	} else if (v.kind == JV_UNDEF) {
		env_puts(e, "Undefined");
	} else if (v.kind == JV_STR) {
		put_string_repr(e, v);
	} else if (v.kind == JV_BYTES) {
		put_bytes_repr(e, v);
	} else if (v.kind == JV_RANGE) {
		put_range(e, v.range);
	} else if (v.kind >= JV_BUILTIN || (v.kind == JV_ITER && v.list->single_use)) {
		env_printf(e, "<%s object>", jv_type(v));
	} else {
		env_enter(e);
		put_nested(e, v);
		e->depth--;
	}
}

void jv_put(struct env *e, struct jv s)
{
	env_put(e, s.s, s.n);
}

void jv_put_str(struct env *e, struct jv v)
{
	if (v.kind == JV_STR) {
		env_tick(e, v.n / 64);
		jv_put(e, v);
	} else if (v.kind != JV_UNDEF) {
		jv_put_repr(e, v);
	}
}

struct jv jv_to_str(struct env *e, struct jv v)
{
	size_t start = e->out->n;

	if (v.kind == JV_STR || v.kind == JV_BIG)
		return jv_str(v.s, v.n);
	jv_put_str(e, v);
	return jv_since(e, start);
}

static const char *const json_constants[] = { "null", "false", "true" };

static void put_json_nested(struct env *e, struct json_writer *w, struct jv v, bool sort_keys)
{
	bool dict = v.kind == JV_DICT;
	struct jv_pair *pairs = dict ? v.dict->pairs : NULL;

	if (dict && sort_keys && v.dict->n) {
		pairs = env_array(e, v.dict->n, sizeof *pairs);
		memcpy(pairs, v.dict->pairs, v.dict->n * sizeof *pairs);
		jv_sort(e, pairs, v.dict->n, false);
	}
	json_open(w, dict ? '{' : '[');
	for (uint32_t i = 0; i < *v.count; i++) {
		if (dict) {
			struct jv key = pairs[i].key;
			char out[32];
			const char *s = spelling(out, key, json_constants);

			if (key.kind == JV_FLOAT && !isfinite(key.d))
				s = isnan(key.d) ? "NaN" : key.d > 0 ? "Infinity" : "-Infinity";
			if (key.kind == JV_TUPLE)
				env_fail(e, "keys must be str, int, float, bool or None, not tuple");
			json_key(w, s ? s : key.s, s ? strlen(s) : key.n);
		}
		jv_put_json(e, w, dict ? pairs[i].value : v.list->items[i], sort_keys);
	}
	json_close(w, dict ? '}' : ']');
}

void jv_put_json(struct env *e, struct json_writer *w, struct jv v, bool sort_keys)
{
	char out[32];
	const char *s = spelling(out, v, json_constants);

	env_tick(e, 1 + (v.kind == JV_STR ? v.n / 16 : 0));
	if (v.kind == JV_FLOAT) {
		json_float(w, v.d);
	} else if (s) {
		json_raw(w, s);
	} else if (v.kind == JV_STR) {
		json_string(w, v.s, v.n);
	} else if (jv_in(v, JV_ARRAYS | KIND(JV_DICT))) {
		env_enter(e);
		put_json_nested(e, w, v, sort_keys);
		e->depth--;
	} else {
		env_fail(e, "Object of type %s is not JSON serializable", jv_type(v));
	}
	if (w->failed)
		env_full(e);
}
