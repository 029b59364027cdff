/* "..." % args, as in Python. */
#include "format.h"

#include <string.h>

struct percent {
	struct jv rest, args;
	uint32_t taken;
	bool markup;
};

/* The next argument. */
static struct jv next_argument(struct env *e, struct percent *p)
{
	uint32_t n = p->args.kind == JV_TUPLE ? p->args.list->n : 1;

	if (p->taken >= n)
		env_fail(e, "not enough arguments for format string");
	return p->args.kind == JV_TUPLE ? p->args.list->items[p->taken++] : (p->taken++, p->args);
}

/* The argument of %(name), with the cursor on the name. */
static struct jv named_argument(struct env *e, struct percent *p)
{
	struct jv name = format_until(&p->rest, ")"), *v;

	if (!format_take(&p->rest, ")"))
		env_fail(e, "incomplete format key");
	v = p->args.kind == JV_DICT ? jv_dict_get(e, p->args.dict, name) : NULL;
	if (!v)
		env_fail(e, "the format requires a mapping with that name");
	return *v;
}

/* A width or precision: digits or '*', for an argument. */
static int64_t percent_number(struct env *e, struct percent *p)
{
	struct jv v;

	if (!format_take(&p->rest, "*"))
		return format_digits(&p->rest);
	v = next_argument(e, p);
	if (!jv_in(v, JV_INTEGERS))
		env_fail(e, "* wants int");
	return jv_integer(v) > FORMAT_WIDEST || jv_integer(v) < -FORMAT_WIDEST ? (int64_t)FORMAT_WIDEST + 1
		: jv_integer(v);
}

/* [flags][width][.precision][length]type */
static struct format_field percent_field(struct env *e, struct percent *p)
{
	struct format_field f = format_none;

	f.align = '>';
	for (char c; (c = format_take(&p->rest, "-+ #0"));) {
		if (c == '-')
			f.align = '<';
		else if (c == '#')
			f.alternate = true;
		else if (c == '0')
			f.zero = true;
		else if (f.sign != '+')
			f.sign = c;
	}
	f.width = percent_number(e, p);
	if (f.width < 0) {
		f.width = -f.width;
		f.align = '<';
	}
	if (format_take(&p->rest, ".")) {
		f.precision = percent_number(e, p);
		f.precision = f.precision < 0 ? 0 : f.precision;
	}
	format_take(&p->rest, "hlL");
	f.type = format_take(&p->rest, "sradiuxXoeEfFgGc%");
	if (!f.type)
		env_fail(e, "incomplete or unsupported format");
	f.precision = f.type == 'c' ? -1 : f.precision;
	return f;
}

static void put_percent(struct env *e, struct percent *p)
{
	struct jv v = format_take(&p->rest, "(") ? named_argument(e, p) : jv_absent;
	struct format_field f = percent_field(e, p);

	if (f.type == '%') {
		env_puts(e, "%");
		return;
	}
	if (v.kind == JV_ABSENT)
		v = next_argument(e, p);
	if (f.type == 'c' && v.kind != JV_STR) {
		format_put_text(e, &f, v, '>');
		return;
	}
	if (f.type == 'c' && text_length(v.s, v.n) != 1)
		env_fail(e, "%%c requires int or char");
	if (f.type == 'r' || f.type == 'a')
		v = format_repr(e, v, f.type == 'a');
	else if (f.type == 's' || f.type == 'c')
		v = p->markup ? markup_escape(e, v) : jv_to_str(e, v);
	else if (f.zero && f.align == '>') {
		f.fill = jv_str("0", 1);
		f.align = '=';
	}
	f.type = strchr("rac", f.type) ? 's' : f.type == 'i' || f.type == 'u' ? 'd' : f.type;
	format_put(e, &f, v);
}

struct jv format_percent(struct env *e, struct jv format, struct jv args)
{
	struct percent p = { format, args, 0, format.markup };
	size_t start = e->out->n;

	while (p.rest.n) {
		jv_put(e, format_until(&p.rest, "%"));
		if (format_take(&p.rest, "%"))
			put_percent(e, &p);
	}
	if (args.kind == JV_TUPLE ? p.taken < args.list->n : !p.taken && args.kind != JV_DICT && args.kind != JV_LIST)
		env_fail(e, "not all arguments converted during string formatting");
	return jv_markup(jv_since(e, start), format.markup);
}

/* The filter: "..."|format(...), by %. */
struct jv text_percent(struct env *e, struct call *c)
{
	struct jv named = { .kind = JV_DICT, .dict = c->kw };

	return format_percent(e, c->self, c->kw && c->kw->n ? named : call_tuple(e, c, 0));
}
