/* printer: the text of ids, up to the first stop string. SPM, UGM and WPM vocabularies add a space before text at the
 * start of a sequence and after each special token; in prompts that space is removed again, so that the text is the one
 * that tok was given. */
#ifndef PRINTER_H
#define PRINTER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/stop.h"
#include "lib/vocab/vocab.h"

struct printer {
	const struct vocab *vocab;      /* borrowed */
	int32_t n_vocab;                /* its size */
	struct stop *stop;
	int fd;                         /* -1: only find stop strings, print nothing */
	int special;                    /* print control tokens, too */
	int found;                      /* number of the stop string that ended the text, or -1 */
	int prefixed;                   /* the next piece of a prompt begins with a space that tok added */
	struct why *w;
	int failed;                     /* a write failed, for the reason in *w */
	size_t n;
	char bytes[65536];
};

/* The first five fields of *p must be set; failures store their reason in *w. */
void printer_open(struct printer *p, struct why *w);

/* Starts a sequence: its first piece may begin with an added space. */
void printer_start(struct printer *p);

/* Prints one id of the vocabulary. Returns 1 if a stop string ends with it; nothing is printed after that before
 * printer_end(). */
int printer_id(struct printer *p, int32_t id, int sampled);

void printer_text(struct printer *p, const char *s);

/* Ends the text: prints what was held back. Another text may follow. */
void printer_end(struct printer *p);

/* Writes the buffer. -1: this or an earlier write failed. */
int printer_flush(struct printer *p);

#endif
