/* vocab: text to ids and ids to bytes, from a GGUF's tokenizer.* metadata. SPM (scores, byte fallback, space prefix) and byte-level BPE with
 * the pre-tokenizers of pretok.h. One thread at a time may use a vocabulary. */
#ifndef VOCAB_H
#define VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "ids.h"
#include "lib/base/why.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/frame.h"

struct vocab;

enum {                          /* what a caller of vocab_open() needs */
	VOCAB_PIECES = 0,       /* vocab_piece(), vocab_card(): cheap */
	VOCAB_ENCODE = 1        /* vocab_encode() too: builds the look-up tables */
};

/* Whether the file names a kind of vocabulary that vocab_open() reads. */
int vocab_supported(const struct gguf *g);

/* For a program that runs a model without its vocabulary: -1 if merges that vocab_open() needs are missing or wrong. */
int vocab_check_merges(const struct gguf *g, struct why *w);

/* g stays open and is borrowed until vocab_close(). Names of keys in the reasons are the file's, and so is the path before them. */
struct vocab *vocab_open(const struct gguf *g, int need, struct why *w);
void vocab_close(struct vocab *v);

enum {                          /* flags of vocab_encode() */
	VOCAB_SPECIAL = 1,      /* find control tokens in the text; user-defined ones are always found */
	VOCAB_RAW = 2,          /* keep bytes that are not UTF-8 (see below) */
	VOCAB_CONTINUE = 4      /* the text continues other text: SPM puts no space before it */
};

/* Appends the ids of text[0..n), any bytes, as llama.cpp divides them; no BOS or EOS. Time is near linear in n. -1: no memory, or an SPM vocabulary
 * without byte tokens has no token for some byte (byte-level BPE leaves out what it has no token for).
 * Bytes that are not UTF-8: byte-level BPE turns each into U+FFFD, or with VOCAB_RAW keeps it. SPM keeps them, but a byte that looks like the first
 * of a character takes as many bytes along as such a character has; if a space is one of them, U+2581 comes back in its place. With VOCAB_RAW it
 * does not. */
int vocab_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w);

/* The bytes of one id, borrowed until vocab_close(); *n is their count. Control and unknown tokens print only when special is set, unused
 * ones never. NULL for an id outside the vocabulary. */
const char *vocab_piece(const struct vocab *v, int32_t id, int special, size_t *n);

int32_t vocab_bos(const struct vocab *v);       /* or -1 */
int32_t vocab_eos(const struct vocab *v);       /* or -1 */
int vocab_adds_bos(const struct vocab *v);       /* whether the model asks for BOS before a text */
int vocab_adds_eos(const struct vocab *v);      /* or EOS after it */

/* 1 if vocab_encode() puts a space before text at the start and after each special token (SPM): what gives text back takes it off again. */
int vocab_space_prefix(const struct vocab *v);

/* 1 if text is cut at this id before it is spelled: unknown, control and user-defined ones. 0 for an id outside the vocabulary. */
int vocab_is_special(const struct vocab *v, int32_t id);

/* The card of a stream that this vocabulary starts (model and n_ctx are 0). */
void vocab_card(const struct vocab *v, struct card *card);

#endif
