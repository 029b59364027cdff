/* env: what reading a template and rendering it have in common: memory, bounds, the output, and the way out of a
 * failure.
 *
 * Failures do not return. jinja_parse() and jinja_render() set e->failed with setjmp(); env_fail() writes the reason
 * and jumps there. All memory comes from one arena and all text goes to one buffer, so nothing has to be undone on
 * the way. Other functions do not report errors. */
#ifndef JINJA_ENV_H
#define JINJA_ENV_H

#include "lib/base/arena.h"
#include "lib/base/bytes.h"
#include "lib/base/why.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct env {
	jmp_buf failed;
	struct arena *arena;        /* the template's while it is parsed, the rendering's afterwards */
	struct why *why;
	int line;                   /* of the template, for messages */
	int depth, depth_max;       /* of recursion */
	int64_t steps;              /* that are left */
	struct bytes *out;          /* the rendered text, followed by temporary text: see jv_since() */
	const struct jinja *t;
	struct scope *scope, *free_scopes;
	struct binding *free_bindings;
	enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } flow;       /* break and continue skip the rest of the body */
	const struct tm *now;
};

_Noreturn void env_fail(struct env *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void env_full(struct env *e);         /* out of memory */
_Noreturn void env_exhausted(struct env *e);    /* out of steps */

/* Counts work. A step is about 30 ns. Code that loops over text or items charges for it, at least one step for each
 * iteration whose cost its callees do not bound, so that the limit on steps bounds the time. */
static inline void env_tick(struct env *e, uint64_t steps)
{
	if (steps > (uint64_t)e->steps)
		env_exhausted(e);
	e->steps -= (int64_t)steps;
}

/* One level of recursion deeper; undone by e->depth--. */
static inline void env_enter(struct env *e)
{
	if (e->depth >= e->depth_max)
		env_fail(e, "nested too deeply");
	e->depth++;
}

/* How many levels this process's stack allows: at most `most`. */
int env_depth(int most);

void *env_array(struct env *e, size_t n, size_t size);  /* cleared; never NULL */
#define ENV_NEW(e, type) ((type *)env_array(e, 1, sizeof(type)))
char *env_text(struct env *e, size_t n);                /* n bytes, not cleared; never NULL */

/* Fails at once if n more bytes of output are more than there may be, for what would take long to find out. */
void env_reserve(struct env *e, uint64_t n);

/* Appends to the output. */
void env_put(struct env *e, const char *s, size_t n);
void env_puts(struct env *e, const char *s);
void env_printf(struct env *e, const char *format, ...) __attribute__((format(printf, 2, 3)));  /* at most 127 bytes */

#endif
