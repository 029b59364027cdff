/* pretok: cuts text into the pieces that byte-level BPE merges within, as the model's pre-tokenizer says. That is a list of expressions: each cuts
 * further what the one before left, and sees no more than its piece; what lies between two matches is a piece too. Here an expression is a row of
 * alternatives, tried in order, and an alternative a row of steps: no engine, no backtracking, no recursion, runs of any length.
 *
 *	struct pretok_cursor c;
 *	pretok_start(&c, p, text, n);
 *	while (pretok_next(&c, &piece, &n)) ...
 */
#ifndef PRETOK_H
#define PRETOK_H

#include <stddef.h>
#include <stdint.h>

enum { PRETOK_DEPTH = 6 };      /* expressions in a list */

enum {                          /* flags: what else a name stands for */
	PRETOK_WHOLE = 1,       /* a piece that is in the vocabulary is taken whole, without merging ("ignore_merges") */
	PRETOK_ADD_BOS = 2,     /* adds BOS unless the file says otherwise */
	PRETOK_NO_BOS = 4       /* has no BOS unless the file says otherwise */
};

enum pretok_op {
	PRETOK_END,             /* of an alternative */
	PRETOK_RUN,             /* least to most characters of a set, as many as there are */
	PRETOK_CONTRACTION,     /* 's 't 're 've 'm 'll 'd */
	PRETOK_CONTRACTION_ANY, /* the same in capitals as well (ASCII) */
	PRETOK_LINES,           /* \s*[\r\n]+ */
	PRETOK_SPACES,          /* \s+(?!\S)|\s+ */
	PRETOK_LAST_SPACES,     /* \s+$ */
	PRETOK_SMALL,           /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ */
	PRETOK_CAPITAL          /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]* */
};

enum { PRETOK_MANY = 0 };       /* most: no limit */

struct pretok_step {
	enum pretok_op op;
	unsigned char least, most;      /* least 0: may be left out */
	uint16_t classes;               /* the set: bit 1 << enum unicode_class, ... */
	const uint32_t *also, *but;     /* ... and the first, without the second: ranges first, last, ..., ascending, 0 ends them */
};

typedef const struct pretok_step *pretok_alternative;   /* steps, PRETOK_END ends them */

struct pretok {
	const char *name;               /* tokenizer.ggml.pre */
	unsigned flags;
	const pretok_alternative *list[PRETOK_DEPTH];   /* expressions, NULL after the last; each a row of alternatives that NULL ends */
};

/* The row of that name, or NULL. */
const struct pretok *pretok_find(const char *name, size_t n);

struct pretok_cursor {
	const struct pretok *p;
	size_t depth;
	const unsigned char *at;
	const unsigned char *end[PRETOK_DEPTH + 1];     /* of the stretch that expression k is in */
};

void pretok_start(struct pretok_cursor *c, const struct pretok *p, const char *text, size_t n);

/* The next piece, never empty; 0 at the end. Bytes that are no UTF-8 are taken as U+FFFD, one by one. */
int pretok_next(struct pretok_cursor *c, const char **piece, size_t *n);

#endif
