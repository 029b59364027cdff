/* Memory, bounds, output and failure of a template. */
#include "env.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { STACK_PER_LEVEL = 2048 };

void env_fail(struct env *e, const char *format, ...)
{
	char reason[448];
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	why(e->why, "template line %d: %s", e->line, reason);
	longjmp(e->failed, 1);
}

void env_full(struct env *e)
{
	env_fail(e, "needs more memory than the %zu MiB it may have", e->arena->limit >> 20);
}

void env_exhausted(struct env *e)
{
	env_fail(e, "takes too many steps");
}

int env_depth(int most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY
			|| limit.rlim_cur / STACK_PER_LEVEL >= (rlim_t)most)
		return most;
	return (int)(limit.rlim_cur / STACK_PER_LEVEL);
}

void *env_array(struct env *e, size_t n, size_t size)
{
	void *p = arena_array(e->arena, n, size);

	if (!p)
		env_full(e);
	return p;
}

char *env_text(struct env *e, size_t n)
{
	char *s = arena_text(e->arena, n);

	if (!s)
		env_full(e);
	return s;
}

void env_reserve(struct env *e, uint64_t n)
{
	if (n > e->out->limit - e->out->n)
		env_full(e);
}

void env_put(struct env *e, const char *s, size_t n)
{
	if (bytes_put(e->out, s, n))
		env_full(e);
}

void env_puts(struct env *e, const char *s)
{
	env_put(e, s, strlen(s));
}

void env_printf(struct env *e, const char *format, ...)
{
	char s[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(s, sizeof s, format, ap);
	va_end(ap);
	env_puts(e, s);
}
