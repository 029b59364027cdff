/* syntax: a template's tokens and its tree. Text to tokens in lex.c, tokens to trees in expr.c (expressions) and
 * parse.c (statements). */
#ifndef JINJA_SYNTAX_H
#define JINJA_SYNTAX_H

#include "jinja.h"
#include "value.h"

/* A variable's name; one object for each spelling in a template, so that names are compared by address. */
struct name {
	struct jv text;
	struct name *next;
};

enum lexeme_type { T_END, T_DATA, T_NAME, T_NUMBER, T_STRING, T_SIGN };

struct lexeme {
	enum lexeme_type type;
	int line;
	const char *s;              /* T_DATA, T_NAME, T_STRING (unescaped), T_SIGN: s[n] */
	uint32_t n;                 /* signs are operators, brackets, and {{ {% %} }} without their - and + */
	struct jv value;            /* T_NUMBER */
};

struct lexer {
	struct env *e;
	const char *at, *end;
	int line;
	enum { IN_TEXT, IN_PRINT, IN_BLOCK } state;
	bool at_line_start;         /* only a newline precedes `at` */
	bool tag_next;              /* a tag starts at `at`, and the text before it has been returned */
	unsigned nesting;           /* open brackets, inside which }} and %} end nothing */
};

/* The next token; T_END at the end of the template. */
struct lexeme lex(struct lexer *l);

/* An operator's code in a tree is its characters: '+' or OP2('=', '='). `in` and `not in` are 'i' and 'n'. */
#define OP2(a, b) ((a) << 8 | (b))

/* The tree. What the members hold stands at each type; [x] is a list through next. */
enum node_type {
	/* expressions */
	N_CONST,                    /* value */
	N_NAME,                     /* name */
	N_LIST, N_TUPLE,            /* a [items] */
	N_DICT,                     /* a [N_PAIR] */
	N_PAIR,                     /* a key, b value */
	N_ATTR,                     /* a . name */
	N_ITEM,                     /* a [ b ] */
	N_SLICE,                    /* a [ b ], b the three bounds, None where not given */
	N_CALL,                     /* a ( b [N_ARG] ) */
	N_FILTER,                   /* a | name ( b ) */
	N_TEST,                     /* a is name ( b ) */
	N_ARG,                      /* a; name or NULL; op: 0, '*' or OP2('*','*') */
	N_NOT, N_AND, N_OR,         /* a, b */
	N_UNARY, N_BINARY,          /* op a; a op b */
	N_COMPARE,                  /* a, b [N_OPERAND] */
	N_OPERAND,                  /* op a */
	N_COND,                     /* a if b else c */
	N_MACRO,                    /* name, a [N_PARAM], body; op: uses MACRO_... */
	N_PARAM,                    /* name, a default or NULL */
	N_CAPTURE,                  /* the text of body */
	/* statements */
	N_TEXT,                     /* value */
	N_PRINT,                    /* a */
	N_IF,                       /* a, body, other [else; an elif is an N_IF] */
	N_FOR,                      /* a target, b over, c if, body, other; op: recursive */
	N_SET,                      /* a target or NULL, b */
	N_WITH,                     /* a [N_SET], body */
	N_BREAK, N_CONTINUE,
};

enum { MACRO_CALLER = 1, MACRO_VARARGS = 2, MACRO_KWARGS = 4 };

struct node {
	uint8_t type;
	int op, line;
	struct node *a, *b, *c, *body, *other;
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
	struct env *e;
	struct jinja *t;
	struct lexer lexer;
	struct lexeme token;        /* at the cursor */
	int loops;                  /* for blocks around here, for break and continue */
	int uses;                   /* MACRO_... of the macro being read */
};

/* Is the token at the cursor one of these names and signs, which are separated by spaces? take: then takes it.
 * expect: fails unless it is. */
bool parse_at(const struct parser *p, const char *words);
bool parse_take(struct parser *p, const char *words);
void parse_expect(struct parser *p, const char *word);
void parse_advance(struct parser *p);

struct node *parse_node(struct parser *p, enum node_type type, struct node *a, struct node *b);
const struct name *parse_name(struct parser *p);                /* takes a name */
const struct name *parse_intern(struct parser *p, const char *s, size_t n);

/* Items between commas, up to a token of `ends`, which is left there; parse_bracketed takes it. parse_tuple_of: one, or
 * a tuple of several. */
typedef struct node *parse_item(struct parser *p);
struct node *parse_list(struct parser *p, parse_item *item, const char *ends);
struct node *parse_bracketed(struct parser *p, parse_item *item, const char *close);
struct node *parse_tuple_of(struct parser *p, parse_item *item, const char *ends);

struct node *parse_expression(struct parser *p);
/* an expression, or several between commas; else without if-else */
struct node *parse_tuple(struct parser *p, bool conditional);
struct node *parse_filters(struct parser *p, struct node *value); /* with the cursor on the name of the first: a|b|c */

#endif
