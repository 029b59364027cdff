/* Tokens to trees: statements, and jinja_parse(). */
#include "syntax.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_TEMPLATE = 1 << 20, LARGEST_TREE = 32 << 20, DEEPEST_TREE = 200, MOST_NAMES = 4096 };

void parse_advance(struct parser *p)
{
	p->token = p->has_ahead ? p->ahead : lex(&p->lexer);
	p->has_ahead = false;
	p->e->line = p->token.line;
}

bool parse_at_name(const struct parser *p, const char *name)
{
	return p->token.type == T_NAME && p->token.n == strlen(name) && !memcmp(p->token.s, name, p->token.n);
}

bool parse_at_op(const struct parser *p, int op)
{
	return p->token.type == T_OP && p->token.op == op;
}

bool parse_take_name(struct parser *p, const char *name)
{
	bool there = parse_at_name(p, name);

	if (there)
		parse_advance(p);
	return there;
}

bool parse_take_op(struct parser *p, int op)
{
	bool there = parse_at_op(p, op);

	if (there)
		parse_advance(p);
	return there;
}

void parse_expect_op(struct parser *p, int op)
{
	if (!parse_take_op(p, op))
		env_fail(p->e, "expected '%c'", op);
}

struct node *parse_node(struct parser *p, enum node_type type)
{
	struct node *n = ENV_NEW(p->e, struct node);

	n->type = (uint8_t)type;
	n->line = p->token.line;
	return n;
}

const struct name *parse_intern(struct parser *p, const char *s, size_t n)
{
	unsigned hash = 2166136261u;
	struct name *name, **slot;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)s[i]) * 16777619u;
	slot = &p->t->names[hash % (sizeof p->t->names / sizeof *p->t->names)];
	for (name = *slot; name; name = name->next)
		if (name->n == n && !memcmp(name->s, s, n))
			return name;
	if (p->t->n_names++ == MOST_NAMES)
		env_fail(p->e, "more than %d different names", MOST_NAMES);
	name = ENV_NEW(p->e, struct name);
	*name = (struct name){ s, (uint32_t)n, *slot };
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

static void end_tag(struct parser *p, enum lexeme_type end)
{
	if (p->token.type != end)
		env_fail(p->e, "expected the end of the tag");
	parse_advance(p);
}

static struct node *target_item(struct parser *p)
{
	struct node *n = parse_node(p, N_NAME), *attr;

	n->name = parse_name(p);
	if (!parse_take_op(p, '.'))
		return n;
	attr = parse_node(p, N_ATTR);
	attr->a = n;
	attr->value = jv_str(p->token.s, p->token.n);
	parse_name(p);
	return attr;
}

static bool targets_end(const struct parser *p)
{
	return p->token.type != T_NAME || parse_at_name(p, "in");
}

/* What can be assigned to. one: not a tuple. */
static struct node *parse_target(struct parser *p, bool one)
{
	bool open = parse_take_op(p, '(');
	struct node *n = target_item(p);

	if (!one && parse_at_op(p, ','))
		n = parse_more(p, n, target_item, targets_end);
	if (open)
		parse_expect_op(p, ')');
	return n;
}

static struct node *parse_body(struct parser *p, const char *const *ends);

/* Takes the body up to the tag of this name, and that tag. */
static struct node *closed_body(struct parser *p, const char *end)
{
	struct node *body = parse_body(p, (const char *const[]){ end, NULL });

	parse_advance(p);
	end_tag(p, T_BLOCK_END);
	return body;
}

/* The same for a body whose text is captured: break and continue cannot leave it. */
static struct node *captured_body(struct parser *p, const char *end)
{
	int loops = p->loops;
	struct node *body;

	p->loops = 0;
	body = closed_body(p, end);
	p->loops = loops;
	return body;
}

/* The else part of a statement, if it has one, and its closing tag. */
static struct node *else_body(struct parser *p, const char *end)
{
	if (parse_take_name(p, "else")) {
		end_tag(p, T_BLOCK_END);
		return closed_body(p, end);
	}
	parse_advance(p);
	end_tag(p, T_BLOCK_END);
	return NULL;
}

static void parse_if(struct parser *p, struct node *n)
{
	for (;;) {
		n->type = N_IF;
		n->a = parse_tuple(p, false);
		end_tag(p, T_BLOCK_END);
		n->b = parse_body(p, (const char *const[]){ "elif", "else", "endif", NULL });
		if (!parse_take_name(p, "elif"))
			break;
		n = n->c = parse_node(p, N_IF);
	}
	n->c = else_body(p, "endif");
}

static void parse_for(struct parser *p, struct node *n)
{
	n->a = parse_target(p, false);
	if (!parse_take_name(p, "in"))
		env_fail(p->e, "expected 'in'");
	n->b = parse_tuple(p, false);
	if (parse_take_name(p, "if"))
		n->c = parse_expression(p);
	n->op = parse_take_name(p, "recursive");
	end_tag(p, T_BLOCK_END);
	p->loops++;
	n->d = parse_body(p, (const char *const[]){ "else", "endfor", NULL });
	p->loops--;
	n->e = else_body(p, "endfor");
}

static void parse_set(struct parser *p, struct node *n)
{
	n->a = parse_target(p, false);
	if (parse_take_op(p, '=')) {
		n->b = parse_tuple(p, true);
		end_tag(p, T_BLOCK_END);
		return;
	}
	n->type = N_SET_BLOCK;
	n->b = parse_take_op(p, '|') ? parse_filters(p, NULL) : NULL;
	end_tag(p, T_BLOCK_END);
	n->c = captured_body(p, "endset");
}

static struct node *parameter(struct parser *p)
{
	struct node *n = parse_node(p, N_PARAM);

	n->name = parse_name(p);
	n->a = parse_take_op(p, '=') ? parse_expression(p) : NULL;
	return n;
}

/* The parameters after the opening parenthesis. */
static struct node *parameters(struct parser *p)
{
	struct node *first = parse_list(p, ')', parameter);

	for (const struct node *n = first; n; n = n->next)
		if (n->a && n->next && !n->next->a)
			env_fail(p->e, "a parameter without a default follows one with a default");
	return first;
}

/* A macro's body. Its uses of caller, varargs and kwargs are its own, and no loop outside can be left. */
static void macro_body(struct parser *p, struct node *n, const char *end)
{
	int uses = p->uses;

	p->uses = 0;
	end_tag(p, T_BLOCK_END);
	n->b = captured_body(p, end);
	n->op = p->uses;
	p->uses = uses;
}

static void parse_macro(struct parser *p, struct node *n)
{
	n->name = parse_name(p);
	parse_expect_op(p, '(');
	n->a = parameters(p);
	macro_body(p, n, "endmacro");
}

static void parse_call(struct parser *p, struct node *n)
{
	n->b = parse_node(p, N_MACRO);
	n->b->name = p->t->caller;
	n->b->a = parse_take_op(p, '(') ? parameters(p) : NULL;
	n->a = parse_expression(p);
	if (n->a->type != N_CALL)
		env_fail(p->e, "expected a call in the call block");
	macro_body(p, n->b, "endcall");
}

static void parse_filter(struct parser *p, struct node *n)
{
	n->a = parse_filters(p, NULL);
	end_tag(p, T_BLOCK_END);
	n->b = captured_body(p, "endfilter");
}

static void parse_with(struct parser *p, struct node *n)
{
	struct node **link = &n->a;

	while (p->token.type != T_BLOCK_END) {
		*link = parse_node(p, N_SET);
		(*link)->a = parse_target(p, true);
		parse_expect_op(p, '=');
		(*link)->b = parse_expression(p);
		link = &(*link)->next;
		if (p->token.type != T_BLOCK_END)
			parse_expect_op(p, ',');
	}
	end_tag(p, T_BLOCK_END);
	n->b = closed_body(p, "endwith");
}

static void parse_generation(struct parser *p, struct node *n)
{
	end_tag(p, T_BLOCK_END);
	n->a = closed_body(p, "endgeneration");
}

static void parse_block(struct parser *p, struct node *n)
{
	parse_name(p);
	while (parse_take_name(p, "scoped") || parse_take_name(p, "required"))
		;
	end_tag(p, T_BLOCK_END);
	n->a = parse_body(p, (const char *const[]){ "endblock", NULL });
	parse_advance(p);
	if (p->token.type == T_NAME)
		parse_advance(p);
	end_tag(p, T_BLOCK_END);
}

static void parse_do(struct parser *p, struct node *n)
{
	n->a = parse_tuple(p, true);
	end_tag(p, T_BLOCK_END);
}

static void parse_jump(struct parser *p, struct node *n)
{
	if (!p->loops)
		env_fail(p->e, "%s outside a loop", n->type == N_BREAK ? "break" : "continue");
	end_tag(p, T_BLOCK_END);
}

/* The statement whose name is at the cursor. */
static struct node *statement(struct parser *p)
{
	static const struct {
		const char *name;
		enum node_type type;
		void (*parse)(struct parser *p, struct node *n);
	} statements[] = {
		{ "if", N_IF, parse_if }, { "for", N_FOR, parse_for }, { "set", N_SET, parse_set },
		{ "macro", N_MACRO, parse_macro }, { "call", N_CALL_BLOCK, parse_call },
		{ "filter", N_FILTER_BLOCK, parse_filter }, { "with", N_WITH, parse_with },
		{ "generation", N_SCOPE, parse_generation }, { "block", N_SCOPE, parse_block },
		{ "do", N_DO, parse_do }, { "break", N_BREAK, parse_jump }, { "continue", N_CONTINUE, parse_jump },
	};
	static const char *const other_files[] = { "include", "import", "from", "extends" };
	struct node *n;

	if (p->token.type != T_NAME)
		env_fail(p->e, "expected the name of a tag");
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
		if (!parse_at_name(p, statements[i].name))
			continue;
		n = parse_node(p, statements[i].type);
		parse_advance(p);
		statements[i].parse(p, n);
		return n;
	}
	for (size_t i = 0; i < sizeof other_files / sizeof *other_files; i++)
		if (parse_at_name(p, other_files[i]))
			env_fail(p->e, "%s: other templates cannot be used", other_files[i]);
	env_fail(p->e, "unknown tag '%.*s'", p->token.n > 64 ? 64 : (int)p->token.n, p->token.s);
}

/* The next piece of a body, or NULL: a tag starts whose name is one of `ends`, and the cursor is on it. */
static struct node *piece(struct parser *p, const char *const *ends)
{
	struct node *n;

	switch (p->token.type) {
	case T_DATA:
		n = parse_node(p, N_TEXT);
		n->value = jv_str(p->token.s, p->token.n);
		parse_advance(p);
		return n;
	case T_PRINT_BEGIN:
		n = parse_node(p, N_PRINT);
		parse_advance(p);
		n->a = parse_tuple(p, true);
		end_tag(p, T_PRINT_END);
		return n;
	case T_BLOCK_BEGIN:
		parse_advance(p);
		for (; *ends; ends++)
			if (parse_at_name(p, *ends))
				return NULL;
		return statement(p);
	default:
		env_fail(p->e, "unexpected end of template");
	}
}

/* Reads up to a tag with one of these names and leaves the cursor on the name; with no names, up to the end of the
 * template. */
static struct node *parse_body(struct parser *p, const char *const *ends)
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
	static const char *const to_the_end[] = { NULL };
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
	t->body = parse_body(&p, to_the_end);
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
