/* Failures with their place, and the bounds on depth and work. */
#include "converter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum { WORK_MAX = 1 << 20 };

static int print_path(const struct schema_path *p, char *out, int room)
{
	int n = p->up ? print_path(p->up, out, room) : 0, shown = p->n < 60 ? (int)p->n : 60;

	if (n < room)
		n += snprintf(out + n, (size_t)(room - n), "%s%.*s", p->up ? "/" : "", shown, p->name);
	return n;
}

int schema_fail(struct converter *c, const char *format, ...)
{
	char where[240], reason[240];
	va_list ap;

	if (c->failed)
		return -1;
	c->failed = 1;
	print_path(c->path, where, sizeof where);
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	return why(c->w, "%s: %s", where, reason);
}

int schema_no_memory(struct converter *c)
{
	return schema_fail(c, errno == ENOMEM ? "out of memory" : "the schema needs more memory than it may have");
}

int schema_work(struct converter *c, size_t n)
{
	c->work += n < WORK_MAX ? (unsigned)n : WORK_MAX;
	return c->work > WORK_MAX ? schema_fail(c, "the schema is too large, or branches too often") : 0;
}

int schema_enter(struct converter *c, const struct json *s)
{
	if (s->type != JSON_OBJECT && s->type != JSON_TRUE && s->type != JSON_FALSE)
		schema_fail(c, "a schema is an object, true or false");
	if (c->failed)
		return -1;
	if (schema_work(c, 1))
		return -1;
	if (c->depth == SCHEMA_DEPTH)
		return schema_fail(c, "schemas are nested more than %d deep, or refer to each other without end",
			SCHEMA_DEPTH);
	c->depth++;
	return 0;
}

void schema_leave(struct converter *c)
{
	c->depth--;
}

uint32_t schema_count(struct converter *c, const struct json *s, const char *keyword, uint32_t otherwise)
{
	const struct json *v = json_get(s, keyword);
	double d = v && (v->type == JSON_INT || v->type == JSON_FLOAT) ? v->d : -1;

	if (!v)
		return otherwise;
	if (d >= 0 && d <= 1e9 && d == (double)(uint32_t)d)
		return (uint32_t)d;
	schema_fail(c, "%s must be a whole number from 0 to 1000000000", keyword);
	return otherwise;
}
