/* Values as text: Python's str() and repr(), and JSON. */
#include "value.h"
#include "text.h"

#include "lib/base/utf8.h"

#include <inttypes.h>
#include <string.h>

static void put_string_repr(struct env *e, struct jv v)
{
	bool single = !v.n || !memchr(v.s, '\'', v.n) || memchr(v.s, '"', v.n);
	const char *quote = single ? "'" : "\"";
	unsigned used;

	env_tick(e, v.n / 4);
	env_puts(e, v.markup ? "Markup(" : "");
	env_puts(e, quote);
	for (uint32_t at = 0; at < v.n; at += used) {
		int32_t c = utf8_next(v.s + at, v.n - at, &used);

		if (c == '\n' || c == '\r' || c == '\t')
			env_puts(e, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		else if (c == '\\' || (c == '\'' && single))
			env_printf(e, "\\%c", (int)c);
		else if (text_is_printable(c))
			env_put(e, v.s + at, used);
		else
			env_printf(e, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x",
				c < 0 ? (unsigned char)v.s[at] : (unsigned)c);
	}
	env_puts(e, quote);
	env_puts(e, v.markup ? ")" : "");
}

static void put_items(struct env *e, const struct jv_list *l, const char *open, const char *close)
{
	env_puts(e, open);
	for (uint32_t i = 0; i < l->n; i++) {
		env_puts(e, i ? ", " : "");
		jv_put_repr(e, l->items[i]);
	}
	env_puts(e, close);
}

static void put_pairs(struct env *e, const struct jv_dict *d, const char *open, const char *close)
{
	env_puts(e, open);
	for (uint32_t i = 0; i < d->n; i++) {
		env_puts(e, i ? ", " : "");
		jv_put_repr(e, d->pairs[i].key);
		env_puts(e, ": ");
		jv_put_repr(e, d->pairs[i].value);
	}
	env_puts(e, close);
}

static void put_nested(struct env *e, struct jv v)
{
	switch (v.kind) {
	case JV_LIST:
		put_items(e, v.list, "[", "]");
		return;
	case JV_TUPLE:
		put_items(e, v.list, "(", v.list->n == 1 ? ",)" : ")");
		return;
	case JV_DICT:
		put_pairs(e, v.dict, "{", "}");
		return;
	case JV_NAMESPACE:
		put_pairs(e, v.dict, "<Namespace {", "}>");
		return;
	}
	env_puts(e, v.list->type);
	put_items(e, v.list, "([", "])");
}

static void put_range(struct env *e, const struct jv_range *r)
{
	env_printf(e, "range(%" PRId64 ", %" PRId64, r->start, r->start + r->n * r->step);
	if (r->step != 1)
		env_printf(e, ", %" PRId64, r->step);
	env_puts(e, ")");
}

void jv_put_repr(struct env *e, struct jv v)
{
	char out[32];

	env_tick(e, 2);
	switch (v.kind) {
	case JV_UNDEF:
		env_puts(e, "Undefined");
		break;
	case JV_NONE:
		env_puts(e, "None");
		break;
	case JV_BOOL:
		env_puts(e, v.b ? "True" : "False");
		break;
	case JV_INT:
		env_printf(e, "%" PRId64, v.i);
		break;
	case JV_BIG:
		env_put(e, v.s, v.n);
		break;
	case JV_FLOAT:
		json_spell_float(out, v.d);
		env_puts(e, out);
		break;
	case JV_STR:
		put_string_repr(e, v);
		break;
	case JV_RANGE:
		put_range(e, v.range);
		break;
	default:
		if (v.kind >= JV_BUILTIN || (v.kind == JV_ITER && v.list->single_use)) {
			env_puts(e, "<");
			env_puts(e, jv_type(v));
			env_puts(e, " object>");
			break;
		}
		env_enter(e);
		put_nested(e, v);
		e->depth--;
	}
}

void jv_put_str(struct env *e, struct jv v)
{
	if (v.kind == JV_STR) {
		env_tick(e, v.n / 64);
		env_put(e, v.s, v.n);
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

static void put_json_key(struct env *e, struct json_writer *w, struct jv key)
{
	static const char *const constants[] = { "null", "false", "true" };
	struct jv s;

	if (key.kind == JV_TUPLE)
		env_fail(e, "keys must be str, int, float, bool or None, not tuple");
	if (key.kind == JV_NONE || key.kind == JV_BOOL) {
		const char *constant = constants[key.kind == JV_NONE ? 0 : 1 + key.b];

		json_key(w, constant, strlen(constant));
		return;
	}
	s = jv_to_str(e, key);
	json_key(w, s.s, s.n);
}

static void put_json_nested(struct env *e, struct json_writer *w, struct jv v, bool sort_keys)
{
	const struct jv_pair *pairs;

	if (v.kind != JV_DICT) {
		json_open(w, '[');
		for (uint32_t i = 0; i < v.list->n; i++)
			jv_put_json(e, w, v.list->items[i], sort_keys);
		json_close(w, ']');
		return;
	}
	pairs = sort_keys ? jv_sorted_pairs(e, v.dict) : v.dict->pairs;
	json_open(w, '{');
	for (uint32_t i = 0; i < v.dict->n; i++) {
		put_json_key(e, w, pairs[i].key);
		jv_put_json(e, w, pairs[i].value, sort_keys);
	}
	json_close(w, '}');
}

void jv_put_json(struct env *e, struct json_writer *w, struct jv v, bool sort_keys)
{
	env_tick(e, 1 + (v.kind == JV_STR ? v.n / 16 : 0));
	switch (v.kind) {
	case JV_NONE:
		json_raw(w, "null");
		break;
	case JV_BOOL:
		json_raw(w, v.b ? "true" : "false");
		break;
	case JV_INT:
		json_int(w, v.i);
		break;
	case JV_BIG:
		json_raw(w, v.s);
		break;
	case JV_FLOAT:
		json_float(w, v.d);
		break;
	case JV_STR:
		json_string(w, v.s, v.n);
		break;
	case JV_LIST:
	case JV_TUPLE:
	case JV_DICT:
		env_enter(e);
		put_json_nested(e, w, v, sort_keys);
		e->depth--;
		break;
	default:
		env_fail(e, "Object of type %s is not JSON serializable", jv_type(v));
	}
	if (w->failed)
		env_full(e);
}
