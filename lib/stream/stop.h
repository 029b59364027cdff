/* stop: finds the first of several strings in a text that arrives in pieces, and passes on what can no longer be part
 * of one. A stop string is found at the byte that completes it, however the text is divided; of several that end at the
 * same byte, the longest. */
#ifndef STOP_H
#define STOP_H

#include <stddef.h>

#include "frame.h"
#include "lib/base/why.h"

enum {
	STOP_STRINGS = 64,
	STOP_BYTES = FRAME_STOP_MAX     /* of one string */
};

struct stop;

/* An empty set of strings, which passes everything. NULL: out of memory. */
struct stop *stop_open(struct why *w);
void stop_close(struct stop *s);

/* A copy, for another text that goes on as this one did so far; then no strings are added to either. NULL: out of
 * memory. */
struct stop *stop_fork(const struct stop *s, struct why *w);

/* Adds a copy of text[n], before the text begins; strings are numbered from 0. -1: empty, too long or too many. */
int stop_add(struct stop *s, const char *text, size_t n, struct why *w);

/* The same for an option's value, in which \n is a new line. */
int stop_add_quoted(struct stop *s, const char *text, struct why *w);

/* Adds all strings of another set. */
int stop_add_all(struct stop *s, const struct stop *other, struct why *w);

/* The string of that number; *n is its length. */
const char *stop_string(const struct stop *s, int number, size_t *n);

/* Continues the text with text[n]. Calls put(), once or several times, with what is certain not to belong to a stop
 * string; at most the length of the longest string less one is held back. Returns the number of the string found, or
 * -1. Neither it nor anything after it is put: all text is skipped until stop_start(). Time: n times the number of
 * strings. */
int stop_feed(struct stop *s, const char *text, size_t n, void (*put)(void *context, const char *bytes, size_t n),
	void *context);

/* Ends the text: puts what was held back. The next text begins. */
void stop_end(struct stop *s, void (*put)(void *context, const char *bytes, size_t n), void *context);

/* Starts another text; what was held back is dropped. */
void stop_start(struct stop *s);

#endif
