/* Ops that go over rows: norms, activations and sums; and copies of rows. */
#include "build.h"

static int append_rows(struct builder *b, const char *name, struct op_rows *o, struct value *in, struct value *out)
{
	o->n = out->n;
	o->in = rows_of(in);
	o->out = rows_of(out);
	return build_append(b, &op_rows, name, o, sizeof *o);
}

struct value *build_rows(struct builder *b, const char *name, struct op_rows o, struct value *in, struct value *out)
{
	append_rows(b, name, &o, in, out);
	return out;
}

struct value *build_rows_shown(struct builder *b, const char *name, struct op_rows o, struct value *in,
	struct value *out)
{
	build_output(b, append_rows(b, name, &o, in, out), 0, "", out, out->n);
	return out;
}

struct value *build_norm_rows(struct builder *b, const char *name, struct value *x)
{
	struct op_rows o = { .norm = build_norm_of(b, name, x->n) };

	return build_rows(b, name, o, x, build_part(b, x, 0, x->n));
}

struct value *build_low_rank(struct builder *b, struct value *x, const char *first, size_t rank, const char *second)
{
	return build_branch(b, build_product(b, x, first, NARROW, rank), second);
}

void build_copy_into(struct builder *b, const char *name, struct value *from, struct value *to)
{
	struct op_copy o = { .copies = 1, .copy = { { .from = rows_of(from), .to = rows_of(to), .heads = 1,
		.n = to->n } } };

	build_append(b, &op_copy, name, &o, sizeof o);
}

struct value *build_copy(struct builder *b, const char *name, struct value *x)
{
	struct value *y = build_value(b, x->n);

	build_copy_into(b, name, x, y);
	return y;
}

void build_deinterleave(struct builder *b, const char *name, struct value *from, size_t heads, size_t parts,
	struct value *const part[])
{
	struct op_copy o = { .copies = parts };
	size_t step = from->n / heads, at = 0;

	for (size_t i = 0; i < parts; at += part[i++]->n / heads)
		o.copy[i] = (struct copy){ .from = rows_of(build_part(b, from, at, from->n - at)),
			.to = rows_of(part[i]), .heads = heads, .n = part[i]->n / heads, .from_step = step,
			.to_step = part[i]->n / heads };
	build_append(b, &op_copy, name, &o, sizeof o);
}
