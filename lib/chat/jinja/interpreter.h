/* interpreter: trees to values and text. Variables and loops, evaluation, calls, and what the builtin functions are
 * made of. */
#ifndef JINJA_INTERPRETER_H
#define JINJA_INTERPRETER_H

#include "syntax.h"

enum { CALL_ARGS = 6 };

/* Variables. */
struct binding {
	const struct name *name;
	struct jv value;
	struct binding *next;
};

struct scope {
	struct scope *parent;       /* where names are looked up next */
	struct scope *outer;        /* the scope to go back to */
	struct binding *first;
	bool kept;                  /* a macro refers to it, so it cannot be reused */
};

struct jv_macro {
	const struct node *node;
	struct scope *scope;        /* where it was defined */
};

/* A running loop. With a condition the items are tried one by one, as late as possible. */
struct jv_loop {
	const struct node *node;
	struct jv_list *items;      /* or */
	struct jv_range *range;
	int64_t next, n;            /* the first item that has not been tried, and the end */
	int64_t index;              /* of the iteration, from 0 */
	int64_t length;             /* items in all; -1 while a condition makes it unknown */
	int64_t depth;
	bool has_ahead;
	struct jv previous, current, ahead, changed;
	struct scope *scope;        /* around the loop */
};

struct jv loop_attribute(struct env *e, struct jv_loop *l, struct jv name);
struct jv loop_recurse(struct env *e, struct jv_loop *l, struct jv items);      /* loop(items) */

/* Scopes. */
void scope_push(struct env *e, struct scope *parent);           /* a new innermost scope */
void scope_pop(struct env *e);
void scope_set(struct env *e, const struct name *name, struct jv v);

/* Evaluation. */
struct jv eval(struct env *e, const struct node *n);
struct jv eval_attribute(struct env *e, struct jv object, struct jv name);
struct jv eval_item(struct env *e, struct jv object, struct jv key);
struct jv eval_slice(struct env *e, struct jv object, const struct jv bounds[3]);
struct jv eval_binary(struct env *e, int op, struct jv a, struct jv b);                 /* the arithmetic operators */
bool eval_comparison(struct env *e, int op, struct jv a, struct jv b);

void exec(struct env *e, const struct node *body);
struct jv exec_captured(struct env *e, const struct node *body);        /* the body's text, run in a new scope */
struct jv exec_macro(struct env *e, const struct node *n);              /* an N_MACRO, defined here */

/* Calls. */
struct call {
	struct jv self;             /* the operand of a filter or test, the object of a method */
	const struct jv *pos;
	uint32_t n_pos;
	struct jv_dict *kw;         /* NULL: none */
	const struct builtin *b;    /* what is called: a builtin or */
	const struct node *macro;
	struct jv arg[CALL_ARGS];   /* for builtins with parameters: in their order, JV_ABSENT where not given */
};

/* What a row of the table of builtins is for. */
enum {
	IS_GLOBAL = 1, IS_FILTER = 2, IS_TEST = 4,
	OF_STR = 8, OF_LIST = 16, OF_TUPLE = 32, OF_DICT = 64, OF_LOOP = 128,   /* a method */
	OF_BYTES = 256,
	ON_TEXT = 512,              /* a filter or test whose operand is turned into a string unless it is one */
};

typedef struct jv builtin_function(struct env *e, struct call *c);

/* A function of the templates that is written in C. params: the parameters' names between spaces; those from the
 * first that starts with '?' on are optional; NULL: the arguments are left in pos and kw. `what` selects a variant of
 * run. */
struct builtin {
	const char *name;
	unsigned use;
	const char *params;
	builtin_function *run;
	int what;
};

/* The builtin of that name for one of the uses, or NULL. */
const struct builtin *builtin_find(struct jv name, unsigned use);
const struct builtin *builtin_method(struct jv object, struct jv name);
/* Runs the filter or test of that name: use is IS_FILTER or IS_TEST. c->kw is used up. */
struct jv builtin_named(struct env *e, struct jv name, unsigned use, struct call *c);

struct jv call_node(struct env *e, const struct node *n);               /* an N_CALL */
struct jv call_filter_or_test(struct env *e, const struct node *n);     /* an N_FILTER or N_TEST */

struct jv call_tuple(struct env *e, const struct call *c, uint32_t from);       /* positional arguments */

/* Argument i of a builtin, or its default. A value of the wrong type is a failure. */
int64_t arg_int(struct env *e, const struct call *c, int i, int64_t absent);
struct jv arg_str(struct env *e, const struct call *c, int i, struct jv absent);
struct jv arg_or(const struct call *c, int i, struct jv absent);

/* Builtins that other parts use. */
struct jv format_percent(struct env *e, struct jv format, struct jv args);      /* "format" % args */
struct jv markup_escape(struct env *e, struct jv v);    /* HTML's & < > ' ", unless v is markup */

#endif
