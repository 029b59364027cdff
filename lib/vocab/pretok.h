/* pretok: divides text into the words within which byte-level BPE merges, as the model's pre-tokenizer does. A
 * pre-tokenizer is a list of regular expressions. Each divides the pieces that the one before it left, without seeing
 * beyond a piece; the text between two matches is a piece, too. Here an expression is an array of alternatives, tried
 * in order, and an alternative is an array of steps. There is no backtracking and no recursion.
 *
 *	struct pretok_walk walk;
 *	pretok_start(&walk, p, text, n);
 *	while (pretok_next(&walk, &word, &n)) ...
 */
#ifndef PRETOK_H
#define PRETOK_H

#include <stddef.h>
#include <stdint.h>

enum { PRETOK_DEPTH = 6 };      /* expressions in a list */

enum {                          /* flags: what else a name stands for */
	PRETOK_WHOLE = 1,       /* a word that is a token is not merged ("ignore_merges") */
	PRETOK_ADD_BOS = 2,     /* BOS is added unless the file says otherwise */
	PRETOK_NO_BOS = 4       /* there is no BOS unless the file says otherwise */
};

enum pretok_op {
	PRETOK_END,             /* of an alternative */
	PRETOK_RUN,             /* the longest run of characters of a set, from least to most */
	PRETOK_CONTRACTION,     /* 's 't 're 've 'm 'll 'd */
	PRETOK_CONTRACTION_ANY, /* the same, ignoring the case of ASCII letters */
	PRETOK_LINES,           /* \s*[\r\n]+ */
	PRETOK_SPACES,          /* \s+(?!\S)|\s+ */
	PRETOK_LAST_SPACES,     /* \s+$ */
	PRETOK_SMALL,           /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ */
	PRETOK_CAPITAL          /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]* */
};

enum { PRETOK_MANY = 0 };       /* most: no limit */

struct pretok_step {
	enum pretok_op op;
	unsigned char least, most;      /* least 0: optional */
	uint16_t classes;               /* the set: bit 1 << enum unicode_class, ... */
	/* ... with the first added, the second removed: ranges as first, last, ..., ascending, 0 */
	const uint32_t *also, *but;
};

typedef const struct pretok_step *pretok_alternative;   /* steps up to PRETOK_END */

struct pretok {
	const char *names;              /* values of tokenizer.ggml.pre, separated by spaces */
	unsigned flags;
	const pretok_alternative *list[PRETOK_DEPTH];   /* expressions up to NULL; each is alternatives up to NULL */
};

/* The pre-tokenizer of that name, or NULL. */
const struct pretok *pretok_find(const char *name, size_t n);

struct pretok_walk {
	const struct pretok *p;
	size_t depth;
	const unsigned char *at;
	const unsigned char *end[PRETOK_DEPTH + 1];     /* of the piece that expression k divides */
};

void pretok_start(struct pretok_walk *walk, const struct pretok *p, const char *text, size_t n);

/* The next word, never empty; 0 at the end. Each byte that is not UTF-8 is read as U+FFFD. */
int pretok_next(struct pretok_walk *walk, const char **word, size_t *n);

#endif
