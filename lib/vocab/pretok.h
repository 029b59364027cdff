/* pretok: divides text into the words within which byte-level BPE merges, as the model's pre-tokenizer does. A
 * pre-tokenizer is a list of regular expressions. Each divides the pieces that the one before it left, without seeing
 * beyond a piece; the text between two matches is a piece, too. Here an expression is an array of alternatives, tried
 * in order, and an alternative is an array of steps. There is no backtracking and no recursion.
 *
 *	struct pretok_walk walk = { 0 };
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
	PRETOK_NO_BOS = 4,      /* there is no BOS unless the file says otherwise */
	PRETOK_MASK = 8,        /* white space before <mask> is dropped */
	PRETOK_PLAIN = 16,      /* tokens are text with U+2581 for spaces, as in SPM */
	PRETOK_WHOLE_LINES = 32,        /* PRETOK_WHOLE for words of line feeds */
	PRETOK_MUST_BOS = 64,   /* BOS is added even if the file says otherwise */
	PRETOK_MAY_NOT_MERGE = 128,     /* the file need not have merges */
	PRETOK_BYTES = 256      /* tokens are text, and those that stand for bytes are spelled <0x41> */
};

enum pretok_op {
	PRETOK_END,             /* of an alternative */
	PRETOK_RUN,             /* the longest run of characters of a set, from least to most */
	PRETOK_CLASS,           /* the same for a set of classes alone: one character, or at least one; or optional */
	PRETOK_CLASSES,
	PRETOK_CONTRACTION,     /* 's 't 're 've 'm 'll 'd */
	PRETOK_CONTRACTION_ANY, /* the same, ignoring the case of ASCII letters */
	PRETOK_LINES,           /* \s*[\r\n]+ */
	PRETOK_SPACES,          /* \s+(?!\S)|\s+ */
	PRETOK_SMALL,           /* characters of a set, but not a-z, from none; then at least one of the set, not A-Z */
	PRETOK_CAPITAL,         /* the same, with at least one before and from none after */
	PRETOK_PHRASE,          /* (?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+ */
	PRETOK_TEXT,            /* the characters of `also`, one after the other */
	/* Each of these is an expression of its own. */
	PRETOK_LAST_SPACES,     /* \s+$ */
	PRETOK_POWERS,          /* cuts a run of white space to the highest power of two that fits, at most 512 */
	PRETOK_NUMBERS,         /* cuts in and after a run of \p{N}, at each third counted from its end */
	PRETOK_DIGITS           /* (?=(\d{3})+(?!\d)): cuts in and before a run of 0-9, at each third from its end */
};

enum { PRETOK_MANY = 0 };       /* most: no limit */

struct pretok_step {
	enum pretok_op op;
	unsigned char least, most;      /* least 0: optional */
	uint16_t classes;               /* the set: bits 1 << enum unicode_class; others: what a match starts with */
	/* ... with the first added, the second removed: ranges as first, last, ..., 0, ascending */
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

/* The i-th pre-tokenizer, or NULL past the last. */
const struct pretok *pretok_each(size_t i);

enum { PRETOK_KINDS = 14 };     /* classes of characters */

struct pretok_walk {                    /* starts as zeroes; may be used for one text after another */
	const struct pretok *p;
	size_t depth;
	/* The alternatives of each expression that can start with a character of a class: bits 1 << number. */
	unsigned char may[PRETOK_DEPTH][PRETOK_KINDS];
	const unsigned char *at;
	/* of the piece that expression k divides */
	const unsigned char *start[PRETOK_DEPTH + 1], *end[PRETOK_DEPTH + 1];
};

void pretok_start(struct pretok_walk *walk, const struct pretok *p, const char *text, size_t n);

/* The next word, never empty; 0 at the end. Each byte that is not UTF-8 is read as U+FFFD. */
int pretok_next(struct pretok_walk *walk, const char **word, size_t *n);

#endif
