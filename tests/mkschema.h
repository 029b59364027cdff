/* mkschema: random JSON schemas, with references, branches and all types. */
#ifndef MKSCHEMA_H
#define MKSCHEMA_H

#include <stddef.h>
#include <stdint.h>

struct mkschema {
	char text[1 << 16];             /* [n] */
	size_t n;
	uint64_t seed, count;           /* private */
};

/* Makes the schema of this number, from 1: the same text everywhere. */
void mkschema(struct mkschema *m, uint64_t seed);

#endif
