/* ranks: a list of merges for each token. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

void ranks_free(struct ranks *r)
{
	free(r->first);
	free(r->merge);
	names_close(&r->others);
	memset(r, 0, sizeof *r);
}

/* Whether s[n] and t[n] in the file are equal, n > 0. The lengths before strings make it safe to read 8 bytes before an
 * end; n is mostly short, and without branches on it merges are read a third faster. */
static int same(const char *s, const char *t, size_t n)
{
	return n > 8 ? !memcmp(s, t, n) : (le64(s + n - 8) ^ le64(t + n - 8)) >> 8 * (8 - n) == 0;
}

/* Whether the token is spelled like the merge without the space after its left side. */
static int makes(struct gguf_string merge, size_t left, struct gguf_string token)
{
	return token.n + 1 == merge.n && same(token.s, merge.s, left)
		&& same(token.s + left, merge.s + left + 1, token.n - left);
}

/* The token that the merge makes, or -1. It is mostly the one that the merge before it makes, or the next one. joined:
 * room for tokens->longest bytes. */
static int32_t made(const struct names *tokens, struct gguf_string merge, size_t left, int32_t before, char *joined)
{
	for (int32_t id = before; !tokens->repeat && id < before + 2 && (uint32_t)id < tokens->n; id++)
		if (makes(merge, left, names_get(tokens, (uint32_t)id)))
			return id;
	if (merge.n - 1 > tokens->longest)
		return -1;
	memcpy(joined, merge.s, left);
	memcpy(joined + left, merge.s + left + 1, merge.n - left - 1);
	return names_find(tokens, joined, merge.n - 1);
}

/* Adds a merge to the list of its token, unless one before it has the same sides. */
static void add(struct ranks *r, uint32_t i, size_t left, int32_t id)
{
	uint32_t k = r->first[id];

	while (k && r->merge[k - 1].left != left)
		k = r->merge[k - 1].next;
	if (k)
		return;
	r->merge[i] = (struct ranks_merge){ (uint32_t)left, r->first[id] };
	r->first[id] = i + 1;
}

/* The number of merges that make no token. */
static uint32_t add_all(struct ranks *r, const struct names *tokens, const struct gguf_value *merges,
	const unsigned char *only, char *joined)
{
	const unsigned char *at = merges->data;
	uint32_t others = 0;
	int32_t before = 0, id;

	for (uint32_t i = 0; i < merges->n; i++) {
		struct gguf_string s = gguf_next_string(merges, &at);
		const char *space;

		if (s.n < 3 || (only && !(only[(unsigned char)s.s[0]] & only[(unsigned char)s.s[s.n - 1]])))
			continue;
		space = memchr(s.s + 1, ' ', s.n - 2);
		if (!space)             /* only if the file changes */
			continue;
		id = made(tokens, s, (size_t)(space - s.s), before, joined);
		others += id < 0;
		before = id < 0 ? before : id;
		if (id >= 0)
			add(r, i, (size_t)(space - s.s), id);
	}
	return others;
}

int ranks_index(struct ranks *r, const struct names *tokens, const struct gguf_value *merges,
	const unsigned char *only, struct why *w)
{
	char *joined = malloc(tokens->longest + 1);
	int others = 0;

	ranks_free(r);
	if (merges->n >= UINT32_MAX) {
		free(joined);
		return why(w, "%.*s: too many strings", (int)merges->key.n, merges->key.s);
	}
	r->first = calloc(tokens->n, sizeof *r->first);
	r->merge = malloc((size_t)merges->n * sizeof *r->merge + 1);
	if (joined && r->first && r->merge)
		others = add_all(r, tokens, merges, only, joined) > 0;
	free(joined);
	if (!joined || !r->first || !r->merge) {
		ranks_free(r);
		return why(w, "out of memory");
	}
	if (others && (names_open(&r->others, merges, w) || names_index(&r->others, NAMES_FIRST, only, w))) {
		ranks_free(r);
		return -1;
	}
	return 0;
}

int32_t ranks_find(const struct ranks *r, int32_t id, char *s, size_t left, size_t n)
{
	if (id < 0 && r->others.slots) {
		memmove(s + left + 1, s + left, n - left);
		s[left] = ' ';
		return names_find(&r->others, s, n + 1);
	}
	for (uint32_t i = id < 0 ? 0 : r->first[id]; i; i = r->merge[i - 1].next)
		if (r->merge[i - 1].left == left)
			return (int32_t)(i - 1);
	return -1;
}
