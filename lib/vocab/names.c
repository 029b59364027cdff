/* names: an open-addressing hash table of the strings' numbers; the strings stay in the file. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/size.h"

/* A run of this many used slots does not occur by chance. A file made to cause longer ones could keep us busy for
 * hours. */
enum { RUN_MAX = 4096 };

/* n numbers; large arrays are aligned to a huge page, which saves the system thousands of small ones. */
static uint32_t *aligned(size_t n)
{
	enum { HUGE = 1 << 21 };
	size_t bytes = n * sizeof(uint32_t);
	void *p;

	return posix_memalign(&p, bytes < HUGE / 4 ? 64 : HUGE, bytes) ? NULL : p;
}

void names_close(struct names *s)
{
	free(s->at);
	free(s->slots);
	memset(s, 0, sizeof *s);
}

int names_open(struct names *s, const struct gguf_value *array, struct why *w)
{
	const unsigned char *at = array->data;

	*s = (struct names){ .array = array, .n = (uint32_t)array->n };
	if (array->n > NAMES_MAX || (uint64_t)(array->end - array->data) > UINT32_MAX)
		return why(w, "%.*s: too many strings", (int)array->key.n, array->key.s);
	s->at = aligned(s->n + (size_t)1);
	if (!s->at)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < s->n; i++) {
		struct gguf_string t = gguf_next_string(array, &at);

		s->at[i] = (uint32_t)((const unsigned char *)t.s - array->data);
		s->longest = size_max(s->longest, t.n);
	}
	return 0;
}

static int is(const struct names *s, uint32_t i, const void *text, size_t n)
{
	struct gguf_string t = names_get(s, i);

	return t.n == n && !memcmp(t.s, text, n);
}

/* The slot that holds the text, or the free one where it belongs; NULL after a run that is too long. */
static uint32_t *find(const struct names *s, const void *text, size_t n, uint64_t h)
{
	uint32_t tag = (uint32_t)(h >> 56) << 24, *slot;

	for (uint32_t i = 0; i < RUN_MAX; i++) {
		slot = &s->slots[((uint32_t)h + i) & s->mask];
		if (!*slot || ((*slot & 0xff000000) == tag && is(s, (*slot & 0xffffff) - 1, text, n)))
			return slot;
	}
	return NULL;
}

/* The numbers of the strings to index; the caller frees them. */
static uint32_t *choose(const struct names *s, const unsigned char *only, size_t *n)
{
	uint32_t *number = aligned(s->n + (size_t)1);

	*n = 0;
	for (uint32_t i = 0; number && i < s->n; i++) {
		struct gguf_string t = names_get(s, i);

		/* A branch here would be mispredicted half the time. */
		number[*n] = i;
		*n += t.n && (!only || only[(unsigned char)t.s[0]] & only[(unsigned char)t.s[t.n - 1]]);
	}
	return number;
}

/* In batches: the cache lines of a batch, scattered over the table, are prefetched while its strings are hashed. */
static int fill(struct names *s, int which, const uint32_t *number, size_t n)
{
	enum { BATCH = 32 };
	uint64_t h[BATCH];
	uint32_t *slot;

	for (size_t done = 0, now; done < n; done += now) {
		now = size_min(n - done, BATCH);
		for (size_t k = 0; k < now; k++) {
			struct gguf_string t = names_get(s, number[done + k]);

			h[k] = hash_text_inside(t.s, t.n);       /* the length comes before it */
			__builtin_prefetch(&s->slots[(uint32_t)h[k] & s->mask], 1);
		}
		for (size_t k = 0; k < now; k++) {
			struct gguf_string t = names_get(s, number[done + k]);

			slot = find(s, t.s, t.n, h[k]);
			if (!slot)
				return -1;
			s->repeat |= *slot != 0;
			if (!*slot || which == NAMES_LAST)
				*slot = (uint32_t)(h[k] >> 56) << 24 | (number[done + k] + 1);
		}
	}
	return 0;
}

int names_index(struct names *s, int which, const unsigned char *only, struct why *w)
{
	size_t room = 64, n;
	uint32_t *number = choose(s, only, &n);
	int bad = -1;

	free(s->slots);
	s->repeat = 0;
	while (room < n + n / 2)
		room *= 2;
	s->mask = (uint32_t)room - 1;
	s->slots = number ? aligned(room) : NULL;
	if (s->slots) {
		memset(s->slots, 0, room * sizeof *s->slots);
		bad = fill(s, which, number, n);
	}
	free(number);
	if (!s->slots)
		return why(w, "out of memory");
	return bad ? why(w, "%.*s: strings chosen to collide", (int)s->array->key.n, s->array->key.s) : 0;
}

int32_t names_find(const struct names *s, const void *text, size_t n)
{
	const uint32_t *slot;

	if (!n || n > s->longest)
		return -1;
	slot = find(s, text, n, hash_text(text, n));
	return slot ? (int32_t)(*slot & 0xffffff) - 1 : -1;
}
