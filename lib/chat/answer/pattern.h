/* pattern: a marker as an answer has it: text with placeholders.
 *
 * White space between its tokens is free, between two words it is needed. A token is a tag such as <tool_call>,
 * <|start|>assistant<|channel|> or [TOOL_CALLS], or a single character. Patterns are compared and divided at tokens, so
 * that <|END_TEXT|> and <|END_ACTION|> have nothing in common. */
#ifndef PATTERN_H
#define PATTERN_H

#include "lib/base/arena.h"
#include "lib/base/bytes.h"
#include "lib/base/span.h"

enum pattern_place {            /* the bytes that are placeholders */
	PATTERN_NAME = 1,       /* the name of a tool */
	PATTERN_ID,             /* the id of a call */
	PATTERN_KEY,            /* the name of an argument; in the end of a value, the same name again */
	PATTERN_TYPE,           /* a word that tells the type of a value */
	PATTERN_NUMBER,         /* digits */
	PATTERN_WORD,           /* a word without meaning */
	PATTERN_REST,           /* anything up to what follows */
	PATTERN_PLACES
};

enum { PATTERN_MOST = 256 };    /* bytes that a placeholder or white space may have */

enum match { MATCH_NO, MATCH_MORE, MATCH_YES };     /* MATCH_MORE: not before there is more text */

struct found {
	size_t n;               /* bytes that match, also of a match that needs more text */
	int whole;              /* at least one tag matches completely */
	struct span place[PATTERN_PLACES];  /* what the placeholders stand for */
};

/* Whether text[n] begins with the pattern. White space that ends the pattern is taken from the text as far as it is the
 * same. `key` is what PATTERN_KEY must be, or has no s. `end`: no text follows, which rules out MATCH_MORE for white
 * space after the pattern only. */
enum match pattern_match(const char *pattern, const char *text, size_t n, int end, struct span key, struct found *f);

/* Length of the token that s[n] begins with; n is at least 1. */
size_t pattern_token(const char *s, size_t n);

/* Whether the token s[n] is a tag. */
int pattern_is_tag(const char *s, size_t n);

/* Whether it begins with a control token, which is not a part of text, by its looks: <|NAME|>, [NAME] and the like. */
int pattern_is_control(const char *pattern);

/* How many bytes of tokens both texts begin or end with. */
size_t pattern_common_start(struct span a, struct span b);
size_t pattern_common_end(struct span a, struct span b);

/* The pattern without the white space that it begins with, and how much that is. */
const char *pattern_core(const char *pattern);
size_t pattern_lead(const char *pattern);

/* The first tag of the pattern after offset `from`, or -1. */
long pattern_next_tag(const char *pattern, size_t from);

/* Appends the pattern as people read it: {name} for a placeholder. */
void pattern_show(const char *pattern, struct bytes *out);

#endif
