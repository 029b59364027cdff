/* special: a binary search in the sorted tokens finds the longest match at a position. Matches that overlap or touch
 * form a cluster. Within a cluster a priority queue yields the candidates; one that overlaps text already taken is
 * replaced by the longest match that still fits. */
#include "special.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/le.h"
#include "lib/base/size.h"

/* ---- the tokens ---- */

/* The length of the common prefix of a[n] and b[n], of which `from` bytes are known to agree. */
static size_t agree(const char *a, const char *b, size_t from, size_t n)
{
	for (; from + 8 <= n && le64(a + from) == le64(b + from); from += 8)
		;
	while (from < n && a[from] == b[from])
		from++;
	return from;
}

static int compare(const void *a, const void *b)
{
	const struct special *s = a, *t = b;
	int order = memcmp(s->text.s, t->text.s, size_min(s->text.n, t->text.n));

	if (!order)
		order = (s->text.n > t->text.n) - (s->text.n < t->text.n);
	return order ? order : (s->id > t->id) - (s->id < t->id);
}

static uint32_t agree_tokens(const struct special *a, const struct special *b)
{
	return (uint32_t)agree(a->text.s, b->text.s, 0, size_min(a->text.n, b->text.n));
}

/* In sorted order, a token's longest prefix is its predecessor or a prefix of the predecessor. */
static void fill_prefixes(struct special_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		struct special *t = &set->token[i];
		uint32_t p = i ? i - 1 : SPECIAL_NONE, far, farther;

		while (p != SPECIAL_NONE && agree_tokens(&set->token[p], t) < set->token[p].text.n)
			p = set->token[p].prefix;
		t->prefix = t->jump = p;
		t->depth = p == SPECIAL_NONE ? 0 : set->token[p].depth + 1;
		if (p == SPECIAL_NONE || (far = set->token[p].jump) == SPECIAL_NONE)
			continue;
		/* Two jumps of equal length become one of twice the length, so that any prefix is reached in O(log n)
		 * jumps. */
		farther = set->token[far].jump;
		if (farther != SPECIAL_NONE
		    && set->token[p].depth - set->token[far].depth == set->token[far].depth - set->token[farther].depth)
			t->jump = farther;
	}
}

static void mark_pairs(struct special_set *set, struct gguf_string token)
{
	const unsigned char *s = (const unsigned char *)token.s;

	if (token.n == 1)
		memset(set->pairs + *s * 8, 255, 8 * sizeof *set->pairs);
	else
		set->pairs[*s * 8 + s[1] / 32] |= 1u << s[1] % 32;
}

void special_index(struct special_set *set)
{
	uint32_t n = 0;

	if (set->n)
		qsort(set->token, set->n, sizeof *set->token, compare);
	for (uint32_t i = 0; i < set->n; i++)
		if (!n || set->token[n - 1].text.n != set->token[i].text.n
		    || memcmp(set->token[n - 1].text.s, set->token[i].text.s, set->token[i].text.n))
			set->token[n++] = set->token[i];
	set->n = n;
	for (uint32_t i = 0; i < n; i++)
		set->from[(unsigned char)set->token[i].text.s[0] + 1] = i + 1;
	for (int b = 0; b < 256; b++)
		set->from[b + 1] += set->from[b + 1] ? 0 : set->from[b];
	for (uint32_t i = 0; i < n; i++)
		mark_pairs(set, set->token[i].text);
	set->only = n && set->token[0].text.s[0] == set->token[n - 1].text.s[0] ? set->token[0].text.s[0] : -1;
	fill_prefixes(set);
}

/* Where text[n] belongs among the tokens that begin with its first byte. */
struct place {
	uint32_t first, i;              /* token[first] is the first of these; token[i - 1] <= text < token[i] */
	size_t before, after;           /* bytes in which token[i - 1] and token[i] agree with the text; at least 1 */
};

static struct place find_place(const struct special_set *set, const char *text, size_t n)
{
	uint32_t low = set->from[(unsigned char)*text], high = set->from[(unsigned char)*text + 1];
	struct place p = { .first = low, .before = 1, .after = 1 };

	/* All tokens between low and high agree with the text as far as these two do, at first in one byte. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct gguf_string t = set->token[middle].text;
		size_t agrees = agree(t.s, text, size_min(p.before, p.after), size_min(t.n, n));

		if (agrees == t.n || (agrees < n && (unsigned char)t.s[agrees] < (unsigned char)text[agrees])) {
			low = middle + 1;
			p.before = agrees;
		} else {
			high = middle;
			p.after = agrees;
		}
	}
	p.i = low;
	return p;
}

/* The longest token that text[n] begins with, or SPECIAL_NONE; n is not 0. */
static uint32_t longest(const struct special_set *set, const char *text, size_t n)
{
	struct place p = find_place(set, text, n);
	uint32_t i = p.i - 1;

	if (p.i == p.first)
		return SPECIAL_NONE;
	while (i != SPECIAL_NONE && set->token[i].text.n > p.before) {
		uint32_t jump = set->token[i].jump;

		i = jump != SPECIAL_NONE && set->token[jump].text.n > p.before ? jump : set->token[i].prefix;
	}
	return i;
}

size_t special_agrees(const struct special_set *set, const char *text, size_t n)
{
	const uint32_t *from = &set->from[(unsigned char)*text];
	struct place p;

	if (from[0] >= from[1])
		return 0;
	p = find_place(set, text, n);
	return size_max(p.before, p.after);
}

/* ---- the queue of candidates ---- */

static int precedes(const struct special_set *set, const struct special_series *a, const struct special_series *b)
{
	const struct special *s = &set->token[a->token], *t = &set->token[b->token];

	if (s->text.n != t->text.n)
		return s->text.n > t->text.n;
	return s->id != t->id ? s->id < t->id : a->at < b->at;
}

static int push(const struct special_set *set, struct special_search *s, struct special_series new)
{
	size_t i, up;

	if (s->n_queue == s->queue_room && grow(&s->queue, &s->queue_room, sizeof *s->queue, 16))
		return -1;
	for (i = s->n_queue++; i && precedes(set, &new, &s->queue[up = (i - 1) / 2]); i = up)
		s->queue[i] = s->queue[up];
	s->queue[i] = new;
	return 0;
}

static struct special_series pop(const struct special_set *set, struct special_search *s)
{
	struct special_series first = s->queue[0], last = s->queue[--s->n_queue];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < s->n_queue) {
		if (down + 1 < s->n_queue && precedes(set, &s->queue[down + 1], &s->queue[down]))
			down++;
		if (!precedes(set, &s->queue[down], &last))
			break;
		s->queue[i] = s->queue[down];
		i = down;
	}
	s->queue[i] = last;
	return first;
}

/* ---- one cluster ---- */

static int is_taken(const struct special_search *s, size_t at)
{
	return s->taken[at / 8] >> at % 8 & 1;
}

/* The next taken byte after `at`, which is free; there is one. */
static size_t next_taken(const struct special_search *s, size_t at)
{
	while (!is_taken(s, at))
		at += at % 8 || s->taken[at / 8] ? 1 : 8;
	return at;
}

static void take(struct special_search *s, size_t at, size_t n)
{
	for (; n && at % 8; n--, at++)
		s->taken[at / 8] |= (unsigned char)(1 << at % 8);
	memset(s->taken + at / 8, 255, n / 8);
	for (at += n - n % 8, n %= 8; n; n--, at++)
		s->taken[at / 8] |= (unsigned char)(1 << at % 8);
}

static int found(struct special_search *s, size_t at, uint32_t token)
{
	if (s->n == s->match_room && grow(&s->match, &s->match_room, sizeof *s->match, 16))
		return -1;
	s->match[s->n++] = (struct special_match){ at, token };
	return 0;
}

/* Handles the best candidate: it takes its text if that is free; otherwise a shorter one is queued. All tokens taken so
 * far are at least as long, so one that overlaps it covers its first or its last byte. Positions count from the start
 * of the cluster. */
static int settle(const struct special_set *set, struct special_search *s, const char *text, struct special_series c)
{
	size_t n = set->token[c.token].text.n, used = 1;
	uint32_t shorter;

	if (!is_taken(s, c.at) && !is_taken(s, c.at + n - 1)) {
		take(s, c.at, n);
		if (found(s, c.at, c.token))
			return -1;
		used = n;
	} else if (!is_taken(s, c.at)) {
		shorter = longest(set, text + c.at, next_taken(s, c.at) - c.at);
		if (shorter != SPECIAL_NONE && push(set, s, (struct special_series){ c.at, 1, shorter }))
			return -1;
	}
	return c.count > used ? push(set, s, (struct special_series){ c.at + used, c.count - (uint32_t)used,
		c.token }) : 0;
}

/* Queues all candidates of the cluster that begins with `token` at text[0]. Returns the length of the cluster, 0 if
 * memory runs out. */
static size_t gather(const struct special_set *set, struct special_search *s, const char *text, size_t n,
	uint32_t token)
{
	struct special_series now = { 0, 1, token };
	size_t stop = set->token[token].text.n;

	for (size_t at = 1; at < stop; at++) {
		token = longest(set, text + at, n - at);
		if (token != SPECIAL_NONE && at + set->token[token].text.n > stop)
			stop = at + set->token[token].text.n;
		if (token == now.token && now.count < UINT32_MAX) {
			now.count++;
			continue;
		}
		if (now.token != SPECIAL_NONE && push(set, s, now))
			return 0;
		now = (struct special_series){ at, 1, token };
	}
	return now.token != SPECIAL_NONE && push(set, s, now) ? 0 : stop;
}

static int compare_matches(const void *a, const void *b)
{
	const struct special_match *s = a, *t = b;

	return (s->at > t->at) - (s->at < t->at);
}

/* The first position from text[from] on where the next two bytes do not rule out a token; n if there is none. */
static size_t find_first(const struct special_set *set, const char *text, size_t n, size_t from)
{
	const unsigned char *s = (const unsigned char *)text;
	const char *found;
	unsigned pair;

	if (!set->n)
		return n;
	if (set->only >= 0) {
		found = memchr(text + from, set->only, n - from);
		return found ? (size_t)(found - text) : n;
	}
	for (; from + 1 < n; from++) {
		pair = 256u * s[from] + s[from + 1];
		if (set->pairs[pair / 32] >> pair % 32 & 1)
			return from;
	}
	return from < n && set->from[s[from]] < set->from[s[from] + 1] ? from : n;
}

int special_next(const struct special_set *set, struct special_search *s, const char *text, size_t n, size_t from,
	size_t *end)
{
	uint32_t token = SPECIAL_NONE;
	size_t length;

	for (; (from = find_first(set, text, n, from)) < n; from++)
		if ((token = longest(set, text + from, n - from)) != SPECIAL_NONE)
			break;
	if (from >= n)
		return 0;
	s->n = s->n_queue = 0;
	length = gather(set, s, text + from, n - from, token);
	if (!length || grow_scratch(&s->taken, &s->taken_room, length / 8 + 1))
		return -1;
	memset(s->taken, 0, length / 8 + 1);
	while (s->n_queue)
		if (settle(set, s, text + from, pop(set, s)))
			return -1;
	qsort(s->match, s->n, sizeof *s->match, compare_matches);
	for (size_t i = 0; i < s->n; i++)
		s->match[i].at += from;
	*end = from + length;
	return 1;
}

void special_free(struct special_search *s)
{
	free(s->match);
	free(s->queue);
	free(s->taken);
}
