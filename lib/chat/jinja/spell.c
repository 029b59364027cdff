/* Values as text: Python's str() and repr(), and JSON. */
#include "priv.h"

#include "lib/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What repr() leaves as it is; beyond ASCII, all but the spaces, controls and private characters of the commonly met blocks. */
static bool printable(int32_t c)
{
	static const int32_t hidden[][2] = {
		{ 0, 0x1f }, { 0x7f, 0xa0 }, { 0xad, 0xad }, { 0x600, 0x605 }, { 0x61c, 0x61c }, { 0x6dd, 0x6dd }, { 0x70f, 0x70f },
		{ 0x1680, 0x1680 }, { 0x180e, 0x180e }, { 0x2000, 0x200f }, { 0x2028, 0x202f }, { 0x205f, 0x206f }, { 0x3000, 0x3000 },
		{ 0xe000, 0xf8ff }, { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (c >= hidden[i][0] && c <= hidden[i][1])
			return false;
	return true;
}

static void put_string_repr(struct bytes *b, struct jv v)
{
	bool single = !v.n || !memchr(v.s, '\'', v.n) || memchr(v.s, '"', v.n);
	unsigned used;

	if (v.markup)
		bytes_puts(b, "Markup(");
	bytes_puts(b, single ? "'" : "\"");
	for (uint32_t at = 0; at < v.n; at += used) {
		int32_t c = utf8_next(v.s + at, v.n - at, &used);
		char out[16];

		if (c == '\n' || c == '\r' || c == '\t')
			snprintf(out, sizeof out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
		else if (c == '\\' || (c == '\'' && single))
			snprintf(out, sizeof out, "\\%c", (int)c);
		else if (c < 0 || !printable(c))
			snprintf(out, sizeof out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x",
				c < 0 ? (unsigned char)v.s[at] : (unsigned)c);
		else {
			bytes_put(b, v.s + at, used);
			continue;
		}
		bytes_puts(b, out);
	}
	bytes_puts(b, single ? "'" : "\"");
	if (v.markup)
		bytes_puts(b, ")");
}

static int put_items(struct env *e, struct bytes *b, const struct jv_list *l, const char *open, const char *close)
{
	bytes_puts(b, open);
	for (uint32_t i = 0; i < l->n; i++) {
		if (i)
			bytes_puts(b, ", ");
		if (jv_put_repr(e, b, l->items[i]))
			return -1;
	}
	return bytes_puts(b, close);
}

static int put_pairs(struct env *e, struct bytes *b, const struct jv_dict *d)
{
	bytes_puts(b, "{");
	for (uint32_t i = 0; i < d->n; i++) {
		if (i)
			bytes_puts(b, ", ");
		if (jv_put_repr(e, b, d->pairs[i].key) || bytes_puts(b, ": ") || jv_put_repr(e, b, d->pairs[i].value))
			return -1;
	}
	return bytes_puts(b, "}");
}

static int put_iter(struct env *e, struct bytes *b, struct jv v)
{
	if (v.list->once) {
		bytes_puts(b, "<");
		bytes_puts(b, v.list->type);
		return bytes_puts(b, " object>");
	}
	bytes_puts(b, v.list->type);
	return put_items(e, b, v.list, "([", "])");
}

static int put_nested(struct env *e, struct bytes *b, struct jv v)
{
	switch (v.kind) {
	case JV_LIST:
		return put_items(e, b, v.list, "[", "]");
	case JV_TUPLE:
		return put_items(e, b, v.list, "(", v.list->n == 1 ? ",)" : ")");
	case JV_DICT:
		return put_pairs(e, b, v.dict);
	case JV_NAMESPACE:
		if (bytes_puts(b, "<Namespace ") || put_pairs(e, b, v.dict))
			return -1;
		return bytes_puts(b, ">");
	default:
		return put_iter(e, b, v);
	}
}

static int put_range(struct bytes *b, const struct jv_range *r)
{
	char out[80];
	int64_t stop = r->start + r->n * r->step;

	snprintf(out, sizeof out, r->step == 1 ? "range(%" PRId64 ", %" PRId64 ")" : "range(%" PRId64 ", %" PRId64 ", %" PRId64 ")",
		r->start, stop, r->step);
	return bytes_puts(b, out);
}

int jv_put_repr(struct env *e, struct bytes *b, struct jv v)
{
	char out[32];
	int failed;

	if (jinja_tick(e, 2))
		return -1;
	switch (v.kind) {
	case JV_UNDEF:
		return bytes_puts(b, "Undefined");
	case JV_NONE:
		return bytes_puts(b, "None");
	case JV_BOOL:
		return bytes_puts(b, v.b ? "True" : "False");
	case JV_INT:
		snprintf(out, sizeof out, "%" PRId64, v.i);
		return bytes_puts(b, out);
	case JV_BIG:
		return bytes_put(b, v.s, v.n);
	case JV_FLOAT:
		json_spell_float(out, v.d);
		return bytes_puts(b, out);
	case JV_STR:
		if (jinja_tick(e, v.n / 4))
			return -1;
		put_string_repr(b, v);
		return b->failed ? -1 : 0;
	case JV_RANGE:
		return put_range(b, v.range);
	case JV_LIST:
	case JV_TUPLE:
	case JV_DICT:
	case JV_NAMESPACE:
	case JV_ITER:
		if (jinja_deeper(e))
			return -1;
		failed = put_nested(e, b, v);
		e->depth--;
		return failed;
	default:
		bytes_puts(b, "<");
		bytes_puts(b, jv_type(v));
		return bytes_puts(b, " object>");
	}
}

int jv_put_str(struct env *e, struct bytes *b, struct jv v)
{
	if (v.kind == JV_STR)
		return jinja_tick(e, v.n / 64) ? -1 : bytes_put(b, v.s, v.n);
	return v.kind == JV_UNDEF ? 0 : jv_put_repr(e, b, v);
}

struct jv jv_to_str(struct env *e, struct jv v)
{
	struct bytes b = jinja_buffer(e);

	if (v.kind == JV_STR) {
		v.markup = false;
		return v;
	}
	if (v.kind == JV_UNDEF)
		return jv_str("", 0);
	if (v.kind == JV_BIG)
		return jv_str(v.s, v.n);
	if (jv_put_str(e, &b, v)) {
		bytes_free(&b);
		return jv_full(e);
	}
	return jv_take(e, &b);
}

/* A copy of the dict's pairs in the order of their keys. */
static struct jv_pair *sorted_pairs(struct env *e, const struct jv_dict *d)
{
	struct jv_pair *pairs = arena_array(&e->arena, d->n, sizeof *pairs);

	if (!pairs)
		return jv_full(e), NULL;
	if (d->n)
		memcpy(pairs, d->pairs, d->n * sizeof *pairs);
	return jinja_sort(e, pairs, d->n, false) ? NULL : pairs;
}

static int put_json_key(struct env *e, struct json_writer *w, struct jv key)
{
	static const char *const words[] = { "null", "false", "true" };
	struct jv s = jv_to_str(e, key);
	const char *word;

	if (s.kind == JV_ERROR)
		return -1;
	if (key.kind == JV_NONE || key.kind == JV_BOOL) {
		word = words[key.kind == JV_NONE ? 0 : 1 + key.b];
		s = jv_str(word, strlen(word));
	} else if (key.kind == JV_TUPLE) {
		jv_fail(e, "keys must be str, int, float, bool or None, not tuple");
		return -1;
	}
	json_key(w, s.s, s.n);
	return 0;
}

static int put_json_nested(struct env *e, struct json_writer *w, struct jv v, bool sort_keys)
{
	const struct jv_pair *pairs;

	if (v.kind != JV_DICT) {
		json_open(w, '[');
		for (uint32_t i = 0; i < v.list->n; i++)
			if (jv_put_json(e, w, v.list->items[i], sort_keys))
				return -1;
		json_close(w, ']');
		return 0;
	}
	pairs = sort_keys ? sorted_pairs(e, v.dict) : v.dict->pairs;
	if (e->failed)
		return -1;
	json_open(w, '{');
	for (uint32_t i = 0; i < v.dict->n; i++)
		if (put_json_key(e, w, pairs[i].key) || jv_put_json(e, w, pairs[i].value, sort_keys))
			return -1;
	json_close(w, '}');
	return 0;
}

int jv_put_json(struct env *e, struct json_writer *w, struct jv v, bool sort_keys)
{
	int failed;

	if (jinja_tick(e, 1) || (v.kind == JV_STR && jinja_tick(e, v.n / 16)))
		return -1;
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
		if (jinja_deeper(e))
			return -1;
		failed = put_json_nested(e, w, v, sort_keys);
		e->depth--;
		return failed;
	default:
		jv_fail(e, "Object of type %s is not JSON serializable", jv_type(v));
		return -1;
	}
	return w->failed ? -1 : 0;
}
