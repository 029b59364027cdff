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

struct jv global_lipsum(struct env *e, struct call *c)
{
	env_fail(e, "lipsum: random text is not supported");
}

enum { CYCLER, CYCLER_ITEMS, CYCLER_POS };

/* Makes item number pos the current one. */
static void show_current(struct env *e, struct jv *state, int64_t pos)
{
	const struct jv_list *items = state[CYCLER_ITEMS].list;

	state[CYCLER_POS] = jv_int(pos % items->n);
	jv_dict_set(e, state[CYCLER].dict, jv_str("current", 7), items->items[pos % items->n]);
}

static struct jv cycler_next(struct env *e, struct call *c)
{
	struct jv *state = c->self.list->items;
	int64_t pos = state[CYCLER_POS].i;

	show_current(e, state, pos + 1);
	return state[CYCLER_ITEMS].list->items[pos];
}

static struct jv cycler_reset(struct env *e, struct call *c)
{
	show_current(e, c->self.list->items, 0);
	return jv_none;
}

/* A cycler is a namespace with `current` and two methods. What these work with is theirs, as a template may set any
 * member of a namespace. */
struct jv global_cycler(struct env *e, struct call *c)
{
	static const struct builtin methods[] = {
		{ "next", 0, "", cycler_next, 0 }, { "reset", 0, "", cycler_reset, 0 },
	};
	struct jv cycler = jv_dict(e, JV_NAMESPACE), state = jv_list(e, JV_LIST, 3);

	if (!c->n_pos || c->kw)
		env_fail(e, "cycler: at least one item has to be provided");
	jv_push(e, state.list, cycler);
	jv_push(e, state.list, call_tuple(e, c, 0));
	jv_push(e, state.list, jv_int(0));
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		struct jv_method *m = ENV_NEW(e, struct jv_method);

		*m = (struct jv_method){ state, &methods[i] };
		jv_dict_set(e, cycler.dict, jv_str(methods[i].name, strlen(methods[i].name)),
			(struct jv){ .kind = JV_METHOD, .method = m });
	}
	show_current(e, state.list->items, 0);
	return cycler;
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
