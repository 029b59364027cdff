/* vocab: special tokens in raw text. They are cut out before anything else looks at it, the longest first wherever several overlap. So the text is
 * scanned once for places where any begins; tokens that touch each other there (nearly always just one) form a cluster, and within a cluster
 * each token, longest first, takes what is still free. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/size.h"

static int compare_texts(const void *a, const void *b)
{
	const struct special *s = a, *t = b;
	size_t n = size_min(s->text.n, t->text.n);
	int order = memcmp(s->text.s, t->text.s, n);

	if (!order)
		order = (s->text.n > t->text.n) - (s->text.n < t->text.n);
	return order ? order : (s->id > t->id) - (s->id < t->id);
}

static int compare_lengths(const void *a, const void *b)
{
	const struct special *s = *(struct special *const *)a, *t = *(struct special *const *)b;

	if (s->text.n != t->text.n)
		return s->text.n > t->text.n ? -1 : 1;
	return (s->id > t->id) - (s->id < t->id);
}

static void index_set(struct special_set *set)
{
	qsort(set->by_text, set->n, sizeof *set->by_text, compare_texts);
	for (uint32_t i = 0; i < set->n; i++)
		set->from[(unsigned char)set->by_text[i].text.s[0] + 1] = i + 1;
	for (int b = 0; b < 256; b++)
		if (!set->from[b + 1])
			set->from[b + 1] = set->from[b];
}

int special_open(struct vocab *v, struct why *w)
{
	struct special_set *user = &v->work->specials[0], *all = &v->work->specials[1];
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->tokens.n; i++)
		n += v->type[i] >= VOCAB_UNKNOWN && v->type[i] <= VOCAB_USER;
	user->by_text = calloc(n + (size_t)1, sizeof *user->by_text);
	all->by_text = calloc(n + (size_t)1, sizeof *all->by_text);
	if (!user->by_text || !all->by_text)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct special s = { { NULL, 0 }, (int32_t)i, 0 };

		if (v->type[i] < VOCAB_UNKNOWN || v->type[i] > VOCAB_USER)
			continue;
		s.text = names_get(&v->tokens, i);
		if (!s.text.n)
			continue;
		all->by_text[all->n++] = s;
		if (v->type[i] == VOCAB_USER)
			user->by_text[user->n++] = s;
	}
	index_set(user);
	index_set(all);
	return 0;
}

void special_close(struct vocab *v)
{
	if (!v->work)
		return;
	free(v->work->specials[0].by_text);
	free(v->work->specials[1].by_text);
	free(v->work->cut.found.p);
	free(v->work->cut.spare.p);
	free(v->work->cut.met);
}

int special_swallows(const struct vocab *v, int32_t id)
{
	static const char *const not[] = { "<unk>", "<s>", "<|endoftext|>" };
	struct gguf_string s = names_get(&v->tokens, (uint32_t)id);

	if (!v->phi3)
		return 0;
	for (size_t i = 0; i < sizeof not / sizeof *not; i++)
		if (strlen(not[i]) == s.n && !memcmp(not[i], s.s, s.n))
			return 0;
	return 1;
}

/* ---- one cluster ---- */

static int meet(struct special_cut *cut, struct special *s)
{
	if (s->met == cut->cluster)
		return 0;
	if (cut->n_met == cut->met_room && grow(&cut->met, &cut->met_room, sizeof *cut->met, 16))
		return -1;
	s->met = cut->cluster;
	cut->met[cut->n_met++] = s;
	return 0;
}

/* The first of by_text[low..high), which agree up to byte i, whose byte i is at least b; those that end before it come first. */
static uint32_t at_least(const struct special_set *set, uint32_t low, uint32_t high, size_t i, unsigned b)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct gguf_string s = set->by_text[middle].text;

		if (s.n <= i || (unsigned char)s.s[i] < b)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Meets all tokens that text[n] starts with; the length of the longest, 0 if there are none. */
static int meet_all(struct special_cut *cut, struct special_set *set, const unsigned char *text, size_t n, size_t *longest)
{
	uint32_t low = set->from[text[0]], high = set->from[text[0] + 1];

	*longest = 0;
	for (size_t i = 1; low < high; i++) {
		for (; low < high && set->by_text[low].text.n == i; low++) {
			*longest = i;
			if (meet(cut, &set->by_text[low]))
				return -1;
		}
		if (i == n)
			break;
		low = at_least(set, low, high, i, text[i]);
		high = at_least(set, low, high, i, text[i] + 1u);
	}
	return 0;
}

static int add(struct stretches *s, size_t at, size_t n, int32_t id)
{
	if (!n)
		return 0;
	if (s->n == s->room && grow(&s->p, &s->room, sizeof *s->p, 16))
		return -1;
	s->p[s->n++] = (struct stretch){ at, n, id };
	return 0;
}

/* Splits every raw stretch of cut->found at each place where the token is. */
static int take(struct special_cut *cut, const struct special *s, const char *text)
{
	struct stretches old = cut->found;
	int bad = 0;

	cut->found = cut->spare;
	cut->found.n = 0;
	for (size_t i = 0; i < old.n && !bad; i++) {
		size_t at = old.p[i].at, end = at + old.p[i].n, from = at;

		while (old.p[i].id < 0 && !bad && end - at >= s->text.n) {
			if (memcmp(text + at, s->text.s, s->text.n)) {
				at++;
				continue;
			}
			bad = add(&cut->found, from, at - from, -1) || add(&cut->found, at, s->text.n, s->id);
			from = at += s->text.n;
		}
		bad = bad || add(&cut->found, from, end - from, old.p[i].id);
	}
	cut->spare = old;
	return bad ? -1 : 0;
}

int special_next(const struct vocab *v, int all, const char *text, size_t n, size_t from, size_t *end)
{
	struct special_cut *cut = &v->work->cut;
	struct special_set *set = &v->work->specials[all];
	const unsigned char *s = (const unsigned char *)text;
	size_t longest = 0, stop;

	cut->cluster++;
	cut->n_met = 0;
	for (; from < n; from++) {
		if (set->from[s[from]] == set->from[s[from] + 1])
			continue;
		if (meet_all(cut, set, s + from, n - from, &longest))
			return -1;
		if (longest)
			break;
	}
	if (from >= n)
		return 0;
	stop = from + longest;
	for (size_t i = from + 1; i < stop; i++) {
		if (meet_all(cut, set, s + i, n - i, &longest))
			return -1;
		if (i + longest > stop)
			stop = i + longest;
	}
	qsort(cut->met, cut->n_met, sizeof *cut->met, compare_lengths);
	cut->found.n = 0;
	if (add(&cut->found, from, stop - from, -1))
		return -1;
	for (uint32_t i = 0; i < cut->n_met; i++)
		if (take(cut, cut->met[i], text))
			return -1;
	*end = stop;
	return 1;
}
