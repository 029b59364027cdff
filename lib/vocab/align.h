/* align: which bytes of a text each token of its encoding stands for.
 *
 *	align_start(&a, vocab, text, n, flags);
 *	for each id of vocab_encode(vocab, text, n, flags, ...): align_next(&a, id, &from, &to);
 */
#ifndef ALIGN_H
#define ALIGN_H

#include "vocab.h"

struct align {
	const struct vocab *v;          /* borrowed, as is text */
	const unsigned char *text, *end;
	int repairs;                    /* the tokenizer repairs UTF-8 */
	int prefixed;                   /* the next token begins with a space that is not in the text */
	/* the next character, as the tokens spell it; it stands for `size` bytes at `text` */
	unsigned char unit[4];
	size_t size, n, i;              /* i of its n bytes are used up; n 0: read the next one */
};

/* text and flags as in vocab_encode(). */
void align_start(struct align *a, const struct vocab *v, const char *text, size_t n, int flags);

/* The token stands for the bytes *from to *to. Tokens that are parts of one invalid byte have the same range; a space
 * that the tokenizer put before the text adds nothing to it. Bytes that have no token are in no range. */
void align_next(struct align *a, int32_t id, const unsigned char **from, const unsigned char **to);

#endif
