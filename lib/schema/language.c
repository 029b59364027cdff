/* Patterns with assertions are divided at each of these: the texts before and after an assertion are two languages,
 * and it restricts one of them. */
#include "language.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"

enum { ITEMS_MAX = 1000, VARIANTS_MAX = 200 };

static struct points_range all_points[] = { { 0, 0x10ffff } };
static struct regex one_point = { .kind = REGEX_SET, .set = { all_points, 1, 1 } };
static const struct regex anything = { .kind = REGEX_REPEAT, .high = UINT32_MAX, .child = &one_point };

struct language {
	struct converter *c;
	struct workshop *w;
	int at_start, at_end;           /* what is read begins where the string does, and ends where it does */
	int open_start, open_end;       /* anything may come before, and after */
	const struct automaton *out;    /* the union so far */
	int variants;
};

static int refuse(struct language *x, const char *what)
{
	return schema_fail(x->c, "pattern: %s", what);
}

/* ---- without assertions ---- */

static uint32_t add_tree(struct nfa *f, const struct regex *r, uint32_t to);

static uint32_t add_list(struct nfa *f, const struct regex *r, uint32_t to)
{
	return r ? add_tree(f, r, add_list(f, r->next, to)) : to;
}

static uint32_t add_repeat(struct nfa *f, const struct regex *r, uint32_t to)
{
	uint32_t in = to;

	if (r->high == UINT32_MAX) {
		in = nfa_node(f, NULL, NFA_NOWHERE, to);
		to = add_tree(f, r->child, in);
		if (!f->w->failed)
			f->node[in].to = to;
	}
	for (uint32_t i = r->low; i < r->high && r->high != UINT32_MAX && !f->w->failed; i++)
		in = nfa_node(f, NULL, add_tree(f, r->child, in), to);
	for (uint32_t i = 0; i < r->low && !f->w->failed; i++)
		in = add_tree(f, r->child, in);
	return in;
}

/* Adds what leads through r to the node `to`; returns where that begins. */
static uint32_t add_tree(struct nfa *f, const struct regex *r, uint32_t to)
{
	uint32_t in = NFA_NOWHERE;

	if (f->w->failed)
		return NFA_NOWHERE;
	if (r->kind == REGEX_SET)
		return nfa_node(f, &r->set, to, NFA_NOWHERE);
	if (r->kind == REGEX_REPEAT)
		return add_repeat(f, r, to);
	if (r->kind == REGEX_SEQUENCE)
		return add_list(f, r->child, to);
	for (const struct regex *i = r->child; i; i = i->next)
		in = nfa_node(f, NULL, add_tree(f, i, to), in);
	return in;
}

static const struct automaton *plain(struct language *x, const struct regex **item, size_t n)
{
	struct nfa f = { .w = x->w };
	uint32_t start = NFA_ACCEPT;

	while (n-- > 0)
		start = add_tree(&f, item[n], start);
	return automaton_minimise(x->w, nfa_determinise(&f, start));
}

static const struct automaton *concatenate(struct language *x, const struct automaton *a, const struct automaton *b)
{
	struct nfa f = { .w = x->w };
	uint32_t start = nfa_automaton(&f, b, NFA_ACCEPT);

	start = nfa_automaton(&f, a, start);
	return automaton_minimise(x->w, nfa_determinise(&f, start));
}

/* ---- assertions ---- */

static const struct automaton *of_tree(struct language *x, const struct regex *r);

/* What `texts` becomes if, from its start or up to its end, it must match what is looked for. */
static const struct automaton *look(struct language *x, const struct regex *r, const struct automaton *texts)
{
	struct language sought = { .c = x->c, .w = x->w, .at_start = r->behind, .at_end = !r->behind,
		.open_start = r->behind, .open_end = !r->behind };
	const struct automaton *a = of_tree(&sought, r->child);

	return a ? automaton_minimise(x->w, automaton_combine(x->w, texts,
		r->not ? AUTOMATON_AND_NOT : AUTOMATON_AND, a)) : NULL;
}

/* The last look behind is judged first, then the first look ahead: so none is cut off from what it looks at. */
static const struct automaton *divide(struct language *x, const struct regex **item, size_t n)
{
	const struct automaton *before, *after;
	size_t behind = n, ahead = n, i;

	for (i = n; i-- > 0; )
		if (item[i]->kind == REGEX_LOOK && !item[i]->behind)
			ahead = i;
		else if (item[i]->kind == REGEX_LOOK && behind == n)
			behind = i;
	if (behind == n && ahead == n)
		return plain(x, item, n);
	if (behind < n && ahead < behind)
		refuse(x, "looking behind (\\b, (?<=, (?<!) after looking ahead is not supported");
	if (x->c->failed)
		return NULL;
	i = behind < n ? behind : ahead;
	before = divide(x, item, i);
	after = before ? divide(x, item + i + 1, n - i - 1) : NULL;
	if (!after)
		return NULL;
	if (item[i]->behind)
		before = look(x, item[i], before);
	else
		after = look(x, item[i], after);
	return before && after ? concatenate(x, before, after) : NULL;
}

/* Whether the character at one end of r is one of a word. -1: that varies, or r may be empty. */
static int is_word(const struct regex *r, int at_end)
{
	static const struct points_range word[] = { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } };
	const struct regex *i = r->child;
	int answer = -2, one;

	if (r->kind == REGEX_SET)
		for (size_t k = 0; k < r->set.n; k++) {
			uint32_t first = r->set.range[k].first, last = r->set.range[k].last;

			one = 0;
			for (size_t m = 0; m < 4; m++)
				if (first >= word[m].first && last <= word[m].last)
					one = 1;
				else if (first <= word[m].last && last >= word[m].first)
					one = -1;
			answer = answer == -2 || answer == one ? one : -1;
		}
	if (r->kind == REGEX_REPEAT && r->low)
		return is_word(r->child, at_end);
	if (r->kind == REGEX_SEQUENCE) {
		while (at_end && i && i->next)
			i = i->next;
		return i ? is_word(i, at_end) : -1;
	}
	if (r->kind == REGEX_CHOICE)
		for (; i; i = i->next) {
			one = is_word(i, at_end);
			answer = answer == -2 || answer == one ? one : -1;
		}
	return answer == -2 ? -1 : answer;
}

static const struct regex *look_for_word(struct language *x, int behind, int not)
{
	struct regex *r = arena_array(&x->c->arena, 2, sizeof *r);

	if (!r) {
		schema_no_memory(x->c);
		return &anything;
	}
	r[0] = (struct regex){ .kind = REGEX_LOOK, .behind = behind, .not = not, .child = r + 1 };
	r[1] = (struct regex){ .kind = REGEX_SET, .set = regex_word(x->c, 0) };
	return r;
}

static void add_variant(struct language *x, const struct regex **item, size_t n);

/* Replaces \b at item[i] by looks at the two characters beside it, as far as they are not known. */
static void border(struct language *x, const struct regex **item, size_t n, size_t i)
{
	int before = i ? is_word(item[i - 1], 1) : x->at_start ? 0 : -1;
	int after = i + 1 < n ? is_word(item[i + 1], 0) : x->at_end ? 0 : -1;
	const struct regex **copy = malloc((n + 2) * sizeof *copy);

	if (!copy || (!i && !x->at_start) || (i + 1 == n && !x->at_end))
		refuse(x, "\\b at the border of what is looked for is not supported");
	for (int word = 0; word < 2 && !x->c->failed; word++) {
		int then = item[i]->not ? word : !word;
		size_t m = i;

		if ((before >= 0 && before != word) || (after >= 0 && after != then))
			continue;
		memcpy(copy, item, i * sizeof *copy);
		if (before < 0)
			copy[m++] = look_for_word(x, 1, !word);
		if (after < 0)
			copy[m++] = look_for_word(x, 0, !then);
		memcpy(copy + m, item + i + 1, (n - i - 1) * sizeof *copy);
		add_variant(x, copy, m + n - i - 1);
	}
	free(copy);
}

/* Whether the items can all match nothing; assertions among them are too much. */
static int can_be_empty(struct language *x, const struct regex **item, size_t n)
{
	int empty = 1;

	for (size_t i = 0; i < n; i++) {
		if (item[i]->kind >= REGEX_BORDER)
			refuse(x, "an assertion before ^ or after $ is not supported");
		empty &= !regex_span(item[i]).min;
	}
	return empty;
}

/* Adds the texts of a sequence in which assertions stand only at the top. */
static void add_variant(struct language *x, const struct regex **item, size_t n)
{
	const struct automaton *a;

	for (size_t i = n; i-- > 0; ) {
		if (item[i]->kind != REGEX_BEGIN)
			continue;
		if (!x->at_start)
			refuse(x, "^ after the beginning is not supported");
		if (!can_be_empty(x, item, i))
			return;
		item += i + 1;
		n -= i + 1;
		break;
	}
	for (size_t i = 0; i < n; i++) {
		if (item[i]->kind != REGEX_END)
			continue;
		if (!x->at_end)
			refuse(x, "$ before the end is not supported");
		if (!can_be_empty(x, item + i + 1, n - i - 1))
			return;
		n = i;
	}
	for (size_t i = 0; i < n && !x->c->failed; i++)
		if (item[i]->kind == REGEX_BORDER) {
			border(x, item, n, i);
			return;
		}
	if (x->c->failed || ++x->variants > VARIANTS_MAX) {
		refuse(x, "too many alternatives with assertions");
		return;
	}
	a = divide(x, item, n);
	x->out = x->out ? automaton_combine(x->w, x->out, AUTOMATON_OR, a) : a;
}

struct rest {                           /* what follows a group */
	const struct regex *next;
	const struct rest *up;
};

/* Groups with assertions become several variants of what they are in. */
static void unfold(struct language *x, const struct regex **item, size_t n, const struct regex *r,
	const struct rest *rest)
{
	for (; rest && !r; rest = rest->up)
		r = rest->next;
	if (x->c->failed)
		return;
	if (n + 2 >= ITEMS_MAX) {
		refuse(x, "it is too long for assertions");
	} else if (!r) {
		if (x->open_end)
			item[n++] = &anything;
		add_variant(x, item, n);
	} else if (r->kind == REGEX_CHOICE && regex_asserts(r)) {
		struct rest after = { r->next, rest };

		for (const struct regex *s = r->child; s; s = s->next)
			unfold(x, item, n, s->child, &after);
	} else if (r->kind == REGEX_REPEAT && regex_asserts(r)) {
		refuse(x, "an assertion (^, $, \\b, (?=, (?!) in a repetition is not supported");
	} else {
		item[n] = r;
		unfold(x, item, n + 1, r->next, rest);
	}
}

static const struct automaton *of_tree(struct language *x, const struct regex *r)
{
	const struct regex **item = malloc(ITEMS_MAX * sizeof *item);
	size_t n = 0;

	if (!item) {
		x->w->failed = 1;
		return NULL;
	}
	if (x->open_start)
		item[n++] = &anything;
	if (r->kind == REGEX_CHOICE && !regex_asserts(r)) {     /* a whole, however long it is */
		item[n++] = r;
		if (x->open_end)
			item[n++] = &anything;
		add_variant(x, item, n);
	} else if (r->kind == REGEX_CHOICE) {
		for (const struct regex *s = r->child; s; s = s->next)
			unfold(x, item, n, s->child, NULL);
	} else {
		unfold(x, item, n, r, NULL);
	}
	free(item);
	if (!x->out && !x->c->failed && !x->w->failed) {
		struct builder none = { .w = x->w };

		return builder_finish(&none);
	}
	return x->c->failed ? NULL : x->out;
}

const struct automaton *language_of_pattern(struct converter *c, struct workshop *w, const struct regex *r)
{
	struct language x = { .c = c, .w = w, .at_start = 1, .at_end = 1, .open_start = 1, .open_end = 1 };

	const struct automaton *a = of_tree(&x, r);

	return a ? automaton_minimise(w, a) : NULL;
}

/* ---- lists of texts ---- */

static const struct points *point(struct workshop *w, uint32_t p)
{
	struct points *set = arena_array(&w->arena, 1, sizeof *set + sizeof *set->range);

	if (!set) {
		w->failed = 1;
		return NULL;
	}
	*set = (struct points){ (struct points_range *)(set + 1), 1, 1 };
	*set->range = (struct points_range){ p, p };
	return set;
}

static uint32_t add_text(struct nfa *f, const char *s, size_t n, uint32_t in)
{
	uint32_t to = NFA_ACCEPT;

	while (n && !f->w->failed) {
		size_t at = n - 1;
		unsigned used;

		while (at && ((unsigned char)s[at] & 0xc0) == 0x80)
			at--;
		to = nfa_node(f, point(f->w, (uint32_t)utf8_next(s + at, n - at, &used)), to, NFA_NOWHERE);
		n = at;
	}
	return nfa_node(f, NULL, to, in);
}

const struct automaton *language_of_texts(struct workshop *w, const struct json *list)
{
	struct nfa f = { .w = w };
	uint32_t start = NFA_NOWHERE;

	for (const struct json *v = list ? list->child : NULL; v; v = v->next)
		if (v->key || v->type == JSON_STRING)
			start = add_text(&f, v->key ? v->key : v->s, v->key ? v->key_n : v->n, start);
	return automaton_minimise(w, nfa_determinise(&f, start));
}

int language_failed(struct converter *c, const struct workshop *w)
{
	if (w->failed && errno == ENOMEM)
		schema_no_memory(c);
	else if (w->failed)
		schema_fail(c, "what is required here together is too large to combine");
	return w->failed;
}
