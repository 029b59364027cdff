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
	const struct card *card;        /* of the vocabulary; borrowed */
	int special;                    /* print control tokens, too; */
	int marks;                      /* those that may mark parts of an answer */
	struct stop *stop;
	void (*put)(void *context, const char *s, size_t n);    /* takes the text; NULL: only find stop strings */
	void *context;
	int found;                      /* number of the stop string that ended the text, or -1 */
	int prefixed;                   /* the next piece of a prompt may begin with a space that tok added */
};

/* Makes *p a printer of another text with the same vocabulary and stop strings. -1: out of memory. printer_close()
 * afterwards. */
int printer_fork(struct printer *p, const struct printer *from, struct why *w);
void printer_close(struct printer *p);

/* Starts a sequence: its first piece may begin with an added space. */
void printer_start(struct printer *p);

/* The text of the next id of the vocabulary, [*n], which may be 0; borrowed. Prints nothing, finds no stop. */
const char *printer_piece(struct printer *p, int32_t id, int sampled, size_t *n);

/* Prints one id of the vocabulary. Returns 1 if a stop string ends with it; nothing is printed after that before
 * printer_end(). */
int printer_id(struct printer *p, int32_t id, int sampled);

/* Ends the text: prints what was held back. Another text may follow. */
void printer_end(struct printer *p);

#endif
