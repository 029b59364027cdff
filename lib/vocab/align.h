/* align: which bytes of a text each token of its encoding stands for.
 *
 *	align_start(&a, vocab, text, n, flags);
 *	for each i of the ids of vocab_encode(vocab, text, n, flags, ...):
 *		align_next(&a, ids.id + i, ids.n - i, &from, &to);
 */
#ifndef ALIGN_H
#define ALIGN_H

#include "vocab.h"

struct align {
	const struct vocab *v;          /* borrowed, as is text */
	const char *text, *end;
	int flags;
	int prefixed;                   /* the next token begins with a space that is not in the text */
	const char *bases_end;          /* of the sequence of DNA that we are in, or NULL */
	/* the current character as the tokens spell it: unit[n], of which i bytes have been matched; n 0: none */
	const char *unit;
	char own[4];
	size_t size, n, i;              /* size: the bytes of `text` that it stands for */
};

/* text and flags as in vocab_encode(). */
void align_start(struct align *a, const struct vocab *v, const char *text, size_t n, int flags);

/* Sets the bytes *from to *to that id[0], the first of the n remaining tokens, stands for. Tokens that are parts of one
 * character that is spelled differently in the text have the same range, and so have the tokens of an invalid byte. The
 * range of a space that the tokenizer added is empty. Bytes without a token are in no range. */
void align_next(struct align *a, const int32_t *id, size_t n, const char **from, const char **to);

#endif
