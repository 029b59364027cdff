/* Tokens to trees: statements, and jinja_parse(). */
#include "syntax.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

enum { LARGEST_TEMPLATE = 1 << 20, LARGEST_TREE = 32 << 20, DEEPEST_TREE = 200, MOST_NAMES = 4096 };

void parse_advance(struct parser *p)
{
	p->token = lex(&p->lexer);
	p->e->line = p->token.line;
}

bool parse_at(const struct parser *p, const char *words)
{
	const struct lexeme *t = &p->token;
	size_t n;

	for (; t->type == T_NAME || t->type == T_SIGN; words += n + 1) {
		n = strcspn(words, " ");
		if (t->n == n && !memcmp(t->s, words, n))
			return true;
		if (!words[n])
			break;
	}
	return false;
}

bool parse_take(struct parser *p, const char *words)
{
	bool there = parse_at(p, words);

	if (there)
		parse_advance(p);
	return there;
}

void parse_expect(struct parser *p, const char *s)
{
	if (!parse_take(p, s))
		env_fail(p->e, "expected '%s'", s);
}

struct node *parse_node(struct parser *p, enum node_type type, struct node *a, struct node *b)
{
	struct node *n = ENV_NEW(p->e, struct node);

	n->type = (uint8_t)type;
	n->line = p->token.line;
	n->a = a;
	n->b = b;
	return n;
}

const struct name *parse_intern(struct parser *p, const char *s, size_t n)
{
	struct name *name, **slot = &p->t->names[hash_text(s, n) % (sizeof p->t->names / sizeof *p->t->names)];

	for (name = *slot; name; name = name->next)
		if (name->text.n == n && !memcmp(name->text.s, s, n))
			return name;
	if (p->t->n_names++ == MOST_NAMES)
		env_fail(p->e, "more than %d different names", MOST_NAMES);
	name = ENV_NEW(p->e, struct name);
	*name = (struct name){ jv_str(s, n), *slot };
	*slot = name;
	return name;
}

const struct name *parse_name(struct parser *p)
{
	const struct name *name;

	if (p->token.type != T_NAME)
		env_fail(p->e, "expected a name");
	name = parse_intern(p, p->token.s, p->token.n);
	parse_advance(p);
	return name;
}

static struct node *targets(struct parser *p);

/* name, name.attribute, or targets in parentheses */
static struct node *target(struct parser *p)
{
	struct node *n;

	if (parse_take(p, "(")) {
		env_enter(p->e);
		n = targets(p);
		p->e->depth--;
		parse_expect(p, ")");
		return n;
	}
	n = parse_node(p, N_NAME, NULL, NULL);
	n->name = parse_name(p);
	if (!parse_take(p, "."))
		return n;
	n = parse_node(p, N_ATTR, n, NULL);
	n->name = parse_name(p);
	return n;
}

/* What can be assigned to. */
static struct node *targets(struct parser *p)
{
	return parse_tuple_of(p, target, "in = | ) %}");
}

/* The rest of a statement's tag, by its name. These return the node that the body belongs to, NULL if there is none. */
typedef struct node *parse_head(struct parser *p, struct node *n);

static struct node *head_if(struct parser *p, struct node *n)
{
	n->a = parse_tuple(p, false);
	return n;
}

static struct node *head_for(struct parser *p, struct node *n)
{
	n->a = targets(p);
	parse_expect(p, "in");
	n->b = parse_tuple(p, false);
	if (parse_take(p, "if"))
		n->c = parse_expression(p);
	n->op = parse_take(p, "recursive");
	return n;
}

static struct node *head_set(struct parser *p, struct node *n)
{
	struct node *text;

	n->a = targets(p);
	if (parse_take(p, "=")) {
		n->b = parse_tuple(p, true);
		return NULL;
	}
	text = parse_node(p, N_CAPTURE, NULL, NULL);
	n->b = parse_take(p, "|") ? parse_filters(p, text) : text;
	return text;
}

static struct node *head_filter(struct parser *p, struct node *n)
{
	struct node *text = parse_node(p, N_CAPTURE, NULL, NULL);

	n->a = parse_filters(p, text);
	return text;
}

static struct node *parameter(struct parser *p)
{
	struct node *n = parse_node(p, N_PARAM, NULL, NULL);

	n->name = parse_name(p);
	n->a = parse_take(p, "=") ? parse_expression(p) : NULL;
	return n;
}

/* The parameters after the opening parenthesis. */
static struct node *parameters(struct parser *p)
{
	struct node *first = parse_bracketed(p, parameter, ")");

	for (const struct node *n = first; n; n = n->next)
		if (n->a && n->next && !n->next->a)
			env_fail(p->e, "a parameter without a default follows one with a default");
	return first;
}

static struct node *head_macro(struct parser *p, struct node *n)
{
	n->a = parse_node(p, N_NAME, NULL, NULL);
	n->b = parse_node(p, N_MACRO, NULL, NULL);
	n->a->name = n->b->name = parse_name(p);
	parse_expect(p, "(");
	n->b->a = parameters(p);
	return n->b;
}

/* The block is passed to the call as the argument caller. */
static struct node *head_call(struct parser *p, struct node *n)
{
	struct node *caller = parse_node(p, N_MACRO, NULL, NULL), **link;

	caller->name = p->t->caller;
	caller->a = parse_take(p, "(") ? parameters(p) : NULL;
	n->a = parse_expression(p);
	if (n->a->type != N_CALL)
		env_fail(p->e, "expected a call in the call block");
	for (link = &n->a->b; *link; link = &(*link)->next)
		;
	*link = parse_node(p, N_ARG, caller, NULL);
	(*link)->name = caller->name;
	return caller;
}

static struct node *assignment(struct parser *p)
{
	struct node *n = parse_node(p, N_SET, NULL, NULL);

	n->a = targets(p);
	parse_expect(p, "=");
	n->b = parse_expression(p);
	return n;
}

static struct node *head_with(struct parser *p, struct node *n)
{
	n->a = parse_list(p, assignment, "%}");
	return n;
}

static struct node *head_block(struct parser *p, struct node *n)
{
	parse_name(p);
	while (parse_take(p, "scoped required"))
		;
	return n;
}

static struct node *printed(struct parser *p)
{
	return parse_node(p, N_PRINT, parse_expression(p), NULL);
}

/* A body of what is printed. */
static struct node *head_print(struct parser *p, struct node *n)
{
	n->body = parse_list(p, printed, "%}");
	return NULL;
}

/* Nothing is escaped, as in all chat templates, so it can only be turned off. */
static struct node *head_autoescape(struct parser *p, struct node *n)
{
	if (!parse_take(p, "false False"))
		env_fail(p->e, "autoescape: only false is supported");
	return n;
}

static struct node *head_do(struct parser *p, struct node *n)
{
	n->b = parse_tuple(p, true);
	return NULL;
}

static struct node *head_jump(struct parser *p, struct node *n)
{
	if (!p->loops)
		env_fail(p->e, "%s outside a loop", n->type == N_BREAK ? "break" : "continue");
	return NULL;
}

static struct node *parse_body(struct parser *p, const char *ends);

/* The body of n, whose own tag has been taken, with its else parts, up to and including the tag that is the last of
 * `ends`. Captured text cannot be left by break and continue. A macro's uses of caller, varargs and kwargs are its
 * own. */
static void parse_bodies(struct parser *p, struct node *n, const char *ends)
{
	const char *last = strrchr(ends, ' ') ? strrchr(ends, ' ') + 1 : ends;
	bool macro = n->type == N_MACRO;
	int loops = p->loops, uses = p->uses;

	p->uses = macro ? 0 : uses;
	p->loops = n->type == N_FOR ? loops + 1 : macro || n->type == N_CAPTURE ? 0 : loops;
	n->body = parse_body(p, ends);
	p->loops = loops;
	if (macro) {
		n->op = p->uses;
		p->uses = uses;
	}
	while (parse_take(p, "elif")) {
		n = n->other = parse_node(p, N_IF, NULL, NULL);
		head_if(p, n);
		parse_expect(p, "%}");
		n->body = parse_body(p, ends);
	}
	if (parse_take(p, "else")) {
		parse_expect(p, "%}");
		n->other = parse_body(p, last);
	}
	parse_advance(p);
	if (!strcmp(last, "endblock") && p->token.type == T_NAME)
		parse_advance(p);
	parse_expect(p, "%}");
}

/* The statement whose name is at the cursor. */
static struct node *statement(struct parser *p)
{
	static const struct {
		const char *name;
		enum node_type type;
		parse_head *head;       /* NULL: nothing follows the name */
		const char *ends;
	} statements[] = {
		{ "if", N_IF, head_if, "elif else endif" }, { "for", N_FOR, head_for, "else endfor" },
		{ "set", N_SET, head_set, "endset" }, { "macro", N_SET, head_macro, "endmacro" },
		{ "call", N_PRINT, head_call, "endcall" }, { "filter", N_PRINT, head_filter, "endfilter" },
		{ "with", N_WITH, head_with, "endwith" }, { "block", N_WITH, head_block, "endblock" },
		{ "generation", N_WITH, NULL, "endgeneration" }, { "print", N_WITH, head_print, NULL },
		{ "autoescape", N_WITH, head_autoescape, "endautoescape" }, { "do", N_SET, head_do, NULL },
		{ "break", N_BREAK, head_jump, NULL }, { "continue", N_CONTINUE, head_jump, NULL },
	};
	struct node *n, *owner;

	if (p->token.type != T_NAME)
		env_fail(p->e, "expected the name of a tag");
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
		if (!parse_at(p, statements[i].name))
			continue;
		n = parse_node(p, statements[i].type, NULL, NULL);
		parse_advance(p);
		owner = statements[i].head ? statements[i].head(p, n) : n;
		parse_expect(p, "%}");
		if (owner)
			parse_bodies(p, owner, statements[i].ends);
		return n;
	}
	if (parse_at(p, "include import from extends"))
		env_fail(p->e, "%.*s: other templates cannot be used", JV_SHOWN(p->token));
	env_fail(p->e, "unknown tag '%.*s'", JV_SHOWN(p->token));
}

/* The next piece of a body, or NULL: a tag starts whose name is one of `ends`, and the cursor is on it. */
static struct node *piece(struct parser *p, const char *ends)
{
	struct node *n;

	if (p->token.type == T_DATA) {
		n = parse_node(p, N_TEXT, NULL, NULL);
		n->value = jv_str(p->token.s, p->token.n);
		parse_advance(p);
		return n;
	}
	if (parse_take(p, "{{")) {
		n = parse_node(p, N_PRINT, parse_tuple(p, true), NULL);
		parse_expect(p, "}}");
		return n;
	}
	if (!parse_take(p, "{%"))
		env_fail(p->e, "unexpected end of template");
	return parse_at(p, ends) ? NULL : statement(p);
}

/* Reads up to a tag with one of these names and leaves the cursor on the name; with no names, up to the end of the
 * template. */
static struct node *parse_body(struct parser *p, const char *ends)
{
	struct node *body = NULL, **link = &body;

	env_enter(p->e);
	while ((*ends || p->token.type != T_END) && (*link = piece(p, ends)))
		link = &(*link)->next;
	p->e->depth--;
	return body;
}

/* Newlines of every kind become '\n', and one at the very end is dropped. */
static size_t normalise(const char *text, size_t n, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\r' && i + 1 < n && text[i + 1] == '\n')
			continue;
		out[used++] = text[i] == '\r' ? '\n' : text[i];
	}
	return used && out[used - 1] == '\n' ? used - 1 : used;
}

static int parse(struct jinja *t, const char *text, size_t n, struct why *w)
{
	struct env e = { .arena = &t->arena, .why = w, .line = 1, .steps = INT64_MAX,
		.depth_max = env_depth(DEEPEST_TREE) };
	struct parser p = { .e = &e, .t = t };
	char *copy;

	if (setjmp(e.failed))
		return -1;
	copy = env_text(&e, n);
	p.lexer = (struct lexer){ .e = &e, .at = copy, .end = copy + normalise(text, n, copy), .line = 1,
		.at_line_start = true };
	t->caller = parse_intern(&p, "caller", 6);
	t->varargs = parse_intern(&p, "varargs", 7);
	t->kwargs = parse_intern(&p, "kwargs", 6);
	t->loop = parse_intern(&p, "loop", 4);
	parse_advance(&p);
	t->body = parse_body(&p, "");
	return 0;
}

struct jinja *jinja_parse(const char *text, size_t n, struct why *w)
{
	struct jinja *t;

	if (n > LARGEST_TEMPLATE) {
		why(w, "template: %zu bytes are more than the %d MiB a template may have", n, LARGEST_TEMPLATE >> 20);
		return NULL;
	}
	t = calloc(1, sizeof *t);
	if (!t) {
		why(w, "template: out of memory");
		return NULL;
	}
	t->arena.limit = (1 << 16) + 200 * n < LARGEST_TREE ? (1 << 16) + 200 * n : LARGEST_TREE;
	if (parse(t, text, n, w)) {
		jinja_free(t);
		return NULL;
	}
	return t;
}

void jinja_free(struct jinja *t)
{
	if (t)
		arena_free(&t->arena);
	free(t);
}
