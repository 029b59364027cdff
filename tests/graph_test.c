/* fwd/builder/graph: each misuse is an error that names the op; which rows ops act on, and where rows are selected;
 * what shares memory; what crosses a cut. */
#include "check.h"
#include "toy.h"

/* Appends an op that uses up to two values. */
static int op2(const struct op_kind *kind, const char *name, enum use use1, struct value *v1, enum use use2,
	struct value *v2)
{
	struct toy t = { .uses = v2 ? 2 : 1, .use = { using(use1, v1) }, .packs_use = USES };

	if (v2)
		t.use[1] = using(use2, v2);
	return add(kind, name, &t);
}

static struct value *made(const struct op_kind *kind, const char *name)
{
	struct value *v = value(WIDTH);

	op2(kind, name, USE_MAKE, v, 0, NULL);
	return v;
}

/* Makes another value from v. */
static struct value *made_of(const struct op_kind *kind, const char *name, struct value *v)
{
	struct value *y = value(WIDTH);

	op2(kind, name, USE_READ, v, USE_MAKE, y);
	return y;
}

static int packing(const struct op_kind *kind, const char *name, struct value *v, enum use use)
{
	return add(kind, name, &(struct toy){ .uses = 1, .use = { using(use, v) } });
}

/* Appends a product: it reads packed rows, and makes y. */
static struct value *product(const char *name, struct packed *x)
{
	struct value *y = value(WIDTH);

	if (x)
		x->wants[0] = 1;
	add(&each, name, &(struct toy){ .uses = 1, .use = { using(USE_MAKE, y) }, .reads = x, .packs_use = USES });
	return y;
}

/* v is read at the end. */
static void result(struct value *v, int all_of_it)
{
	if (!plan->n_body)
		plan->n_body = plan->n_ops;
	plan->x = rows_of(v);
	graph_read(&graph, &plan->x, v->n, all_of_it);
}

/* ---- misuse ---- */

/* The graph fails with this reason, at the latest when it is placed. */
static void refused(const char *want)
{
	check(graph_place(&graph) < 0 && strstr(reason.text, want), "\"%s\", not \"%s\"", reason.text, want);
	op2(&each, "later", USE_READ, value(1), 0, NULL);
	check(graph_place(&graph) < 0 && strstr(reason.text, want), "the first failure stays: \"%s\", not \"%s\"",
		reason.text, want);
	end();
}

static void misuses(void)
{
	struct toy t = { .uses = 1, .packs_use = USES };
	struct value *v, *x;

	begin();
	op2(&each, "reader", USE_READ, value(5), 0, NULL);
	refused("op reader: reads what nothing has made (5 elements from 0 on of rows of 5)");
	begin();
	v = value(WIDTH);
	op2(&each, "maker", USE_MAKE, graph_part(&graph, v, 0, 10), 0, NULL);
	op2(&each, "reader", USE_READ, graph_columns(&graph, v->in, 8, 3), 0, NULL);
	refused("op reader: reads what nothing has made (3 elements from 8 on of rows of 24)");
	begin();
	op2(&each, "changer", USE_CHANGE, value(5), 0, NULL);
	refused("op changer: reads what nothing has made");
	begin();
	v = made(&each, "maker");
	x = graph_part(&graph, v, 20, 4);
	op2(&each, "thief", USE_MAKE, x, 0, NULL);
	op2(&each, "neighbour", USE_READ, graph_columns(&graph, v->in, 0, 20), 0, NULL);
	op2(&each, "owner", USE_READ, x, 0, NULL);
	check(!graph.failed, "both parts can be read: %s", reason.text);
	op2(&each, "reader", USE_READ, v, 0, NULL);
	refused("op reader: reads what has been overwritten (24 elements from 0 on of rows of 24, by op thief)");
	begin();
	v = made(&each, "maker");
	op2(&each, "glutton", USE_SPOIL, v, 0, NULL);
	op2(&each, "reader", USE_READ_ALL, v, 0, NULL);
	refused("op reader: reads what has been overwritten (24 elements from 0 on of rows of 24, by op glutton)");
	begin();
	t.use[0] = using(USE_READ, made(&each, "maker"));
	t.use[0].n++;
	add(&each, "reader", &t);
	refused("op reader: uses more elements than the value has (24 elements");
	begin();
	t.use[0] = using(USE_MAKE, value(5));
	t.use[0].n++;
	add(&each, "maker", &t);
	refused("op maker: uses more elements than the value has (5 elements");
	begin();
	graph_part(&graph, made(&each, "maker"), 20, 5);
	refused("after op maker: a part of 5 elements from 20 on, of a value of 24");
}

static void other_misuses(void)
{
	struct routing routing = { .n = 1 };
	struct toy t = { .uses = 1, .packs_use = USES, .routing = &routing };
	struct value *v;

	begin();
	product("product", graph_packed(&graph, made(&each, "maker")));
	refused("op product: reads packed rows that nothing has made");
	begin();
	product("product", graph_packed_apart(&graph, WIDTH, 2, 2));
	refused("op product: reads packed rows that nothing has made");
	begin();
	packing(&each, "maker", v = value(WIDTH), USE_MAKE);
	product("product", graph_packed(&graph, v));
	op2(&each, "changer", USE_CHANGE, v, 0, NULL);
	refused("op changer: changes rows that have been packed");
	begin();
	graph_routing(&graph, &routing);
	t.use[0] = using(USE_MAKE, value(5));
	add(&each, "experts", &t);
	refused("op experts: reads a routing that nothing has made");
	begin();
	plan->x = rows_of(made(&each, "maker"));
	graph_read(&graph, &plan->x, WIDTH + 1, 0);
	refused("op end: uses more elements than the value has");
	begin();
	v = made(&all, "maker");
	plan->n_body = plan->n_ops;
	made_of(&each, "head", v);
	result(v, 1);
	refused("op head: in the head, but needs all rows of the batch");
}

/* ---- which rows ---- */

/* Places the graph. The plan's ops must be these: a: acts on all rows; w: on the wanted ones; 1 to 8: selects so many
 * columns of rows. */
static void rows(const char *what, const char *want)
{
	char got[64] = "";
	size_t i = 0;

	check(graph_place(&graph) == 0, "%s: %s", what, reason.text);
	for (; i < plan->n_ops && i < sizeof got - 1; i++)
		got[i] = plan->op[i].kind == &op_select ? (char)('0' + ((struct op_select *)plan->op[i].bound)->buffers)
			: plan->op[i].wanted ? 'w' : 'a';
	check(!strcmp(got, want), "%s: ops %s, not %s", what, got, want);
	end();
}

static void choices(void)
{
	struct value *v, *x;

	begin();
	result(made_of(&each, "b", made(&each, "a")), 0);
	rows("all for the wanted rows", "ww");
	begin();
	result(made_of(&each, "b", made(&each, "a")), 1);
	rows("all rows wanted at the end", "aa");
	begin();
	result(made_of(&each, "b", made(&all, "a")), 0);
	rows("an op that needs all rows", "a1w");
	begin();
	v = made_of(&each, "b", made(&each, "a"));
	result(made_of(&each, "d", made_of(&all, "c", v)), 0);
	rows("its sources make all rows", "aaa1w");
	begin();
	v = made(&all, "a");
	x = made_of(&all, "b", v);
	op2(&each, "c", USE_READ, x, USE_CHANGE, v);
	result(v, 0);
	rows("two values selected together", "aa2w");
	begin();
	v = made(&all, "a");
	x = made_of(&each, "b", v);
	op2(&each, "c", USE_READ, x, USE_CHANGE, v);
	result(v, 0);
	rows("a value selected once", "a1ww");
	begin();
	v = made(&all, "a");
	op2(&each, "b", USE_READ, graph_part(&graph, v, 4, 4), 0, NULL);
	result(made_of(&each, "c", v), 0);
	rows("parts of a value selected once", "a1w2w");
	begin();
	v = made(&all, "a");
	x = made_of(&each, "b", v);
	op2(&all, "c", USE_READ, v, 0, NULL);
	result(x, 0);
	rows("a later op needs all rows of what an earlier one reads", "aaa1");
	begin();
	v = made(&each, "a");
	x = value(WIDTH);
	op2(&each, "b", USE_READ_ALL, v, USE_MAKE, x);
	result(x, 0);
	rows("an op for the wanted rows that reads all", "aw");
	begin();
	packing(&each, "a", v = value(WIDTH), USE_MAKE);
	x = product("b", graph_packed(&graph, v));
	result(made_of(&each, "d", made_of(&all, "c", x)), 0);
	rows("packed rows are read by ops that act on the same rows", "aaa1w");
	begin();
	packing(&all, "a", v = value(WIDTH), USE_MAKE);
	x = product("b", graph_packed(&graph, v));
	result(made_of(&each, "c", x), 0);
	rows("packed rows are not selected", "aa1w");
	begin();
	v = made(&all, "a");
	plan->n_body = plan->n_ops;
	result(made_of(&each, "b", v), 0);
	rows("the head's rows are selected before it", "a1w");
}

/* ---- memory ---- */

/* Places a chain of n ops, each of which reads the value of the one before, and returns how many of the values have
 * memory of their own. */
static size_t separate(const struct op_kind *kind, size_t n)
{
	const float *at[16];
	size_t own = 0;

	begin();
	for (struct value *v = made(&each, "first"); plan->n_ops < n;)
		v = made_of(kind, "next", v);
	plan->n_body = n;
	check(graph_place(&graph) == 0, "a chain: %s", reason.text);
	for (size_t i = 0; i < n; i++) {
		const struct toy *t = plan->op[i].bound;
		size_t j = 0;

		at[own] = t->use[t->uses - 1].x.at;
		while (at[j] != at[own])
			j++;
		own += j == own;
	}
	end();
	return own;
}

static void memory(void)
{
	struct value *v, *kept;
	const struct toy *t;

	check_at(separate(&each, 9) == 2, "values of a chain with memory of their own", (long long)separate(&each, 9));
	check_at(separate(&follower, 9) == 9, "the same of ops that follow", (long long)separate(&follower, 9));
	begin();
	kept = made(&each, "kept");
	v = made_of(&each, "c", made_of(&each, "b", made(&each, "a")));
	plan->n_body = plan->n_ops;
	plan->x = rows_of(kept);
	graph_keep(&graph, &plan->x);
	check(graph_place(&graph) == 0 && v, "kept rows: %s", reason.text);
	for (size_t i = 1; i < plan->n_ops; i++) {
		t = plan->op[i].bound;
		check_at(t->use[t->uses - 1].x.at != plan->x.at, "rows that are kept", (long long)i);
	}
	end();
}

/* ---- cuts ---- */

/* Cuts before the ops that come now. */
static int cut_here(void)
{
	graph.now_absent = 1;
	return (int)plan->n_ops;
}

static void cuts(void)
{
	struct value *x, *v, *wide;
	int cut;

	begin();
	x = made(&each, "x");
	v = made_of(&each, "v", x);
	wide = value(3 * WIDTH);
	op2(&each, "parts", USE_READ, v, USE_MAKE, graph_part(&graph, wide, 0, WIDTH));
	op2(&each, "parts", USE_READ, v, USE_MAKE, graph_part(&graph, wide, 2 * WIDTH, WIDTH));
	cut = cut_here();
	op2(&each, "later", USE_READ, graph_columns(&graph, wide->in, 8, 8), USE_CHANGE, x);
	op2(&each, "later", USE_READ, graph_columns(&graph, wide->in, 2 * WIDTH, 2), 0, NULL);
	graph_cut(&graph, cut, x, &plan->out);
	check(!graph.failed && plan->out.parts == 2 && plan->out.n[0] == WIDTH && plan->out.n[1] == 2 * WIDTH + 2 - 8
		&& plan->out.width == plan->out.n[0] + plan->out.n[1],
		"what is read later crosses a cut: %zu parts, %zu and %zu", plan->out.parts, plan->out.n[0],
		plan->out.n[1]);
	plan->n_body = plan->n_ops;
	check(graph_place(&graph) == 0 && plan->n_ops == (size_t)cut && !plan->op[0].wanted
		&& plan->op[1].wanted == plan->op[2].wanted, "all rows cross a cut");
	end();

	begin();
	x = made(&each, "x");
	v = made_of(&each, "v", x);
	v->in->stays = "it is at home";
	cut = cut_here();
	op2(&each, "later", USE_READ, v, USE_CHANGE, x);
	graph_cut(&graph, cut, x, &plan->out);
	refused("it is at home");

	begin();
	x = made(&each, "x");
	made_of(&each, "v", x)->in->stays = "it is at home";
	cut = cut_here();
	op2(&each, "later", USE_CHANGE, x, 0, NULL);
	graph_cut(&graph, cut, x, &plan->out);
	check(!graph.failed && plan->out.parts == 1, "what stays and is not read later: %s", reason.text);
	end();

	begin();
	graph.now_absent = 1;
	packing(&each, "packer", x = value(WIDTH), USE_MAKE);
	cut = (int)plan->n_ops;
	graph.now_absent = 0;
	product("product", graph_packed(&graph, x));
	graph_cut(&graph, cut, x, &plan->out);
	refused("op product reads packed rows of another plan");

	begin();
	x = made(&each, "x");
	v = made_of(&each, "v", x);
	cut = cut_here();
	op2(&each, "later", USE_CHANGE, x, 0, NULL);
	graph_cut(&graph, cut, x, &plan->out);
	op2(&each, "last", USE_READ, v, 0, NULL);
	refused("op last reads what op v makes in another plan, but it does not pass");

	begin();
	graph.now_absent = 1;
	v = made(&each, "v");
	graph.now_absent = 0;
	result(v, 0);
	refused("op end reads what op v makes in another plan, but it does not pass");

	begin();
	for (int i = 0; i <= PLAN_PARTS; i++)
		made(&each, "v");
	x = value(WIDTH);
	op2(&each, "x", USE_MAKE, x, 0, NULL);
	cut = cut_here();
	for (struct storage *s = graph.storages; s; s = s->next)
		op2(&each, "later", USE_READ, graph_columns(&graph, s, 0, WIDTH), 0, NULL);
	graph_cut(&graph, cut, x, &plan->out);
	refused("more than 4 values pass from layer to layer");
}

int main(void)
{
	misuses();
	other_misuses();
	choices();
	memory();
	cuts();
	return check_end("graph_test");
}
