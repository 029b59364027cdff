/* format: what Python's two kinds of formatting share: the fields of "..." % args (percent.c) and of
 * "...".format(args) (braces.c). */
#ifndef JINJA_FORMAT_H
#define JINJA_FORMAT_H

#include "builtin.h"

enum { FORMAT_WIDEST = INT32_MAX };

/* One field: [[fill]align][sign][#][0][width][,][.precision][type] */
struct format_field {
	struct jv fill;
	char align, sign, type, separator;
	bool alternate, zero;
	int64_t width, precision;   /* precision -1: not given */
};

extern const struct format_field format_none;

/* ---- reading ---- */

/* Takes the first byte off *s if it is one of `bytes`, else returns NUL. */
char format_take(struct jv *s, const char *bytes);

/* Takes digits; more than FORMAT_WIDEST is FORMAT_WIDEST + 1. */
int64_t format_digits(struct jv *s);

/* Takes everything before one of `stops`. */
struct jv format_until(struct jv *s, const char *stops);

/* ---- writing, to e->out ---- */

/* The value, as the type of the field says; type n is that of a float, or of an integer in base 10. */
void format_put(struct env *e, const struct format_field *f, struct jv v);

/* A string or, for type c, the character of a code point; `usual`: the alignment if the field has none. */
void format_put_text(struct env *e, const struct format_field *f, struct jv v, char usual);

/* repr(), or ascii(). */
struct jv format_repr(struct env *e, struct jv v, bool ascii);

#endif
