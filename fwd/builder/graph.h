/* graph: what flows between the ops of a plan. A value is what some columns of rows hold at one time: an op makes
 * it, later ops read it. Ops are recorded in the order in which they will run, and say through struct op_kind.uses
 * what they read and make. Reading columns that nothing has made, that another op has overwritten since, or that the
 * value does not have, is an error that names the op.
 *
 * After the last op, graph_place() finds out which ops need all rows of a batch and which only the wanted ones,
 * moves the wanted rows to the front where the two meet, lets values share memory if no op needs both at a time, and
 * binds the ops to it. graph_cut() tells what passes between two plans that divide the layers. */
#ifndef GRAPH_H
#define GRAPH_H

#include <limits.h>
#include <stddef.h>

#include "fwd/plan/plan.h"
#include "fwd/plan/routing.h"
#include "lib/base/arena.h"
#include "lib/base/why.h"

enum { GRAPH_NO_OP = -1, GRAPH_END = INT_MAX };       /* no op; a reader after the last op */

/* Adjacent columns of a storage that the same op made. */
struct columns {
	size_t from, to;
	int made;                       /* the op that made them; GRAPH_NO_OP: none has */
	int spoilt;                     /* by that op */
};

/* When something is needed: from its first use to the last. Times count the ops that cannot run at the same time. */
struct life {
	size_t begin, end;
};

/* Memory for rows of one or more values side by side: values that replace each other, or parts of a wider one. */
struct storage {
	size_t width;                   /* floats of a row */
	size_t times;                   /* rows for each row of the batch: 1, or the experts of a row */
	struct columns *columns;        /* [n_columns]: all of them, ascending */
	size_t n_columns, room;
	const char *stays;              /* why the values cannot pass to another plan; NULL: they can */
	struct life life;
	size_t offset;                  /* bytes, in the memory of all values */
	struct storage *next;
};

struct value {
	struct storage *in;             /* NULL: there are only packed rows, or a routing */
	size_t column, n;
	int since;                      /* it is what the columns hold after this op */
	struct packed *packed;          /* NULL: no product reads it */
	int packer;                     /* the op that packs it, or that makes the routing */
	struct value *repacked;         /* the same rows, packed once more by an op of their own; or NULL */
	struct life life;               /* of the packed rows */
	size_t packed_offset[ACTS_KINDS];
	struct value *next;             /* of those with packed rows */
};

/* A use of a value by an op. */
struct link {
	int maker, reader;
	struct storage *in;             /* NULL: packed rows or a routing, whose users all act on the same rows */
	size_t from, to;                /* columns */
	int all;                        /* the reader needs all rows of the batch */
};

/* A buffer of the plan, to be bound like those of ops. */
struct kept_rows {
	struct buffer *x;
	struct kept_rows *next;
};

struct graph {
	struct plan *plan;
	struct arena arena;             /* of values and storages */
	struct storage *storages;
	struct value *packed;           /* values that products read: a list */
	struct link *link;              /* [links], by reader */
	size_t links, link_room, op_room;
	int *absent;                    /* [op_room]: the op belongs to a layer of another plan */
	int now_absent;                 /* those that are recorded now do */
	struct kept_rows *kept;         /* a list */
	struct why *w;
	int failed;                     /* 0 or -1 */
	struct value nothing;           /* stands for all values after a failure */
	struct storage nowhere;
};

/* Begins a graph of the plan's ops. The first failure is described in *w; after it, all functions do nothing. */
void graph_open(struct graph *g, struct plan *p, struct why *w);
void graph_close(struct graph *g);

/* Fails because memory is short. */
void graph_fail(struct graph *g);

/* Memory that lasts as long as the plan, not cleared; NULL after a failure, including that of this call. */
void *graph_memory(struct graph *g, size_t size);

/* ---- values; none of these is ever NULL ---- */

/* Rows of n floats, which an op has yet to make; `times` rows for each row of the batch. */
struct value *graph_value(struct graph *g, size_t n, size_t times);

/* Columns [column, column + n) of v: what v holds there, or a place for it if v has not been made. */
struct value *graph_part(struct graph *g, const struct value *v, size_t column, size_t n);

/* What columns [column, column + n) hold now, by whichever ops they were made. */
struct value *graph_columns(struct graph *g, struct storage *in, size_t column, size_t n);

/* The packed rows of v for products; v must be made by an op that packs what it makes. */
struct packed *graph_packed(struct graph *g, struct value *v);

/* Packed rows alone, of k elements for each of n experts or heads, `used` of them for each row. */
struct packed *graph_packed_apart(struct graph *g, size_t k, size_t n, size_t used);

/* Gives r the value by which ops are linked to it: the op that makes r, and those that read it. */
void graph_routing(struct graph *g, struct routing *r);

static inline struct buffer rows_of(struct value *v)
{
	return (struct buffer){ .value = v };
}

/* ---- ops ---- */

/* Appends an op to the plan; it is bound to a copy of bound[size]. Returns its number, or GRAPH_NO_OP after a
 * failure. */
int graph_append(struct graph *g, struct op op, const void *bound, size_t size);

/* Records the uses of the last op again, after its parameters have changed. */
void graph_again(struct graph *g, int op);

/* ---- the end ---- */

/* *parts = the columns that ops before number `cut` make and later ones read, those in the rows of x first; kept to the
 * end of a step. Fails if something cannot pass from plan to plan. */
void graph_cut(struct graph *g, int cut, const struct value *x, struct plan_parts *parts);

/* Fails if an op reads what an op of another plan makes and is not a part of plan->in, or the other way round of
 * plan->out. */
void graph_check_parts(struct graph *g);

/* x, a buffer of the plan, is bound like those of ops, and its rows last to the end of a step. graph_read() says that n
 * floats of them are read then: all rows of the batch, or the wanted ones. */
void graph_keep(struct graph *g, struct buffer *x);
void graph_read(struct graph *g, struct buffer *x, size_t n, int all);

/* Adds a link. Those with the reader GRAPH_END come last. */
void graph_link(struct graph *g, struct link l);

/* Replaces the plan's ops by its own and those that select the wanted rows. */
void graph_choose_ops(struct graph *g);

/* Leaves out the ops of other plans, allocates memory for all values, and binds the ops. Returns g->failed. */
int graph_place(struct graph *g);

#endif
