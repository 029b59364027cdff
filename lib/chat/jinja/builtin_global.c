/* The functions that templates find among their variables. */
#include "builtin.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_RANGE = 100000 };

struct jv global_range(struct env *e, struct call *c)
{
	int64_t start, stop, step;
	uint64_t distance, stride, n = 0;

	for (int i = 0; i < 3; i++)
		if (c->arg[i].kind == JV_NONE)
			env_fail(e, "'NoneType' object cannot be interpreted as an integer");
	start = arg_int(e, c, 0, 0);
	stop = arg_int(e, c, 1, 0);
	step = arg_int(e, c, 2, 1);
	if (c->arg[1].kind == JV_ABSENT) {
		stop = start;
		start = 0;
	}
	if (!step)
		env_fail(e, "range() arg 3 must not be zero");
	if (step > 0 ? start < stop : start > stop) {
		distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
		stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
		n = (distance - 1) / stride + 1;
	}
	if (n > LONGEST_RANGE)
		env_fail(e, "Range too big. The sandbox blocks ranges larger than %d.", LONGEST_RANGE);
	return jv_range(e, (struct jv_range){ (uint32_t)n, start, stop, step });
}

struct jv global_raise_exception(struct env *e, struct call *c)
{
	struct jv message = jv_to_str(e, c->arg[0]);

	env_fail(e, "%.*s", message.n > 400 ? 400 : (int)message.n, message.n ? message.s : "");
}

static struct jv join_next(struct env *e, struct call *c)
{
	struct jv_list *state = c->self.list;
	struct jv out = state->items[state->n > 1];

	if (state->n == 1)
		return out;
	state->items[0] = state->items[1];
	state->n = 1;
	return jv_str("", 0);
}

/* A joiner returns "" the first time it is called and its separator from then on. Its state is a list of two items,
 * then of one. */
struct jv global_joiner(struct env *e, struct call *c)
{
	static const struct builtin next = { "joiner", 0, "", join_next, 0 };
	struct jv_method *m = ENV_NEW(e, struct jv_method);

	*m = (struct jv_method){ jv_pair_of(e, jv_none, arg_or(c, 0, jv_str(", ", 2))), &next };
	return (struct jv){ .kind = JV_METHOD, .method = m };
}
