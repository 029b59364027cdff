/* sections: divides an answer that comes in pieces into what the model thinks, what it calls and what it answers, by
 * the marks of lib/chat/marks.h. */
#ifndef SECTIONS_H
#define SECTIONS_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/stream/stop.h"

enum section { SECTION_ANSWER, SECTION_THOUGHT, SECTION_CALL };

enum { SECTIONS_HEADER = 128 };

struct opened {                 /* what an answer begins in the middle of */
	enum section section;
	int apart;              /* as in struct sections */
	int header;             /* of the first section */
};

struct sections {               /* starts as zeroes and the callbacks */
	void (*put)(void *context, const char *s, size_t n);    /* text of the section that is `now` */
	/* The section that is `now` has begun, after `from`, by this mark or one that stands for it. */
	void (*turn)(void *context, enum section from, const char *mark);
	void *context;
	enum section now;
	int apart;              /* a mark came whose template takes reasoning as a member of the message */

	struct stop *marks;     /* private */
	int in_header, bodies;  /* text is a header; how many bodies came */
	char header[SECTIONS_HEADER];   /* [n] */
	size_t n;
};

/* -1 with a reason. */
int sections_open(struct sections *s, struct why *w);
void sections_close(struct sections *s);

/* What the end of prompt[n] has opened. */
struct opened sections_opened(const char *prompt, size_t n);

/* An answer begins. */
void sections_begin(struct sections *s, struct opened opened);

/* More of it; its end. */
void sections_feed(struct sections *s, const char *text, size_t n);
void sections_end(struct sections *s);

/* Divides a whole answer: appends what it says, with its calls, to *said and its reasoning to *thought. 1; 0: the
 * template takes the answer as a whole; -1 with a reason. */
int sections_split(struct opened opened, const char *text, size_t n, struct bytes *said, struct bytes *thought,
	struct why *w);

#endif
