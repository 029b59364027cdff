/* texts: the text of each sequence of a stream, on one line each, printed as its sequence ends or in the order of the
 * sequence numbers. A text is kept until it is printed. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/stream/sequences.h"
#include "printer.h"
#include "settings.h"

struct texts {                          /* set by the caller, the rest zeros: */
	const struct settings *set;
	struct printer printer;         /* each text's printer is a copy of it; it prints nothing itself */

	struct sequences sequences;     /* private; of struct text */
	uint32_t next;                  /* number of the next line; with `ordered` */
	int first_over;                 /* sequence 0 has ended */
	char *words;                    /* of the current frame of options, or of an end */
	size_t room;
	size_t refused;                 /* read only, without json: sequences whose options were refused; stderr says
					 * why */
};

/* Handles the next frame, of ids, options, a fork or an end, whose payload must be unread. Returns -1 with a reason on
 * failure. */
int texts_frame(struct texts *t, struct frame_in *in, const struct frame *f, struct why *w);

/* At the end of the input: prints the texts that are left. */
int texts_end(struct texts *t, struct why *w);

/* Prints text[n] on one line: a newline in it as \n, a carriage return as \r, a backslash as \\. */
void texts_line(const char *s, size_t n);

#endif
