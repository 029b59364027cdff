/* place: where gen finds the other programs and the embedded model. */
#ifndef PLACE_H
#define PLACE_H

#include "lib/base/why.h"

enum { PLACE_PATH = 1024 };

struct place {
	char program[4][PLACE_PATH];    /* tok, fwd, sample, detok: beside gen, else by name in PATH */
	const char *model;              /* $LMPIPE_MODEL, the embedded one in the checkout or under PREFIX/share, or NULL */
	char path[PLACE_PATH];          /* holds it */
};

/* argv0: how gen was called; where that has no slash, PATH tells where it lies. */
int place_find(struct place *p, const char *argv0, struct why *w);

#endif
