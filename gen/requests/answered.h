/* answered: the ids of the requests that a file of answers has, for --resume. */
#ifndef ANSWERED_H
#define ANSWERED_H

#include "lib/base/bytes.h"
#include "lib/base/slots.h"
#include "lib/base/why.h"

struct answered {               /* starts as zeros */
	struct bytes keys;      /* the ids, as JSON texts */
	struct key {
		size_t at, n;   /* in keys */
	} *key;                 /* [n] */
	size_t n, room;
	struct slots slots;
};

/* Reads the file; one that is missing has no answers. Whole answers and the last lines of streams count;
 * errors of the server and an incomplete last line do not. If standard output is this file, that line is cut off. -1
 * with a reason. */
int answered_read(struct answered *a, const char *path, struct why *w);
void answered_free(struct answered *a);

/* Whether the request with this id was answered: key[n] as in struct job; n 0: no. */
int answered_has(const struct answered *a, const char *key, size_t n);

#endif
