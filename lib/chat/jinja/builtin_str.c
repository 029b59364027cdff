/* Methods of str that few templates use. */
#include "builtin.h"

#include <string.h>

struct jv text_expandtabs(struct env *e, struct call *c)
{
	int64_t size = arg_int(e, c, 0, 8), column = 0, n;
	struct jv rest = c->self, one;
	size_t start = e->out->n;
	int32_t ch;

	for (env_tick(e, rest.n); jv_next(&rest, &one, &ch); column += n) {
		n = ch == '\t' ? size > 0 ? size - column % size : 0 : 1;
		if (ch == '\t') {
			env_reserve(e, (uint64_t)n);
			env_tick(e, (uint64_t)n);
			for (int64_t i = 0; i < n; i++)
				env_puts(e, " ");
			continue;
		}
		jv_put(e, one);
		if (ch == '\n' || ch == '\r')
			column = n = 0;
	}
	return jv_markup(jv_since(e, start), c->self.markup);
}

/* Whether words begin with capitals, which nothing else does, and there is a letter with a case. */
struct jv text_is_title(struct env *e, struct call *c)
{
	struct jv rest = c->self, one;
	bool inside = false, any = false, small, capital;
	int32_t ch;

	for (env_tick(e, rest.n); jv_next(&rest, &one, &ch); inside = small || capital) {
		capital = text_lower(ch) != ch;
		small = !capital && text_is(ch, TEXT_CASED);
		if (capital ? inside : small && !inside)
			return jv_bool(false);
		any |= capital || small;
	}
	return jv_bool(any);
}

/* Whether it could be a name in Python: letters, marks, digits and _, not a digit first. */
struct jv text_is_identifier(struct env *e, struct call *c)
{
	struct jv rest = c->self, one;
	bool first = true;
	int32_t ch;

	for (env_tick(e, rest.n); jv_next(&rest, &one, &ch); first = false)
		if (ch != '_' && !text_is(ch, TEXT_LETTER) && (first || !(text_is(ch, TEXT_DIGIT)
		    || (text_is(ch, TEXT_INNER) && ch >= 0x80))))
			return jv_bool(false);
	return jv_bool(!first);
}

static int32_t code_of(struct jv one)
{
	int32_t c = -1;

	jv_next(&one, &one, &c);
	return c;
}

/* A table for translate(): of a dict, with code points for its characters; or of two strings of the same length, and a
 * third with what is removed. */
struct jv text_maketrans(struct env *e, struct call *c)
{
	struct jv table = jv_dict(e, JV_DICT);
	const struct jv_list *from, *to;

	if (c->arg[1].kind == JV_ABSENT && c->arg[0].kind != JV_DICT)
		env_fail(e, "if you give only one argument to maketrans it must be a dict");
	for (uint32_t i = 0; c->arg[1].kind == JV_ABSENT && i < c->arg[0].dict->n; i++) {
		const struct jv_pair *p = &c->arg[0].dict->pairs[i];

		if (p->key.kind == JV_STR && text_length(p->key.s, p->key.n) != 1)
			env_fail(e, "string keys in translate table must be of length 1");
		jv_dict_set(e, table.dict, p->key.kind == JV_STR ? jv_int(code_of(p->key)) : p->key, p->value);
	}
	if (c->arg[1].kind == JV_ABSENT)
		return table;
	from = jv_items(e, arg_str(e, c, 0, jv_absent));
	to = jv_items(e, arg_str(e, c, 1, jv_absent));
	if (to->n != from->n)
		env_fail(e, "the first two maketrans arguments must have equal length");
	for (uint32_t i = 0; i < from->n; i++)
		jv_dict_set(e, table.dict, jv_int(code_of(from->items[i])), jv_int(code_of(to->items[i])));
	from = jv_items(e, arg_str(e, c, 2, jv_str("", 0)));
	for (uint32_t i = 0; i < from->n; i++)
		jv_dict_set(e, table.dict, jv_int(code_of(from->items[i])), jv_none);
	return table;
}

struct jv text_translate(struct env *e, struct call *c)
{
	struct jv rest = c->self, one, to;
	size_t start = e->out->n;
	char out[4];
	int32_t ch;

	for (env_tick(e, rest.n); jv_next(&rest, &one, &ch);) {
		to = eval_item(e, c->arg[0], jv_int(ch));
		if (jv_in(to, JV_INTEGERS)) {
			if (jv_integer(to) < 0 || jv_integer(to) > 0x10ffff)
				env_fail(e, "character mapping must be in range(0x110000)");
			to = jv_str(out, utf8_put(out, (int32_t)jv_integer(to)));
		} else if (to.kind == JV_UNDEF)
			to = one;
		if (to.kind != JV_STR && to.kind != JV_NONE)
			env_fail(e, "character mapping must return integer, None or str");
		if (to.kind == JV_STR)
			jv_put(e, to);
	}
	return jv_since(e, start);
}

struct jv text_format_map(struct env *e, struct call *c)
{
	if (c->arg[0].kind != JV_DICT)
		env_fail(e, "format_map: expected a dict, not %s", jv_type(c->arg[0]));
	c->kw = c->arg[0].dict;
	return text_format(e, c);
}
