/* regex: the tree of a pattern, an ECMAScript regular expression. Private to lib/schema. */
#ifndef SCHEMA_REGEX_H
#define SCHEMA_REGEX_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/grammar/class.h"

enum regex_kind {
	REGEX_SET,              /* one character */
	REGEX_SEQUENCE, REGEX_CHOICE,
	REGEX_REPEAT,           /* the child, low to high times; UINT32_MAX: without end */
	REGEX_BEGIN, REGEX_END, /* ^ and $ */
	REGEX_BORDER,           /* \b: a word begins or ends here; not: \B */
	REGEX_LOOK              /* (?=child), and not: (?!child); behind: (?<=child), (?<!child) */
};

struct regex {
	enum regex_kind kind;
	int not, behind;
	struct points set;      /* settled; its ranges lie in the arena */
	uint32_t low, high;
	struct regex *child, *next;
};

struct converter;

/* The tree, in the converter's arena. NULL: failed. */
struct regex *regex_parse(struct converter *c, const char *pattern, size_t n);

/* How many characters it matches, not counting what stands before and after a match without anchors. */
struct regex_span {
	uint32_t min, max;      /* UINT32_MAX: no bound */
};
struct regex_span regex_span(const struct regex *r);

/* Makes no repetition longer than `most`, unless it must be. */
void regex_limit(struct regex *r, uint32_t most);

/* Whether r is or contains an assertion: one of the kinds from REGEX_BEGIN on. */
int regex_asserts(const struct regex *r);

/* Settled in place, with the ranges moved to the arena of c, or without a copy in it if that has no room. */
void regex_keep(struct converter *c, struct points *set, int not);

/* The characters that \w matches, settled; as above. */
struct points regex_word(struct converter *c, int not);

#endif
