/* vocab: text to ids and ids to bytes, from a GGUF's tokenizer.* metadata. SPM (scores, byte fallback, space prefix) and byte-level BPE with
 * the pre-tokenizers of pretok.h. One thread at a time may use a vocabulary. */
#ifndef VOCAB_H
#define VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/gguf/gguf.h"
#include "lib/base/why.h"

struct vocab;

enum {                          /* what a caller of vocab_open() needs */
	VOCAB_PIECES = 0,       /* vocab_piece(), vocab_card(): cheap */
	VOCAB_ENCODE = 1        /* vocab_encode() too: builds the look-up tables */
};

/* Whether the file names a kind of vocabulary that vocab_open() reads. */
int vocab_supported(const struct gguf *g);

/* g stays open and is borrowed until vocab_close(). Names of keys in the reasons are the file's, and so is the path before them. */
struct vocab *vocab_open(const struct gguf *g, int need, struct why *w);
void vocab_close(struct vocab *v);

enum {                          /* flags of vocab_encode() */
	VOCAB_SPECIAL = 1,      /* control tokens in the text are found; user-defined ones always are */
	VOCAB_BOS = 2,          /* BOS before, where the model asks for it */
	VOCAB_EOS = 4,          /* EOS after, where the model asks for it */
	VOCAB_ADD = VOCAB_BOS | VOCAB_EOS,
	VOCAB_RAW = 8,          /* byte-level BPE spells bytes that are no UTF-8 as they are; otherwise each becomes U+FFFD, as llama.cpp has it */
	VOCAB_CONTINUE = 16     /* the text goes on after other text: an SPM vocabulary's space is not put before it */
};

struct ids {                    /* a growing array; free(ids.id) when done */
	int32_t *id;
	size_t n, room;
};

/* Appends one id; -1 when there is no memory. */
int ids_add(struct ids *ids, int32_t id);

/* Appends the ids of text[0..n), any bytes, the way llama.cpp cuts them. -1 when memory runs out, or when an SPM vocabulary has no token for
 * a byte (a byte-level BPE one leaves such a byte out). Time near linear in n. */
int vocab_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w);

/* The bytes of one id, borrowed until vocab_close(); *n is their count. Control and unknown tokens print only when special is set, unused
 * ones never. NULL for an id outside the vocabulary. */
const char *vocab_piece(const struct vocab *v, int32_t id, int special, size_t *n);

int32_t vocab_bos(const struct vocab *v);       /* or -1 */
int32_t vocab_eos(const struct vocab *v);       /* or -1 */
int vocab_adds_bos(const struct vocab *v);

/* 1 if vocab_encode() puts a space before text at the start and after each special token (SPM): what gives text back takes it off again. */
int vocab_space_prefix(const struct vocab *v);

/* 1 if text is cut at this id before it is spelled: unknown, control and user-defined ones. 0 for an id outside the vocabulary. */
int vocab_is_special(const struct vocab *v, int32_t id);

/* The card of a stream that this vocabulary starts (model and n_ctx are 0). */
void vocab_card(const struct vocab *v, struct card *card);

#endif
