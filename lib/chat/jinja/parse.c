/* Tokens to trees, the half that reads statements, and the way in: jinja_parse. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LARGEST_TEMPLATE = 1 << 20, LARGEST_TREE = 32 << 20, DEEPEST_TREE = 200, STACK_PER_LEVEL = 2048 };

int jinja_depth(int most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / STACK_PER_LEVEL >= (rlim_t)most)
		return most;
	return (int)(limit.rlim_cur / STACK_PER_LEVEL);
}

/* Takes the name at the cursor. */
static const struct name *take_name(struct parser *p)
{
	const struct name *name;

	if (p->token.type != T_NAME) {
		jinja_fail(p, "a name is wanted here");
		return NULL;
	}
	name = jinja_name(p, p->token.s, p->token.n);
	return name && !jinja_advance(p) ? name : NULL;
}

static int end_block(struct parser *p)
{
	if (p->token.type != T_BLOCK_END) {
		jinja_fail(p, "the end of the tag is wanted here");
		return -1;
	}
	return jinja_advance(p);
}

static struct node *target_item(struct parser *p)
{
	struct node *n = jinja_node(p, N_NAME), *attr;

	if (!n || !(n->name = take_name(p)))
		return NULL;
	if (!jinja_at_op(p, '.'))
		return n;
	attr = jinja_advance(p) ? NULL : jinja_node(p, N_ATTR);
	if (!attr)
		return NULL;
	attr->a = n;
	if (p->token.type != T_NAME)
		return jinja_fail(p, "a name is wanted after '.'");
	attr->value = jv_str(p->token.s, p->token.n);
	return jinja_advance(p) ? NULL : attr;
}

static bool targets_end(const struct parser *p)
{
	return p->token.type != T_NAME || jinja_at_name(p, "in");
}

/* What can be assigned to; one: no tuple. */
static struct node *parse_target(struct parser *p, bool one)
{
	bool open = jinja_at_op(p, '(');
	struct node *n;

	if (open && jinja_advance(p))
		return NULL;
	n = target_item(p);
	if (n && !one && jinja_at_op(p, ','))
		n = jinja_tuple(p, n, target_item, targets_end);
	return !n || (open && jinja_expect_op(p, ')')) ? NULL : n;
}

static int parse_body(struct parser *p, const char *const *ends, struct node **body);

/* Takes the body up to the tag of this name, and that tag. */
static int closed_body(struct parser *p, const char *end, struct node **body)
{
	const char *const ends[] = { end, NULL };

	return parse_body(p, ends, body) || jinja_advance(p) || end_block(p) ? -1 : 0;
}

/* The same for a body whose text is captured: a jump out of it is not supported. */
static int captured_body(struct parser *p, const char *end, struct node **body)
{
	int loops = p->loops;

	p->loops = 0;
	if (closed_body(p, end, body))
		return -1;
	p->loops = loops;
	return 0;
}

static struct node *parse_if(struct parser *p)
{
	static const char *const ends[] = { "elif", "else", "endif", NULL };
	struct node *first = NULL, **link = &first;

	for (;;) {
		*link = jinja_node(p, N_IF);
		if (!*link || jinja_advance(p))
			return NULL;
		(*link)->a = jinja_parse_tuple(p, false);
		if (!(*link)->a || end_block(p) || parse_body(p, ends, &(*link)->b))
			return NULL;
		if (!jinja_at_name(p, "elif"))
			break;
		link = &(*link)->c;
	}
	if (jinja_at_name(p, "else")) {
		if (jinja_advance(p) || end_block(p))
			return NULL;
		return closed_body(p, "endif", &(*link)->c) ? NULL : first;
	}
	return jinja_advance(p) || end_block(p) ? NULL : first;
}

static struct node *parse_for(struct parser *p)
{
	static const char *const ends[] = { "else", "endfor", NULL };
	struct node *n = jinja_node(p, N_FOR);

	if (!n || jinja_advance(p) || !(n->a = parse_target(p, false)))
		return NULL;
	if (!jinja_at_name(p, "in"))
		return jinja_fail(p, "'in' is wanted here");
	if (jinja_advance(p) || !(n->b = jinja_parse_tuple(p, false)))
		return NULL;
	if (jinja_at_name(p, "if") && (jinja_advance(p) || !(n->c = jinja_parse_expression(p))))
		return NULL;
	if (jinja_at_name(p, "recursive")) {
		n->op = 1;
		if (jinja_advance(p))
			return NULL;
	}
	if (end_block(p))
		return NULL;
	p->loops++;
	if (parse_body(p, ends, &n->d))
		return NULL;
	p->loops--;
	if (jinja_at_name(p, "endfor"))
		return jinja_advance(p) || end_block(p) ? NULL : n;
	if (jinja_advance(p) || end_block(p) || closed_body(p, "endfor", &n->e))
		return NULL;
	return n;
}

static struct node *parse_set(struct parser *p)
{
	struct node *n = jinja_node(p, N_SET);

	if (!n || jinja_advance(p) || !(n->a = parse_target(p, false)))
		return NULL;
	if (jinja_at_op(p, '=')) {
		if (jinja_advance(p) || !(n->b = jinja_parse_tuple(p, true)))
			return NULL;
		return end_block(p) ? NULL : n;
	}
	n->type = N_SET_BLOCK;
	if (jinja_at_op(p, '|') && (jinja_advance(p) || !(n->b = jinja_parse_filters(p, NULL))))
		return NULL;
	return end_block(p) || captured_body(p, "endset", &n->c) ? NULL : n;
}

/* (name, name=default, ...) */
static int parameters(struct parser *p, struct node **chain)
{
	bool defaults = false;

	if (jinja_expect_op(p, '('))
		return -1;
	while (!jinja_at_op(p, ')')) {
		struct node *n = *chain = jinja_node(p, N_PARAM);

		if (!n || !(n->name = take_name(p)))
			return -1;
		if (jinja_at_op(p, '=')) {
			if (jinja_advance(p) || !(n->a = jinja_parse_expression(p)))
				return -1;
			defaults = true;
		} else if (defaults) {
			jinja_fail(p, "a parameter without a default follows one with a default");
			return -1;
		}
		chain = &n->next;
		if (!jinja_at_op(p, ')') && jinja_expect_op(p, ','))
			return -1;
	}
	return jinja_expect_op(p, ')');
}

/* A macro's body: what it uses of caller, varargs and kwargs is its own, and no loop outside is in reach. */
static int macro_body(struct parser *p, struct node *n, const char *end)
{
	int uses = p->uses;

	p->uses = 0;
	if (captured_body(p, end, &n->b))
		return -1;
	n->op = p->uses;
	p->uses = uses;
	return 0;
}

static struct node *parse_macro(struct parser *p)
{
	struct node *n = jinja_node(p, N_MACRO);

	if (!n || jinja_advance(p) || !(n->name = take_name(p)) || parameters(p, &n->a) || end_block(p))
		return NULL;
	return macro_body(p, n, "endmacro") ? NULL : n;
}

static struct node *parse_call(struct parser *p)
{
	struct node *n = jinja_node(p, N_CALL_BLOCK), *macro = n ? jinja_node(p, N_MACRO) : NULL;

	if (!macro || jinja_advance(p))
		return NULL;
	macro->name = p->t->caller;
	if (jinja_at_op(p, '(') && parameters(p, &macro->a))
		return NULL;
	n->a = jinja_parse_expression(p);
	if (!n->a)
		return NULL;
	if (n->a->type != N_CALL)
		return jinja_fail(p, "a call is wanted in a call block");
	n->b = macro;
	return end_block(p) || macro_body(p, macro, "endcall") ? NULL : n;
}

static struct node *parse_filter(struct parser *p)
{
	struct node *n = jinja_node(p, N_FILTER_BLOCK);

	if (!n || jinja_advance(p) || !(n->a = jinja_parse_filters(p, NULL)) || end_block(p))
		return NULL;
	return captured_body(p, "endfilter", &n->b) ? NULL : n;
}

static struct node *parse_with(struct parser *p)
{
	struct node *n = jinja_node(p, N_WITH), **chain;

	if (!n || jinja_advance(p))
		return NULL;
	chain = &n->a;
	while (p->token.type != T_BLOCK_END) {
		*chain = jinja_node(p, N_SET);
		if (!*chain || !((*chain)->a = parse_target(p, true)) || jinja_expect_op(p, '='))
			return NULL;
		(*chain)->b = jinja_parse_expression(p);
		if (!(*chain)->b)
			return NULL;
		chain = &(*chain)->next;
		if (p->token.type != T_BLOCK_END && jinja_expect_op(p, ','))
			return NULL;
	}
	return end_block(p) || closed_body(p, "endwith", &n->b) ? NULL : n;
}

static struct node *parse_generation(struct parser *p)
{
	struct node *n = jinja_node(p, N_SCOPE);

	if (!n || jinja_advance(p) || end_block(p))
		return NULL;
	return closed_body(p, "endgeneration", &n->a) ? NULL : n;
}

static struct node *parse_block(struct parser *p)
{
	struct node *n = jinja_node(p, N_SCOPE);

	if (!n || jinja_advance(p) || !take_name(p))
		return NULL;
	while (jinja_at_name(p, "scoped") || jinja_at_name(p, "required"))
		if (jinja_advance(p))
			return NULL;
	if (end_block(p) || parse_body(p, (const char *const[]){ "endblock", NULL }, &n->a) || jinja_advance(p))
		return NULL;
	if (p->token.type == T_NAME && jinja_advance(p))
		return NULL;
	return end_block(p) ? NULL : n;
}

static struct node *parse_do(struct parser *p)
{
	struct node *n = jinja_node(p, N_DO);

	if (!n || jinja_advance(p) || !(n->a = jinja_parse_tuple(p, true)))
		return NULL;
	return end_block(p) ? NULL : n;
}

static struct node *parse_jump(struct parser *p)
{
	struct node *n = jinja_node(p, jinja_at_name(p, "break") ? N_BREAK : N_CONTINUE);

	if (!n)
		return NULL;
	if (!p->loops)
		return jinja_fail(p, "%s outside a loop", n->type == N_BREAK ? "break" : "continue");
	return jinja_advance(p) || end_block(p) ? NULL : n;
}

static struct node *statement(struct parser *p)
{
	static const struct {
		const char *name;
		struct node *(*parse)(struct parser *p);
	} statements[] = {
		{ "if", parse_if }, { "for", parse_for }, { "set", parse_set }, { "macro", parse_macro }, { "call", parse_call },
		{ "filter", parse_filter }, { "with", parse_with }, { "generation", parse_generation }, { "block", parse_block },
		{ "do", parse_do }, { "break", parse_jump }, { "continue", parse_jump },
	};

	if (p->token.type != T_NAME)
		return jinja_fail(p, "a tag's name is wanted here");
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
		if (jinja_at_name(p, statements[i].name))
			return statements[i].parse(p);
	if (jinja_at_name(p, "include") || jinja_at_name(p, "import") || jinja_at_name(p, "from") || jinja_at_name(p, "extends"))
		return jinja_fail(p, "%.*s reaches for another template, and there is none", (int)p->token.n, p->token.s);
	return jinja_fail(p, "unknown tag '%.*s'", p->token.n > 64 ? 64 : (int)p->token.n, p->token.s);
}

static struct node *print(struct parser *p)
{
	struct node *n = jinja_node(p, N_PRINT);

	if (!n || jinja_advance(p) || !(n->a = jinja_parse_tuple(p, true)))
		return NULL;
	if (p->token.type != T_PRINT_END)
		return jinja_fail(p, "the end of the tag is wanted here");
	return jinja_advance(p) ? NULL : n;
}

/* The next piece of a body, or *end: a tag of that name begins, and the cursor is on its name. */
static struct node *piece(struct parser *p, const char *const *ends, bool *end)
{
	struct node *n;

	switch (p->token.type) {
	case T_DATA:
		n = jinja_node(p, N_TEXT);
		if (n)
			n->value = jv_str(p->token.s, p->token.n);
		return n && !jinja_advance(p) ? n : NULL;
	case T_PRINT_BEGIN:
		return print(p);
	case T_BLOCK_BEGIN:
		if (jinja_advance(p))
			return NULL;
		*end = jinja_at_any(p, ends);
		return *end ? NULL : statement(p);
	default:
		return jinja_fail(p, "unexpected end of template");
	}
}

/* Reads up to a tag with one of these names and leaves the cursor on the name; with no names, up to the end of the template. */
static int parse_body(struct parser *p, const char *const *ends, struct node **body)
{
	bool end = false;

	if (jinja_enter(p))
		return -1;
	while (*ends || p->token.type != T_END) {
		*body = piece(p, ends, &end);
		if (end)
			break;
		if (!*body)
			return -1;
		body = &(*body)->next;
	}
	p->depth--;
	return 0;
}

/* Newlines of every kind become '\n', and one at the very end goes. */
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
	struct parser p = { .t = t, .w = w, .token.line = 1, .depth_max = jinja_depth(DEEPEST_TREE) };
	char *copy = arena_text(&t->arena, n);

	if (!copy)
		return why(w, "template: out of memory");
	n = normalise(text, n, copy);
	p.lexer = (struct lexer){ .arena = &t->arena, .at = copy, .end = copy + n, .line = 1, .at_line_start = true, .w = w };
	t->caller = jinja_name(&p, "caller", 6);
	t->varargs = jinja_name(&p, "varargs", 7);
	t->kwargs = jinja_name(&p, "kwargs", 6);
	t->loop = jinja_name(&p, "loop", 4);
	if (!t->caller || !t->varargs || !t->kwargs || !t->loop || jinja_advance(&p))
		return -1;
	return parse_body(&p, to_the_end, &t->body);
}

struct jinja *jinja_parse(const char *text, size_t n, struct why *w)
{
	struct jinja *t;

	if (n > LARGEST_TEMPLATE) {
		why(w, "template: %zu bytes are too many", n);
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
