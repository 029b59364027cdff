/* printer: the text of ids, as far as the first stop string. Text leaves frame by frame, at once. SPM vocabularies put a space before text at the start of
 * a sequence and after each special token; in prompts that one space is taken off again, so that the text is the one that tok was given. */
#ifndef PRINTER_H
#define PRINTER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/stop.h"
#include "lib/vocab/vocab.h"

struct printer {
	const struct vocab *vocab;      /* borrowed */
	struct stop *stop;
	int fd;                         /* -1: the text goes nowhere, and only stop strings are looked for */
	int special;                    /* control tokens are printed, too */
	int found;                      /* number of the stop string that ended the text; -1: none has */
	int prefixed;                   /* the next piece of a prompt begins with a space that tok has put there */
	struct why *w;
	int failed;                     /* a write failed, for the reason in *w */
	size_t n;
	char bytes[65536];
};

/* *p's first four fields are set; failures leave their reason in *w. */
void printer_open(struct printer *p, struct why *w);

/* A sequence begins: its first piece may have a space before it. */
void printer_start(struct printer *p);

/* Prints one id. Returns 1 if a stop string ends with it; nothing is printed after that before printer_end(). -1: not in the vocabulary. */
int printer_id(struct printer *p, int32_t id, int sampled);

void printer_text(struct printer *p, const char *s);

/* The text is over: what looked like the beginning of a stop string is printed. Another text may follow. */
void printer_end(struct printer *p);

/* Writes what there is. -1: this write or one before it failed. */
int printer_flush(struct printer *p);

#endif
