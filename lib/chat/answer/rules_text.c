/* Markers as elements of a grammar: literals, and tokens. */
#include <string.h>

#include "ruleset.h"

/* ---- control tokens ---- */

/* What prints nothing, but has a name: *n is its length. NULL: other tokens, most of which are not even spelled. */
static const char *control_name(const struct vocab *v, int32_t id, size_t *n)
{
	const char *s = vocab_is_special(v, id) ? vocab_piece(v, id, 0, n) : NULL;

	return s && !*n && (s = vocab_piece(v, id, 1, n)) && *n ? s : NULL;
}

int rules_find_control(struct ruleset *r, const struct vocab *v)
{
	const char *s;
	size_t n = 0;

	vocab_card(v, &r->card);
	for (int32_t id = 0; id < r->card.n_vocab; id++)
		r->n_control += control_name(v, id, &n) != NULL;
	if (!(r->control = arena_array(&r->arena, r->n_control + 1, sizeof *r->control)))
		return why(r->w, "out of memory");
	r->n_control = 0;
	for (int32_t id = 0; id < r->card.n_vocab; id++)
		if ((s = control_name(v, id, &n)))
			r->control[r->n_control++] = (struct control){ s, n, id };
	return 0;
}

const struct control *rules_control(const struct ruleset *r, const char *s, size_t n)
{
	const struct control *found = NULL;

	for (const struct control *c = r->control; c < r->control + r->n_control; c++)
		if (c->n <= n && *c->s == *s && !memcmp(c->s, s, c->n) && (!found || c->n > found->n))
			found = c;
	return found;
}

int rules_is_end(const struct ruleset *r, const char *pattern)
{
	const struct control *c = rules_control(r, pattern_core(pattern), strlen(pattern_core(pattern)));

	return c && card_is_eog(&r->card, c->id);
}

/* By its name where GBNF has one for it, else by its number. */
static void put_token(const struct control *c, const char *before, struct bytes *to)
{
	int named = c->n > 2 && *c->s == '<' && c->s[1] != '[' && memchr(c->s, '>', c->n) == c->s + c->n - 1;

	for (size_t i = 0; i < c->n; i++)
		named = named && (unsigned char)c->s[i] > ' ' && c->s[i] != 0x7f;
	bytes_puts(to, before);
	if (named)
		bytes_put(to, c->s, c->n);
	else
		bytes_print(to, "<[%d]>", (int)c->id);
}

/* ---- text ---- */

static void put_quoted(struct span s, struct bytes *to)
{
	bytes_puts(to, "\"");
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.s[i];

		if (c == '\n')
			bytes_puts(to, "\\n");
		else if (c == '"' || c == '\\')
			bytes_print(to, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			bytes_print(to, "\\x%02X", c);
		else
			bytes_put(to, s.s + i, 1);
	}
	bytes_puts(to, "\"");
}

void rules_literal(struct span s, struct bytes *to)
{
	if (!s.n)
		return;
	bytes_puts(to, " ");
	put_quoted(s, to);
}

static void put_place(int place, const struct fill *fill, struct bytes *to)
{
	switch (place) {
	case PATTERN_NAME: case PATTERN_WORD:   /* that was a name, too */
		rules_literal(fill->name, to);
		break;
	case PATTERN_KEY:
		rules_literal(fill->key, to);
		break;
	case PATTERN_TYPE:
		rules_literal(span_of(fill->type), to);
		break;
	case PATTERN_NUMBER:
		bytes_puts(to, " [0-9]");
		break;
	case PATTERN_ID:
		bytes_puts(to, " ([0-9] | [0-9A-Za-z]{9})");
		break;
	}
}

void rules_pattern(const struct ruleset *r, const char *pattern, const struct fill *fill, int ends, struct bytes *to)
{
	struct span left = span_of(pattern);
	const struct control *c;
	size_t n = 0;

	while (left.n > n) {
		int place = left.s[n] > 0 && left.s[n] < PATTERN_PLACES;

		c = place ? NULL : rules_control(r, left.s + n, left.n - n);
		if (!place && !c) {
			n++;
			continue;
		}
		rules_literal((struct span){ left.s, n }, to);
		if (c && ends && card_is_eog(&r->card, c->id))
			return;
		if (c)
			put_token(c, " ", to);
		else
			put_place(left.s[n], fill, to);
		left = span_drop(left, n + (c ? c->n : 1));
		n = 0;
	}
	rules_literal(left, to);
}

void rules_until(const struct ruleset *r, const char *pattern, const struct fill *fill, struct bytes *to)
{
	struct bytes text = { .limit = to->limit };
	const struct control *c;
	size_t n, token;

	pattern = pattern_core(pattern);
	n = strlen(pattern);
	if ((c = rules_control(r, pattern, n))) {
		put_token(c, " (!", to);
		bytes_puts(to, ")*");
		return;
	}
	for (token = n ? pattern_token(pattern, n) : 0; token < n && !pattern_is_tag(pattern, token)
	     && !rules_control(r, pattern + token, n - token)
	     && !pattern_is_tag(pattern + token, pattern_token(pattern + token, n - token));)
		token++;
	for (size_t i = 0; i < token; i++) {
		if (pattern[i] == PATTERN_KEY)
			bytes_put(&text, fill->key.s, fill->key.n);
		else if (pattern[i] > 0 && pattern[i] < PATTERN_PLACES)
			break;
		else
			bytes_put(&text, pattern + i, 1);
	}
	bytes_puts(to, " !");
	put_quoted((struct span){ text.p, text.n }, to);
	bytes_free(&text);
}
