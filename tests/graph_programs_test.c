/* fwd/builder/graph: random programs of ops, run as a plan and as two plans that divide it, give what they give where
 * nothing shares memory and no row is left out. */
#include "fwd/plan/split.h"
#include "check.h"
#include "random.h"
#include "toy.h"

enum { OPS = 24, STORAGES = OPS, PROGRAMS = 3000, NO_OP = -1 };

struct line {
	const struct op_kind *kind;
	struct line_use {
		size_t storage, column, n;
		enum use use;
	} use[USES];
	size_t uses;
	size_t packs_use;               /* as in struct toy */
	int reads;                      /* the line whose packed rows it reads; or NO_OP */
};

struct program {
	struct line line[OPS];
	size_t cut, body;               /* lines before the cut, and before the head */
	size_t storages;
	size_t made[STORAGES][WIDTH];   /* the number of lines up to the one that made what the column holds; 0: none */
	int used[STORAGES];             /* by the line being written */
	int read_at_end[STORAGES];      /* 0; 1: the wanted rows; 2: all */
};

/* Finds columns that can be read, and have not been used by this line. Returns 0 if it finds none. */
static int pick(struct program *p, struct line_use *u)
{
	size_t tries = 0, j;

	do {
		if (tries++ == 8 || !p->storages)
			return 0;
		u->storage = random_below(p->storages);
		u->column = random_below(2) ? 0 : random_below(WIDTH);
		u->n = u->column || random_below(2) ? 1 + random_below(WIDTH - u->column) : WIDTH;
		for (j = u->column; j < u->column + u->n && p->made[u->storage][j]; j++)
			;
	} while (p->used[u->storage] || j < u->column + u->n);
	return p->used[u->storage] = 1;
}

static void add_use(struct program *p, struct line *l, struct line_use u, enum use use)
{
	u.use = use;
	for (size_t j = u.column; use >= USE_MAKE && j < u.column + u.n; j++)
		p->made[u.storage][j] = use == USE_SPOIL ? 0 : (size_t)(l - p->line) + 1;
	l->use[l->uses++] = u;
}

/* A line after which others read packed rows; NO_OP if they cannot. */
static int packer_for(const struct program *p, size_t line)
{
	size_t i = random_below(OPS), from = line >= p->body ? p->body : line >= p->cut ? p->cut : 0;

	return i >= from && i < line && p->line[i].packs_use < USES ? (int)i : NO_OP;
}

/* Ops that follow, and those of the head, which may run again, leave what they read as it is. */
static void write_line(struct program *p, size_t number)
{
	static const struct op_kind *const kinds[] = { &each, &each, &follower, &all };
	struct line *l = &p->line[number];
	struct line_use u, whole = { p->storages, 0, WIDTH, USE_MAKE };
	int pure;

	l->kind = number >= p->body ? &each : kinds[random_below(4)];
	pure = number >= p->body || l->kind == &follower;
	memset(p->used, 0, sizeof p->used);
	for (size_t reads = random_below(3); reads--;)
		if (pick(p, &u))
			add_use(p, l, u, l->kind == &each && number < p->body && !random_below(4) ? USE_READ_ALL
				: USE_READ);
	if (!pure && !random_below(4) && pick(p, &u))
		add_use(p, l, u, USE_SPOIL);
	l->reads = packer_for(p, number);
	l->packs_use = random_below(2) ? l->uses : USES;
	if (!pure && random_below(2) && pick(p, &u)) {
		add_use(p, l, u, random_below(2) ? USE_CHANGE : USE_MAKE);
		return;
	}
	p->storages++;
	add_use(p, l, whole, USE_MAKE);
}

/* What is read at the end has been made after the cut. Of what the head makes or reads, only wanted rows are there. */
static void read_at_end(struct program *p, size_t storage)
{
	size_t first = OPS;
	int in_head = 0;

	for (size_t i = p->body; i < OPS; i++)
		for (size_t j = 0; j < p->line[i].uses; j++)
			in_head |= p->line[i].use[j].storage == storage;
	for (size_t j = 0; j < WIDTH; j++)
		first = p->made[storage][j] < first ? p->made[storage][j] : first;
	if (first > p->cut)
		p->read_at_end[storage] = (int)random_below(in_head ? 2 : 3);
}

static void write_program(struct program *p)
{
	*p = (struct program){ .body = OPS / 2 + random_below(OPS / 2 + 1) };
	p->cut = 1 + random_below(p->body - 1);
	for (size_t i = 0; i < OPS; i++)
		write_line(p, i);
	for (size_t i = 0; i < p->storages; i++)
		read_at_end(p, i);
}

/* The rows of a batch: of two runs, some wanted. */
static struct run runs[2];
static struct step step = { .run = runs, .n_runs = 2 };
static size_t n_rows, n_wanted;

static void draw_runs(void)
{
	int everything = !random_below(4);

	n_rows = n_wanted = 0;
	for (struct run *r = runs; r < runs + 2; r++) {
		*r = (struct run){ .n = 1 + random_below(ROWS / 2), .first = n_rows, .first_wanted = n_wanted };
		r->wanted = everything ? r->n : random_below(r->n + 1);
		r->after = random_below(r->n - r->wanted + 1);
		n_rows += r->n;
		n_wanted += r->wanted;
	}
}

/* ---- what a program gives where nothing shares memory, with all rows of the batch ---- */

static float apart[STORAGES][ROWS][WIDTH];

static void run_apart(const struct program *p)
{
	static uint32_t rows_of_line[OPS][ROWS];
	static struct packed packed[OPS];

	step.n = n_rows;
	for (size_t i = 0; i < OPS; i++) {
		const struct line *l = &p->line[i];
		struct toy t = { .number = (uint32_t)i, .uses = l->uses,
			.packs = l->packs_use < USES ? &packed[i] : NULL,
			.reads = l->reads == NO_OP ? NULL : &packed[l->reads] };
		struct op op = { .kind = l->kind, .bound = &t };

		packed[i].acts[0].data = rows_of_line[i];
		for (size_t j = 0; j < l->uses; j++) {
			const struct line_use *u = &l->use[j];

			t.use[j] = (struct toy_use){ { .at = &apart[u->storage][0][u->column], .stride = WIDTH }, u->n,
				u->use };
		}
		for (size_t row = 0; row < n_rows; row++)
			toy_item(&op, &step, row, 0);
	}
}

/* ---- the same as plans ---- */

struct stage {
	struct plan *plan;
	struct buffer end[STORAGES];    /* what is read at the end */
};

static void record(const struct program *p, size_t i, struct value *value_of[], struct value *packed_by[])
{
	const struct line *l = &p->line[i];
	struct toy t = { .number = (uint32_t)i, .uses = l->uses, .packs_use = l->packs_use };

	for (size_t j = 0; j < l->uses; j++) {
		const struct line_use *u = &l->use[j];

		if (!value_of[u->storage])
			value_of[u->storage] = value(WIDTH);
		t.use[j] = using(u->use, graph_columns(&graph, value_of[u->storage]->in, u->column, u->n));
	}
	if (l->packs_use < USES)
		packed_by[i] = t.use[l->packs_use].x.value;
	if (l->reads != NO_OP && (t.reads = graph_packed(&graph, packed_by[l->reads])))
		t.reads->wants[0] = 1;
	add(l->kind, "line", &t);
}

enum part { WHOLE, BEFORE, AFTER };     /* the cut */

/* Builds a plan of the program or of a part. Its plan is NULL if the program cannot be cut. */
static struct stage build(const struct program *p, enum part part)
{
	struct value *value_of[STORAGES] = { NULL }, *packed_by[OPS];
	static struct stage s;

	begin();
	s.plan = plan;
	for (size_t i = 0; i < OPS; i++) {
		graph.now_absent = part == (i < p->cut ? AFTER : BEFORE);
		if (i == p->body)
			plan->n_body = plan->n_ops;
		record(p, i, value_of, packed_by);
	}
	if (p->body == OPS)
		plan->n_body = plan->n_ops;
	if (part)
		graph_cut(&graph, (int)p->cut, value_of[0], part == BEFORE ? &plan->out : &plan->in);
	for (size_t i = 0; i < p->storages; i++) {
		s.end[i] = rows_of(graph_columns(&graph, value_of[i]->in, 0, WIDTH));
		if (part != BEFORE && p->read_at_end[i])
			graph_read(&graph, &s.end[i], WIDTH, p->read_at_end[i] == 2);
	}
	if (graph_place(&graph) == 0) {
		graph_close(&graph);
		return s;
	}
	check(part && strstr(reason.text, "values pass from layer to layer"), "a program: %s", reason.text);
	end();
	s.plan = NULL;
	return s;
}

/* As plan.c does, with the items in any order. */
static void run_ops(const struct plan *p, size_t from, size_t to)
{
	for (size_t next; from < to; from = next) {
		const struct op *op = &p->op[from];
		size_t items, first = random_below(ROWS);

		step.n = op->wanted ? n_wanted : n_rows;
		items = op->kind->items(op, &step);
		for (next = from + 1; next < to && p->op[next].kind->follows
		     && p->op[next].kind->follows(&p->op[next], &step); next++)
			;
		for (size_t i = 0; i < items; i++)
			for (size_t j = from; j < next; j++)
				p->op[j].kind->item(&p->op[j], &step, (first + i) % items, 0);
	}
}

static void run_stage(const struct plan *p)
{
	run_ops(p, 0, p->n_body);
	run_ops(p, p->n_body, p->n_ops);
	run_ops(p, p->n_body, p->n_ops);
}

/* Whether n rows from `row` on are those from `want` on of a value. */
static int same_rows(const struct buffer *x, size_t row, size_t n, size_t value, size_t want)
{
	int same = 1;

	for (size_t i = 0; i < n; i++)
		same &= !memcmp(buffer_row(x, row + i), apart[value][want + i], WIDTH * sizeof(float));
	return same;
}

static void compare(const struct program *p, const struct stage *s, const char *what, size_t number)
{
	for (size_t i = 0; i < p->storages; i++) {
		const struct buffer *x = &s->end[i];
		int same = p->read_at_end[i] < 2 || same_rows(x, 0, n_rows, i, 0);

		for (const struct run *r = runs; p->read_at_end[i] == 1 && r < runs + 2; r++)
			same &= same_rows(x, r->first_wanted, r->wanted, i, r->first + r->n - r->after - r->wanted);
		if (p->read_at_end[i])
			check(same, "program %zu, %s: other rows of value %zu", number, what, i);
	}
}

/* Returns whether it could be cut. */
static int run_program(size_t number)
{
	static float hidden[ROWS * STORAGES * WIDTH];
	static struct program p;
	struct stage whole, before, after;

	write_program(&p);
	draw_runs();
	run_apart(&p);
	whole = build(&p, WHOLE);
	before = build(&p, BEFORE);
	after = build(&p, AFTER);
	if (whole.plan) {
		run_stage(whole.plan);
		compare(&p, &whole, "whole", number);
	}
	check_at(!before.plan == !after.plan, "both plans can be built, or none", (long long)number);
	if (before.plan && after.plan) {
		check_at(before.plan->out.width == after.plan->in.width, "what crosses the cut", (long long)number);
		run_stage(before.plan);
		split_give(before.plan, 0, n_rows, hidden);
		split_take(after.plan, 0, n_rows, hidden);
		run_stage(after.plan);
		compare(&p, &after, "cut", number);
	}
	plan_close(whole.plan);
	plan_close(before.plan);
	plan_close(after.plan);
	return before.plan != NULL;
}

int main(void)
{
	size_t cut = 0;

	for (size_t i = 0; i < PROGRAMS; i++)
		if (check_takes())
			cut += (size_t)run_program(i);
	check(getenv("EVERY") || cut > PROGRAMS / 8, "only %zu programs could be cut", cut);
	return check_end("graph_programs_test");
}
