/* One character at a time, as it is complete. */
#include "visible.h"

#include "utf8.h"

int32_t visible_point(int32_t point)
{
	if (point >= 0 && point < ' ')
		return 0x2400 + point;
	if (point == 0x7f)
		return 0x2421;
	return point < 0 || (point > 0x7f && point < 0xa0) ? UTF8_BAD : point;
}

static void put_character(struct visible *v, visible_sink *put, void *context)
{
	unsigned used;
	int32_t point = utf8_next(v->part, v->n, &used);
	char out[4];

	v->n = 0;
	if (point != '\n' && point != '\t')
		point = visible_point(point);
	put(context, out, utf8_put(out, point));
}

void visible_put(struct visible *v, const char *s, size_t n, visible_sink *put, void *context)
{
	for (size_t i = 0; i < n; i++) {
		if (v->n && ((unsigned char)s[i] & 0xc0) != 0x80)
			put_character(v, put, context);
		v->part[v->n++] = s[i];
		if (v->n == utf8_length((unsigned char)v->part[0]))
			put_character(v, put, context);
	}
}

void visible_end(struct visible *v, visible_sink *put, void *context)
{
	if (v->n)
		put_character(v, put, context);
}
