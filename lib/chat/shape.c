/* Every shape is tried on a copy of the conversation with needles in it. */
#include "shape.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/json_edit.h"
#include "content.h"
#include "variant.h"

enum { NEEDLES_MOST = 256 };    /* of each kind */
enum { LONG = 16 };             /* messages of a conversation of which only the last turn is tried at first */

static int full(const struct arena *a, struct why *w)
{
	return why(w, "the conversation needs more memory than the %zu MiB it may have", a->limit >> 20);
}

struct json *shape_copy(const struct chat *c, unsigned shape, struct arena *a, struct why *w)
{
	struct variant x;

	if (!variant_open(&x, c, a) && !variant_shape(&x, shape))
		return x.variables;
	full(a, w);
	return NULL;
}

/* A text with a backslash, which is doubled where a template prints a value as Python or JSON would. */
static void text_needle(char out[32], size_t i)
{
	snprintf(out, 32, "(%zu\\)", i);
}

/* A name that may become a tag, and its value. */
static void argument_needle(char name[32], char value[32], size_t i)
{
	snprintf(name, 32, "needle%zun", i);
	snprintf(value, 32, "needle%zuv", i);
}

static size_t needles(size_t n)
{
	return n < NEEDLES_MOST ? n : NEEDLES_MOST;
}

/* Puts the needles in their places. */
static int hide(struct variant *x)
{
	size_t n = needles(x->n_parts) + needles(x->n_reasons) + 2 * needles(x->n_calls) + 2;
	char (*room)[32] = arena_array(x->arena, n, sizeof *room);

	if (!room)
		return -1;
	for (size_t i = 0; i < needles(x->n_parts); i++, room++) {
		text_needle(*room, i);
		json_become_string(x->part[i], *room, strlen(*room));
	}
	for (size_t i = 0; i < needles(x->n_reasons); i++, room++) {
		text_needle(*room, x->n_parts + 2 + i);
		json_become_string(x->reason[i], *room, strlen(*room));
	}
	for (int i = 0; i < 2; i++, room++) {
		struct json *text = i ? x->user : x->system;

		text_needle(*room, x->n_parts + (size_t)i);
		if (text)
			json_become_string(text, *room, strlen(*room));
	}
	for (size_t i = 0; i < needles(x->n_calls); i++, room += 2) {
		struct json *arguments = json_find(x->call[i], "arguments");
		struct json *value = json_new_string(x->arena, room[1], 0);

		if (!value)
			return -1;
		argument_needle(room[0], room[1], i);
		value->n = strlen(room[1]);
		json_become(arguments, &(struct json){ .type = JSON_OBJECT });
		json_add(arguments, room[0], value);
	}
	return 0;
}

/* Where the needle is, searched from *at first, which is set to it; NULL: nowhere. */
static const char *find(const char *text, const char **at, const char *needle)
{
	const char *hit = strstr(*at, needle);

	if (!hit)
		hit = strstr(text, needle);
	*at = hit ? hit : *at;
	return hit;
}

/* What a template shows of the needles. */
struct shown {
	int score;              /* -1: it fails */
	int all, all_parts;
	size_t reasons;         /* texts of reasoning; not of the score */
};

/* Twice the number of needles that the text shows. Arguments count half if they are there as Python prints a dict, or
 * as JSON within JSON. */
static struct shown look(const struct variant *x, const char *text)
{
	char needle[32], value[32];
	const char *at = text, *hit;
	struct shown s = { .all = 1, .all_parts = 1 };

	for (size_t i = 0; i < needles(x->n_parts); i++) {
		text_needle(needle, i);
		hit = find(text, &at, needle);
		s.score += hit ? 2 : 0;
		s.all_parts &= hit != NULL;
	}
	s.all = s.all_parts;
	for (int i = 0; i < 2; i++) {
		text_needle(needle, x->n_parts + (size_t)i);
		hit = (i ? x->user : x->system) ? strstr(text, needle) : text;
		s.all &= hit != NULL;
		s.score += hit ? 2 : 0;
	}
	at = text;
	for (size_t i = 0; i < needles(x->n_reasons); i++) {
		text_needle(needle, x->n_parts + 2 + i);
		s.reasons += find(text, &at, needle) != NULL;
	}
	at = text;
	for (size_t i = 0; i < needles(x->n_calls); i++) {
		int quoted;

		argument_needle(needle, value, i);
		hit = find(text, &at, needle);
		quoted = hit && hit > text + 1 && (hit[-1] == '\'' || (hit[-1] == '"' && hit[-2] == '\\'));
		s.score += !hit || !strstr(hit, value) ? 0 : quoted ? 1 : 2;
		s.all &= hit && !quoted;
	}
	return s;
}

/* What the template shows of a conversation in that shape. *w: the reason if it fails. */
static struct shown try(const struct chat *c, unsigned shape, const struct jinja *t, const struct jinja_options *o,
	struct why *w)
{
	struct bytes out = { .limit = c->arena.limit };
	struct arena a = { .limit = c->arena.limit };
	struct shown s = { .score = -1 };
	struct variant x;

	full(&a, w);
	if (!variant_open(&x, c, &a) && !hide(&x) && !variant_shape(&x, shape)
	    && !jinja_render(t, x.variables, o, &out, w) && !bytes_put(&out, "", 1)) {
		/* a NUL in a message ends nothing */
		for (char *nul = out.p; (nul = memchr(nul, 0, (size_t)(out.p + out.n - 1 - nul)));)
			*nul = ' ';
		s = look(&x, out.p);
	}
	bytes_free(&out);
	arena_free(&a);
	return s;
}

/* The number of the first message with a part that is not text, from 1; 0: none. */
static size_t find_picture(const struct chat *c)
{
	size_t number = 1;

	for (const struct json *m = c->messages->child; m; m = m->next, number++) {
		struct bytes text = { .limit = c->arena.limit };
		int failed = content_text(json_get(m, "content"), &text) && !text.failed;

		bytes_free(&text);
		if (failed)
			return number;
	}
	return 0;
}

/* Finds the first shape that shows the most, of those that have `always`; *best is what it shows. */
static unsigned search(const struct chat *c, unsigned choices, unsigned always, const struct jinja *t,
	const struct jinja_options *o, struct shown *best, struct why *w)
{
	unsigned shape = always;
	struct why ignored;
	struct shown s;
	int joins;

	for (unsigned i = 0; i < SHAPES && !best->all; i++) {
		if (i & ~choices)
			continue;
		s = try(c, i | always, t, o, i ? &ignored : w);
		joins = i & SHAPE_JOINED && !(shape & SHAPE_JOINED) && s.score >= 0 && !best->all_parts;
		if (s.score > best->score || (s.score == best->score && joins)) {
			*best = s;
			shape = i | always;
		}
	}
	return shape;
}

/* The shape, with what shows more of reasoning, if anything does. */
static unsigned add_reasoning(const struct chat *c, unsigned shape, size_t reasons, const struct jinja *t,
	const struct jinja_options *o, struct shown best)
{
	static const unsigned ways[] = { SHAPE_NAMES, SHAPE_THOUGHTS };
	unsigned chosen = shape;
	struct why ignored;
	struct shown s;

	for (size_t i = 0; i < sizeof ways / sizeof *ways && best.reasons < reasons; i++) {
		s = try(c, shape | ways[i], t, o, &ignored);
		if (s.score >= best.score && s.reasons > best.reasons) {
			best = s;
			chosen = shape | ways[i];
		}
	}
	return chosen;
}

/* Appends a copy of v, which shares its children. */
static int add_copy(struct arena *a, struct json *to, const struct json *v)
{
	struct json *copy = json_new(a, v->type);

	if (!copy)
		return -1;
	*copy = *v;
	copy->next = NULL;
	json_add(to, NULL, copy);
	copy->key = v->key;
	copy->key_n = v->key_n;
	return 0;
}

/* Makes *few the conversation of the messages before the first turn of *c and those of its last one. -1: memory is
 * short. */
static int take_last_turn(const struct chat *c, struct arena *a, struct chat *few)
{
	const struct json *last = NULL;
	int head = 1, failed = 0;

	*few = *c;
	few->variables = json_new(a, JSON_OBJECT);
	few->messages = json_new(a, JSON_ARRAY);
	if (!few->variables || !few->messages)
		return -1;
	for (const struct json *m = c->messages->child; m; m = m->next)
		if (!strcmp(json_get_string(m, "role"), "user"))
			last = m;
	for (const struct json *m = c->messages->child; m && !failed; m = m->next) {
		head &= strcmp(json_get_string(m, "role"), "user") != 0;
		if (head || m == last)
			failed = add_copy(a, few->messages, m);
		last = m == last ? m->next : last;
	}
	json_add(few->variables, "messages", few->messages);
	for (const struct json *v = c->variables->child; v && !failed; v = v->next)
		if (v != c->messages)
			failed = add_copy(a, few->variables, v);
	return failed;
}

/* Whether the template shows the texts of a long conversation of texts as they are. Its last turn tells. */
static int shows_last_turn(const struct chat *c, unsigned choices, const struct jinja *t, const struct jinja_options *o)
{
	struct arena a = { .limit = c->arena.limit };
	struct why ignored;
	struct chat few;
	int shows = c->messages->n > LONG && !(choices & ~(unsigned)(SHAPE_PARTS | SHAPE_USER))
		&& !take_last_turn(c, &a, &few) && try(&few, 0, t, o, &ignored).all;

	arena_free(&a);
	return shows;
}

int shape_choose(const struct chat *c, const struct jinja *t, const struct jinja_options *o, unsigned *shape,
	struct why *w)
{
	struct arena a = { .limit = c->arena.limit };
	struct shown best = { .score = -1 };
	struct variant x;
	int failed = variant_open(&x, c, &a), text_tools = !failed && variant_has_text_tools(&x);
	unsigned choices = x.choices;
	size_t reasons = needles(x.n_reasons), picture;
	struct why cause;

	arena_free(&a);
	if (failed)
		return full(&a, w);
	*shape = 0;
	if (!reasons && !text_tools && (!choices || shows_last_turn(c, choices, t, o)))
		return 0;
	*shape = search(c, choices, 0, t, o, &best, &cause);
	if (best.score < 0 && text_tools)
		*shape = search(c, choices, SHAPE_TEXT_TOOLS, t, o, &best, &cause);
	picture = choices & SHAPE_JOINED && !best.all_parts ? find_picture(c) : 0;
	if (picture)
		return why(w, "message %zu: a part is not text, and the template %s%s", picture,
			best.score < 0 ? "fails: " : "does not read all parts", best.score < 0 ? cause.text : "");
	if (best.score >= 0)
		*shape = add_reasoning(c, *shape, reasons, t, o, best);
	*shape |= best.score >= 0 && !best.all ? SHAPE_LOST : 0;
	return 0;
}
