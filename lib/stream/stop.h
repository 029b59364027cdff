/* stop: finds the first of several strings in a text that comes in pieces, and lets through what can no longer be part of one. Whoever prints generated
 * text (detok) and whoever decides when a generation is over (gen) see the same: a stop is found at the byte that completes it, in whatever pieces the
 * text comes; of several that end at one byte it is the longest. */
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

/* An empty set of strings, which lets all through. NULL: no memory. */
struct stop *stop_open(struct why *w);
void stop_close(struct stop *s);

/* One more string s[n], which is copied; its number is how many were there before. Before the text begins. -1: empty, too long or too many. */
int stop_add(struct stop *s, const char *text, size_t n, struct why *w);

/* The string of that number; *n is its length. */
const char *stop_string(const struct stop *s, int number, size_t *n);

/* The text goes on with text[n]. put() is called with what is certain now, in order, in one or several parts; at most the longest string less a byte is
 * held back. Returns the number of the string that was found, or -1. It was not put, nor is anything after it: the rest of text and all further text
 * is passed over until stop_start(). Time: n times the number of strings. */
int stop_feed(struct stop *s, const char *text, size_t n, void (*put)(void *context, const char *bytes, size_t n), void *context);

/* The text is over: puts what was held back; and the next one begins. */
void stop_end(struct stop *s, void (*put)(void *context, const char *bytes, size_t n), void *context);

/* Another text begins; what was held back is forgotten. */
void stop_start(struct stop *s);

#endif
