/* sections: divides an answer that arrives in chunks into reasoning, tool calls and the answer proper, by the marks of
 * lib/chat/marks.h. */
#ifndef SECTIONS_H
#define SECTIONS_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/stream/stop.h"

enum section { SECTION_ANSWER, SECTION_THOUGHT, SECTION_CALL };

enum { SECTIONS_HEADER = 128 };

struct opened {                 /* the section that a prompt ends in */
	enum section section;
	int apart;              /* as in struct sections */
	int header;             /* in the header of the first section */
};

struct sections {               /* starts as zeros, with the callbacks set */
	void (*put)(void *context, const char *s, size_t n);    /* receives text of section `now` */
	/* Section `now` has begun, after `from`, by this mark or one that stands for it. */
	void (*turn)(void *context, enum section from, const char *mark);
	void *context;
	enum section now;
	int apart;              /* a mark was seen whose template wants reasoning as a separate member of the message */

	struct stop *marks;     /* private */
	int in_header, bodies;  /* in_header: text belongs to a header; bodies: number of bodies so far */
	char header[SECTIONS_HEADER];   /* [n] */
	size_t n;
};

/* -1 with a reason. */
int sections_open(struct sections *s, struct why *w);
void sections_close(struct sections *s);

/* The section that the end of prompt[n] has opened. */
struct opened sections_opened(const char *prompt, size_t n);

/* Begins an answer. */
void sections_begin(struct sections *s, struct opened opened);

/* sections_feed(): handles more of the answer. sections_end(): its end. */
void sections_feed(struct sections *s, const char *text, size_t n);
void sections_end(struct sections *s);

/* Divides a whole answer: appends the answer proper, with its calls, to *said, and its reasoning to *thought. Returns
 * 1; 0 if the template takes the answer as a whole; -1 with a reason. */
int sections_split(struct opened opened, const char *text, size_t n, struct bytes *said, struct bytes *thought,
	struct why *w);

#endif
