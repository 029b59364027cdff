/* Failures with their place, and the bounds on depth and work. */
#include "converter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORK_MAX = 1 << 20 };

/* "#/properties/a/items"; returns its length. */
static int print_path(const struct schema_path *p, char *out, int room)
{
	int n = p->up ? print_path(p->up, out, room) : 0, shown = p->n < 60 ? (int)p->n : 60;

	if (n < room)
		n += snprintf(out + n, (size_t)(room - n), "%s%s%s%.*s", p->keyword ? "/" : "#",
			p->keyword ? p->keyword : "", p->name ? "/" : "", shown, p->name ? p->name : "");
	return n;
}

/* "where: reason" */
static void print_reason(struct converter *c, struct why *out, const char *format, va_list ap)
{
	char where[240], reason[240];

	print_path(c->path, where, sizeof where);
	vsnprintf(reason, sizeof reason, format, ap);
	why(out, "%s: %s", where, reason);
}

int schema_fail(struct converter *c, const char *format, ...)
{
	va_list ap;

	if (c->failed)
		return -1;
	c->failed = 1;
	va_start(ap, format);
	print_reason(c, c->w, format, ap);
	va_end(ap);
	return -1;
}

/* Appends the line unless it is there already. */
static void note_line(struct bytes *b, const char *line)
{
	size_t n = strlen(line), at = 0;

	while (at < b->n) {
		const char *end = memchr(b->p + at, '\n', b->n - at);
		size_t len = (size_t)(end - b->p) - at;

		if (len == n && !memcmp(b->p + at, line, n))
			return;
		at += len + 1;
	}
	bytes_put(b, line, n);
	bytes_puts(b, "\n");
}

int schema_refuse(struct converter *c, const char *format, ...)
{
	struct why reason;
	va_list ap;

	if (c->failed)
		return -1;
	va_start(ap, format);
	print_reason(c, &reason, format, ap);
	va_end(ap);
	if (!c->left_out) {
		c->failed = 1;
		return why(c->w, "%s is not supported", reason.text);
	}
	note_line(c->left_out, reason.text);
	return c->left_out->failed ? schema_no_memory(c) : 0;
}

int schema_forgive(struct converter *c)
{
	if (!c->left_out || c->failed != 1)
		return 0;
	c->failed = 0;
	note_line(c->left_out, c->w->text);
	return 1;
}

/* What no part of the schema can be left out for. */
static int fail_as_a_whole(struct converter *c, const char *reason)
{
	if (c->failed)
		return -1;
	schema_fail(c, "%s", reason);
	c->failed = 2;
	return -1;
}

int schema_no_memory(struct converter *c)
{
	return fail_as_a_whole(c, errno == ENOMEM ? "out of memory" : "the schema needs more memory than it may have");
}

int schema_work(struct converter *c, size_t n)
{
	c->work += n < WORK_MAX ? (unsigned)n : WORK_MAX;
	return c->work > WORK_MAX ? fail_as_a_whole(c, "the schema is too large, or branches too often") : 0;
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
