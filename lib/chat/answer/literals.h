/* literals: values as Python and Gemma write them, with keys and strings in many spellings, as JSON:
 *
 *	city='Paris', days=3, on=True)          =>  "city": "Paris", "days": 3, "on": true}
 *	city:<|"|>Paris<|"|>,options:{a:[1]}}   =>  "city": "Paris", "options": {"a": [1]}} */
#ifndef LITERALS_H
#define LITERALS_H

#include "pattern.h"

enum { LITERALS_DEPTH = 64 };

struct literals {
	const char *quote;              /* around strings, beside " and '; "" */
	char close[LITERALS_DEPTH];     /* the brackets that are open, and how JSON ends them */
	int depth;
	char in_string;                 /* the quote that ends it; 1: quote */
	int comma;                      /* one is due before the next item */
	int started;
};

/* Begins a value or, with open, inside of an object. */
void literals_start(struct literals *l, const char *quote, int open);

/* Reads text[n], appends what is certain to *out and sets *used to what was read. MATCH_YES: the value is complete;
 * MATCH_MORE: it is not. `end`: no text follows. */
enum match literals_read(struct literals *l, const char *s, size_t n, int end, struct bytes *out, size_t *used);

#endif
