/* marks: the texts with which models of many families begin and end the parts of an answer: reasoning, tool calls,
 * channels. In most vocabularies they are control tokens, which detok --marks prints. */
#ifndef MARKS_H
#define MARKS_H

#include <stddef.h>

enum mark_kind {                /* what follows: */
	MARK_ANSWER, MARK_THOUGHT, MARK_CALL,
	MARK_HEADER,            /* the name of a channel or a recipient, */
	MARK_BODY               /* and what it says there */
};

extern const struct mark {
	const char *text;
	enum mark_kind kind;
	int apart;              /* the template takes reasoning as a member of the message, not in its content */
} marks[];                      /* the last one has no text */

/* Whether text[n], a control token, is a mark or the start of one. Not for marks of headers and bodies, which detok
 * always prints. */
int marks_have(const char *text, size_t n);

#endif
