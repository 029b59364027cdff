/* priv: what the parts of the template interpreter share: tokens, tree, state of a rendering, calls. jinja.h is the way in. */
#ifndef JINJA_PRIV_H
#define JINJA_PRIV_H

#include "lib/base/arena.h"
#include "jinja.h"
#include "value.h"

enum { JINJA_ARGS = 6, JINJA_RANGE_MAX = 100000 };

/* A variable's name; one object for each spelling in a template, so that names are compared by address. */
struct name {
	const char *s;
	uint32_t n;
	struct name *next;
};

/* Tokens. An operator's code is its characters: '+' or OP2('=', '='). */
#define OP2(a, b) ((a) << 8 | (b))

enum token_type { T_END, T_DATA, T_PRINT_BEGIN, T_PRINT_END, T_BLOCK_BEGIN, T_BLOCK_END, T_NAME, T_INT, T_FLOAT, T_STRING, T_OP };

struct token {
	enum token_type type;
	int op, line;
	const char *s;              /* T_DATA, T_NAME, T_STRING (unescaped): s[n] */
	uint32_t n;
	int64_t i;
	double d;
};

struct lexer {
	struct arena *arena;        /* for unescaped strings */
	const char *at, *end;
	int line;
	enum { IN_TEXT, IN_PRINT, IN_BLOCK } state;
	bool at_line_start;         /* nothing but a newline stands before `at` */
	bool pending;               /* the opening of a tag at `at` has been seen, its text given out */
	unsigned nesting;           /* open brackets, inside which }} and %} end nothing */
	struct why *w;
};

/* Fills in the next token; -1 with a reason. */
int jinja_lex(struct lexer *l, struct token *t);

/* The tree. What a, b, c, d hold is said at each type; [x] is a chain through next. */
enum node_type {
	/* expressions */
	N_CONST,                    /* value */
	N_NAME,                     /* name */
	N_LIST, N_TUPLE,            /* a [items] */
	N_DICT,                     /* a [N_PAIR] */
	N_PAIR,                     /* a key, b value */
	N_ATTR,                     /* a . name */
	N_ITEM,                     /* a [ b ] */
	N_SLICE,                    /* a [ b : c : d ], any of the three NULL */
	N_CALL,                     /* a ( b [N_ARG] ) */
	N_FILTER,                   /* a | name ( b ); a NULL: a block's text */
	N_TEST,                     /* a is name ( b ) */
	N_ARG,                      /* a; name or NULL; op: 0, '*' or OP2('*','*') */
	N_NOT, N_AND, N_OR,         /* a, b */
	N_UNARY, N_BINARY,          /* op a; a op b */
	N_COMPARE,                  /* a, b [N_OPERAND] */
	N_OPERAND,                  /* op a; op 'i' and 'n' are `in` and `not in` */
	N_COND,                     /* b if a else c */
	/* statements */
	N_TEXT,                     /* value */
	N_PRINT,                    /* a */
	N_IF,                       /* a, b [body], c [else; an elif is an N_IF] */
	N_FOR,                      /* a target, b over, c if, d [body], e [else]; op: recursive */
	N_SET,                      /* a target, b */
	N_SET_BLOCK,                /* a target, b filters or NULL, c [body] */
	N_MACRO,                    /* name, a [N_PARAM], b [body]; op: uses MACRO_... */
	N_PARAM,                    /* name, a default or NULL */
	N_CALL_BLOCK,               /* a call, b N_MACRO */
	N_FILTER_BLOCK,             /* a filters, b [body] */
	N_WITH,                     /* a [N_SET], b [body] */
	N_SCOPE,                    /* a [body] */
	N_DO,                       /* a */
	N_BREAK, N_CONTINUE,
};

enum { MACRO_CALLER = 1, MACRO_VARARGS = 2, MACRO_KWARGS = 4 };

struct node {
	uint8_t type;
	int op, line;
	struct node *a, *b, *c, *d, *e;
	struct node *next;
	const struct name *name;
	struct jv value;
};

struct jinja {
	struct arena arena;
	struct node *body;
	struct name *names[1024];
	int n_names;
	const struct name *caller, *varargs, *kwargs, *loop;
};

struct parser {
	struct jinja *t;
	struct lexer lexer;
	struct token token, ahead;
	bool has_ahead;
	int depth, depth_max;
	int loops;                  /* for blocks around here, for break and continue */
	int uses;                   /* MACRO_... of the macro being read */
	struct why *w;
};

/* The parser. NULL and -1 are errors; the reason is set. */
struct node *jinja_fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
int jinja_advance(struct parser *p);
int jinja_peek(struct parser *p);
bool jinja_at_name(const struct parser *p, const char *name);
bool jinja_at_any(const struct parser *p, const char *const *names);     /* names end with NULL */
bool jinja_at_op(const struct parser *p, int op);
int jinja_expect_op(struct parser *p, int op);
int jinja_enter(struct parser *p);              /* one level deeper; undone by p->depth-- */
struct node *jinja_node(struct parser *p, enum node_type type);
struct node *jinja_binary(struct parser *p, enum node_type type, int op, struct node *a, struct node *b);        /* NULL where a or b is */
const struct name *jinja_name(struct parser *p, const char *s, size_t n);
struct node *jinja_parse_expression(struct parser *p);
struct node *jinja_parse_tuple(struct parser *p, bool conditional);     /* an expression, or several between commas */
/* Several: `first`, and what item() makes of those after the comma that comes next; ends() says whether one more comma was the last. */
struct node *jinja_tuple(struct parser *p, struct node *first, struct node *(*item)(struct parser *p), bool (*ends)(const struct parser *p));
struct node *jinja_parse_primary(struct parser *p);                     /* a value and nothing after it */
struct node *jinja_parse_trailers(struct parser *p, struct node *n);    /* .name [..] (..) after n */
struct node *jinja_parse_suffixes(struct parser *p, struct node *n);    /* and filters and tests */
struct node *jinja_parse_filters(struct parser *p, struct node *value); /* after the name of a first filter's place: a|b|c */

/* How deep recursion may go on this stack: at most `most`. */
int jinja_depth(int most);

/* Variables. */
struct binding {
	const struct name *name;
	struct jv value;
	struct binding *next;
};

struct scope {
	struct scope *parent;
	struct binding *first;
	bool kept;                  /* a macro remembers it, so it cannot be used again */
};

/* A rendering. */
struct env {
	const struct jinja *t;
	struct arena arena;
	struct bytes *out;
	struct why *w;
	int64_t steps;
	int depth, depth_max;
	int line;
	bool failed;                /* the reason is set: it is not overwritten */
	struct scope *scope, *free_scopes;
	struct binding *free_bindings;
	const struct tm *now;
};

struct jv jv_fail(struct env *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct jv jv_full(struct env *e);               /* the error of memory running out */
int jinja_tick(struct env *e, uint64_t steps);  /* counts work done; -1 when it has become too much */
int jinja_deeper(struct env *e);                /* as jinja_enter, undone by e->depth-- */
struct bytes jinja_buffer(struct env *e);       /* an empty buffer under the rendering's limit */

struct jv_macro {
	const struct node *node;
	struct scope *scope;        /* where it was defined */
};

/* A loop under way. With a condition the items are tried one by one, as late as can be. */
struct jv_loop {
	const struct node *node;
	struct jv_list *items;      /* or */
	struct jv_range *range;
	int64_t n, next;            /* items in all, and the first that has not been looked at */
	int64_t index;              /* of the round, from 0 */
	int64_t depth;
	bool filtered, has_ahead;
	struct jv previous, current, ahead, changed;
	struct scope *scope;        /* around the loop */
};

struct jv jinja_loop_attr(struct env *e, struct jv_loop *l, struct jv name);
struct jv jinja_loop_call(struct env *e, struct jv_loop *l, struct jv items);

/* Evaluation. */
struct jv jinja_eval(struct env *e, const struct node *n);
int jinja_exec(struct env *e, const struct node *body);         /* 0, -1, or EXEC_BREAK, EXEC_CONTINUE */
enum { EXEC_BREAK = 1, EXEC_CONTINUE = 2 };
struct jv jinja_call_with(struct env *e, const struct node *call, struct jv caller);     /* an N_CALL with a caller */
struct jv jinja_filter_text(struct env *e, const struct node *filters, struct jv text); /* an N_FILTER chain that starts from text */
struct jv jinja_capture(struct env *e, const struct node *body);        /* the body's text */
int jinja_set(struct env *e, const struct name *name, struct jv v);     /* in the innermost scope */
struct scope *jinja_push_scope(struct env *e, struct scope *parent);    /* NULL: error */
void jinja_pop_scope(struct env *e, struct scope *outer);
struct jv jinja_getattr(struct env *e, struct jv object, struct jv name);
struct jv jinja_getitem(struct env *e, struct jv object, struct jv key);
struct jv jinja_arith(struct env *e, int op, struct jv a, struct jv b);
struct jv jinja_slice(struct env *e, struct jv object, const struct jv bounds[3]);

/* Calls. */
struct kwarg {
	const char *s;
	uint32_t n;
	struct jv value;
};

struct call {
	struct jv self;             /* a filter's or test's operand, a method's object */
	const struct jv *pos;
	const struct kwarg *kw;
	uint32_t n_pos, n_kw;
	const char *name;           /* of what is called */
	struct jv arg[JINJA_ARGS];  /* for builtins with parameters: in their order, JV_ABSENT where not given */
};

/* A function written in C. params: the parameters' names between spaces; from the first that begins with '?' on they may be left out;
 * NULL: the arguments are taken as they come. */
struct builtin {
	const char *name;
	struct jv (*run)(struct env *e, struct call *c);
	const char *params;
};

/* Tables end with a NULL name. */
extern const struct builtin jinja_globals[], jinja_tests[];
extern const struct builtin jinja_text_filters[], jinja_list_filters[], jinja_more_filters[];
extern const struct builtin jinja_str_methods[], jinja_list_methods[], jinja_tuple_methods[], jinja_dict_methods[], jinja_loop_methods[];

const struct builtin *jinja_find(const struct builtin *table, const char *s, size_t n);
const struct builtin *jinja_find_filter(const char *s, size_t n);
const struct builtin *jinja_find_method(struct jv object, const char *s, size_t n);
struct jv jinja_run(struct env *e, const struct builtin *b, struct call *c);    /* sorts the arguments into c->arg and runs it */
struct jv jinja_call(struct env *e, struct jv callee, struct call *c);
struct jv jinja_filter(struct env *e, const char *s, size_t n, struct call *c);
int jinja_test(struct env *e, const char *s, size_t n, struct call *c);         /* 1, 0, -1 */

/* Arguments of builtins: the value or what stands for it; -1 with a reason if it has the wrong type. */
int jinja_arg_int(struct env *e, const struct call *c, int i, int64_t absent, int64_t *out);
int jinja_arg_str(struct env *e, const struct call *c, int i, struct jv absent, struct jv *out);
bool jinja_arg_true(const struct call *c, int i, bool absent);

/* What dict() and namespace() take: a mapping or pairs, then named arguments, into d. */
struct jv jinja_truncate(struct env *e, double d);      /* d without its fraction, as an integer of any size */
struct jv jinja_dict_items(struct env *e, struct jv dict);
int jinja_fill_dict(struct env *e, struct jv_dict *d, const struct call *c);
/* Sorts the pairs by their keys, and keeps equal ones in order. */
int jinja_sort(struct env *e, struct jv_pair *pairs, uint32_t n, bool reverse);

/* Text (text.c): Python's str by code points. */
bool text_is_space(int32_t c);
size_t text_length(const char *s, size_t n);            /* code points */
size_t text_offset(const char *s, size_t n, int64_t i); /* where code point i begins, n past the end */
int32_t text_upper(int32_t c);
int32_t text_lower(int32_t c);
bool text_is_letter(int32_t c);
const char *text_find(const char *s, size_t n, const char *what, size_t what_n);    /* first place or NULL */
int text_find_cost(struct env *e, size_t n, size_t what_n);     /* counts the steps that looking for it may take */
struct jv text_strip(struct env *e, struct jv s, struct jv chars, int sides);       /* sides: 1 left, 2 right */
struct jv text_replace(struct env *e, struct jv s, struct jv old, struct jv new, int64_t count);
struct jv text_split_lines(struct env *e, struct jv s, bool keep_ends);
enum text_case { TEXT_UPPER, TEXT_LOWER, TEXT_CAPITAL, TEXT_TITLE, TEXT_SWAP, TEXT_FOLD };
struct jv text_recase(struct env *e, struct jv s, enum text_case to);
struct jv text_escape(struct env *e, struct jv v);      /* HTML's & < > ' ", unless markup */
struct jv text_percent(struct env *e, struct jv format, struct jv args);            /* format % args */
struct jv text_format(struct env *e, struct jv format, const struct call *c);       /* format.format(...) */

#endif
