/* "...".format(args), as in Python. */
#include "format.h"

#include <string.h>

static struct format_field read_spec(struct env *e, struct jv s)
{
	struct format_field f = format_none;
	struct jv rest = s, first;
	bool filled = false;
	int32_t c;

	if (jv_next(&rest, &first, &c) && (f.align = format_take(&rest, "<>^="))) {
		f.fill = first;
		filled = true;
		s = rest;
	} else {
		f.align = format_take(&s, "<>^=");
	}
	f.sign = format_take(&s, "+- ");
	f.alternate = format_take(&s, "#");
	if (!filled && format_take(&s, "0")) {
		f.fill = jv_str("0", 1);
		f.align = f.align ? f.align : '=';
	}
	f.width = format_digits(&s);
	f.separator = format_take(&s, ",_");
	if (format_take(&s, "."))
		f.precision = format_digits(&s);
	f.type = format_take(&s, "sdxXobceEfFgGn%");
	if (f.precision >= 0 && f.type && strchr("dxXobc", f.type))
		env_fail(e, "Precision not allowed in integer format specifier");
	if (s.n)
		env_fail(e, "invalid format specifier");
	return f;
}

/* A call of "...".format(): its arguments, and how many of them {} has used. */
struct braces {
	const struct call *c;
	uint32_t taken;
};

/* The number that s is, or -1. */
static int64_t index_of(struct jv s)
{
	int64_t n = s.n ? format_digits(&s) : -1;

	return s.n ? -1 : n;
}

/* The value of a replacement field's name: "", "0", "name", with .attributes and [items] after it. */
static struct jv named_value(struct env *e, struct braces *b, struct jv s)
{
	struct jv name = format_until(&s, ".["), *named, v;
	int64_t number = name.n ? index_of(name) : b->taken++;

	if (number >= b->c->n_pos)
		env_fail(e, "replacement index %d out of range", (int)number);
	named = number < 0 && b->c->kw ? jv_dict_get(e, b->c->kw, name) : NULL;
	if (number < 0 && !named)
		env_fail(e, "the format names an argument that was not given");
	v = named ? *named : b->c->pos[number];
	while (s.n) {
		char open = format_take(&s, ".[");

		if (!open)
			env_fail(e, "Only '.' or '[' may follow ']' in format field specifier");
		name = format_until(&s, open == '[' ? "]" : ".[");
		number = open == '[' ? index_of(name) : -1;
		v = open == '.' ? eval_attribute(e, v, name) : eval_item(e, v, number < 0 ? name : jv_int(number));
		if (open == '[')
			format_take(&s, "]");
	}
	return v;
}

static struct jv expand(struct env *e, struct braces *b, struct jv rest, int depth);

/* The field between two braces: name[!conversion][:spec]. */
static void put_replacement(struct env *e, struct braces *b, struct jv s, int depth)
{
	struct jv conversion = format_until(&s, ":"), v = named_value(e, b, format_until(&conversion, "!"));
	struct format_field f = format_none;
	bool spec = false;

	if (format_take(&s, ":")) {
		s = expand(e, b, s, depth + 1);
		spec = s.n;
		f = read_spec(e, s);
		jv_defined(e, v);
	}
	if (format_take(&conversion, "!"))
		v = format_take(&conversion, "s") ? jv_to_str(e, v) : format_repr(e, v, format_take(&conversion, "a"));
	else if (b->c->self.markup)
		v = markup_escape(e, v);
	if (spec && v.kind == JV_BOOL)
		v = jv_int(v.b);
	if (spec && !jv_in(v, JV_NUMBERS | KIND(JV_BIG) | KIND(JV_STR)))
		env_fail(e, "unsupported format string passed to %s.__format__", jv_type(v));
	if (f.type == 'c')
		format_put_text(e, &f, v, '<');
	else
		format_put(e, &f, v);
}

/* The text before the brace that closes the one before *s; takes both. False if there is none. */
static bool take_field(struct jv *s, struct jv *field)
{
	int nesting = 0;

	for (uint32_t n = 0; n < s->n; n++) {
		nesting += s->s[n] == '{';
		if (s->s[n] == '}' && !nesting--) {
			*field = jv_str(s->s, n);
			*s = jv_str(s->s + n + 1, s->n - n - 1);
			return true;
		}
	}
	return false;
}

/* The text with its replacement fields. */
static struct jv expand(struct env *e, struct braces *b, struct jv rest, int depth)
{
	size_t start = e->out->n;
	struct jv field;

	if (depth > 2)
		env_fail(e, "Max string recursion exceeded");
	while (rest.n) {
		char brace[2] = { 0 };

		jv_put(e, format_until(&rest, "{}"));
		*brace = format_take(&rest, "{}");
		if (*brace && depth < 2 && format_take(&rest, brace)) {
			env_puts(e, brace);
		} else if (*brace) {
			if (*brace == '}' || !take_field(&rest, &field))
				env_fail(e, "a single brace in a format string");
			put_replacement(e, b, field, depth);
		}
	}
	return jv_since(e, start);
}

struct jv text_format(struct env *e, struct call *c)
{
	struct braces b = { c, 0 };

	return jv_markup(expand(e, &b, c->self, 1), c->self.markup);
}
