/* after: the texts of --grammar-after, and those that a grammar names. A grammar that waits for one of them binds from
 * its first byte on. */
#ifndef AFTER_H
#define AFTER_H

#include <stddef.h>

#include "lib/base/why.h"

enum { AFTER_TEXTS = 64, AFTER_BYTES = 4096 /* of one text */ };

struct after {                  /* starts as zeros */
	char *text[AFTER_TEXTS];        /* [n] of these bytes: */
	size_t bytes[AFTER_TEXTS];
	size_t n, longest;
};

/* Adds the text s[n]; or what it stands for, if \n is a new line. */
int after_add(struct after *a, const char *s, size_t n, struct why *w);
int after_add_quoted(struct after *a, const char *quoted, size_t n, struct why *w);

/* Adds all of another list. */
int after_add_all(struct after *a, const struct after *other, struct why *w);

/* Adds those that a grammar names itself: the lines "# after: TEXT" among the comments that it begins with. */
int after_read(struct after *a, const char *grammar, size_t n, struct why *w);
void after_free(struct after *a);

/* What a text ended with: its last bytes, as many as the longest of the texts that are waited for may need. */
struct tail {
	char *at;               /* [after.longest] */
	size_t n;
};

/* If tail and then s[n] contain one of the texts, the first that ends in s: how many bytes of s it takes, and *length,
 * its own bytes; 0: none. */
size_t after_find(const struct after *a, const struct tail *tail, const char *s, size_t n, size_t *length);

/* Appends s[n] to the tail. */
void after_pass(const struct after *a, struct tail *tail, const char *s, size_t n);

/* Whether one of the texts can end inside s[n], before its last byte. */
int after_may_cut(const struct after *a, const char *s, size_t n);

#endif
