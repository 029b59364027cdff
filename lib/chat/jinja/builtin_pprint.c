/* pprint: values laid out in lines of 80 characters, as Python's pprint does it. */
#include "builtin.h"

#include "lib/base/space.h"

enum { WIDTH = 80 };

/* Whether the keys can be sorted: all strings, or all numbers. */
static bool have_order(const struct jv_dict *d)
{
	bool strings = true, numbers = true;

	for (uint32_t i = 0; i < d->n; i++) {
		strings &= d->pairs[i].key.kind == JV_STR;
		numbers &= jv_in(d->pairs[i].key, JV_NUMBERS);
	}
	return strings || numbers;
}

/* The value with the pairs of all dicts in it sorted. */
static struct jv sorted(struct env *e, struct jv v)
{
	struct jv out = v;

	if (!jv_in(v, JV_ARRAYS | KIND(JV_DICT)))
		return v;
	env_enter(e);
	env_tick(e, 2);
	if (v.kind == JV_DICT) {
		out = jv_dict(e, JV_DICT);
		for (uint32_t i = 0; i < v.dict->n; i++)
			jv_dict_set(e, out.dict, v.dict->pairs[i].key, sorted(e, v.dict->pairs[i].value));
		if (have_order(out.dict))
			jv_sort(e, out.dict->pairs, out.dict->n, false);
	} else {
		out = jv_list(e, v.kind, v.list->n);
		for (uint32_t i = 0; i < v.list->n; i++)
			jv_push(e, out.list, sorted(e, v.list->items[i]));
	}
	e->depth--;
	return out;
}

static struct jv repr(struct env *e, struct jv v)
{
	size_t start = e->out->n;

	jv_put_repr(e, v);
	return jv_since(e, start);
}

static void new_line(struct env *e, int64_t indent)
{
	env_puts(e, "\n");
	for (; indent > 0; indent--)
		env_puts(e, " ");
	env_tick(e, 1);
}

/* Takes the next word with the white space after it. */
static struct jv next_word(struct jv *rest)
{
	struct jv word = *rest, one, before;
	bool space = false;
	int32_t c;

	for (before = *rest; jv_next(rest, &one, &c) && (space_char(c) || !space); before = *rest)
		space = space_char(c);
	*rest = before;
	word.n -= rest->n;
	return word;
}

/* The reprs of the pieces of a text that is too long: lines, and as many words as fit. `room` is what a line has, less
 * `allowance` in the last one. */
static struct jv pieces(struct env *e, struct jv s, int64_t room, int64_t allowance)
{
	struct jv out = jv_list(e, JV_LIST, 0), word, current, piece, both;
	struct call c = { .self = s, .arg = { jv_bool(true) } };
	const struct jv_list *lines = text_splitlines(e, &c).list;

	for (uint32_t i = 0; i < lines->n; i++) {
		struct jv rest = lines->items[i];
		bool last = i + 1 == lines->n;

		piece = repr(e, rest);
		if (jv_length(e, piece) <= room - (last ? allowance : 0)) {
			jv_push(e, out.list, piece);
			continue;
		}
		current = jv_str(rest.s, 0);
		while (rest.n) {
			word = next_word(&rest);
			both = jv_str(current.s, (size_t)current.n + word.n);
			piece = repr(e, both);
			if (jv_length(e, piece) > room - (last && !rest.n ? allowance : 0) && current.n) {
				jv_push(e, out.list, repr(e, current));
				both = word;
			}
			current = both;
		}
		jv_push(e, out.list, repr(e, current));
	}
	return out;
}

static void put_text(struct env *e, struct jv s, int64_t indent, int64_t allowance, bool whole)
{
	const struct jv_list *l;

	indent += whole;
	allowance += whole;
	l = pieces(e, s, WIDTH - indent, allowance).list;
	env_puts(e, whole && l->n > 1 ? "(" : "");
	for (uint32_t i = 0; i < l->n; i++) {
		if (i)
			new_line(e, indent);
		jv_put(e, l->items[i]);
	}
	env_puts(e, whole && l->n > 1 ? ")" : "");
}

/* Appends v at column `indent`; `allowance` characters follow it on its last line. whole: it is no part of another. */
static void put(struct env *e, struct jv v, int64_t indent, int64_t allowance, bool whole)
{
	bool dict = v.kind == JV_DICT, nested = dict || jv_in(v, JV_ARRAYS);
	const char *close = dict ? "}" : v.kind == JV_LIST ? "]" : nested && *v.count == 1 ? ",)" : ")";
	struct jv line = repr(e, v), key;

	if (jv_length(e, line) <= WIDTH - indent - allowance || !(nested || v.kind == JV_STR)) {
		jv_put(e, line);
		return;
	}
	if (!nested) {
		put_text(e, v, indent, allowance, whole);
		return;
	}
	env_enter(e);
	env_puts(e, dict ? "{" : v.kind == JV_LIST ? "[" : "(");
	for (uint32_t i = 0; i < *v.count; i++) {
		bool last = i + 1 == *v.count;
		int64_t column = indent + 1;

		if (i) {
			env_puts(e, ",");
			new_line(e, column);
		}
		if (dict) {
			key = repr(e, v.dict->pairs[i].key);
			jv_put(e, key);
			env_puts(e, ": ");
			column += jv_length(e, key) + 2;
		}
		put(e, dict ? v.dict->pairs[i].value : v.list->items[i], column,
			last ? allowance + 1 + (*close == ',') : 1, false);
	}
	env_puts(e, close);
	e->depth--;
}

struct jv text_pprint(struct env *e, struct call *c)
{
	size_t start = e->out->n;

	put(e, sorted(e, c->self), 0, 0, true);
	return jv_since(e, start);
}
