/* vocab: text to ids and ids to bytes, by a GGUF file's tokenizer.* metadata. tokenizer.ggml.model names the kind of
 * vocabulary: SPM ("llama": scores, byte fallback, space prefix); byte-level BPE with the pre-tokenizers of pretok.h
 * ("gpt2"); Gemma 4's BPE ("gemma4"), whose tokens are spelled as in SPM; RWKV's longest tokens ("rwkv"); UGM ("t5":
 * unigrams, the sequence with the highest sum of scores); WPM ("bert": WordPiece); PLaMo 2's unigrams ("plamo2"); BPE
 * of words without their white space ("whitespace"); BPE and sequences of DNA ("hybriddna"). A vocabulary may be used
 * by one thread at a time. */
#ifndef VOCAB_H
#define VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/card.h"
#include "lib/stream/ids.h"

struct vocab;

enum {                          /* what a caller of vocab_open() needs */
	VOCAB_PIECES = 0,       /* vocab_piece(), vocab_card(): cheap */
	VOCAB_ENCODE = 1        /* vocab_encode() too: builds the look-up tables */
};

/* The i-th kind of vocabulary, as tokenizer.ggml.model names it, or NULL past the last. */
const char *vocab_each(size_t i);

/* Whether the file has a kind of vocabulary that vocab_open() supports; a reason if not. */
int vocab_supported(const struct gguf *g, struct why *w);

/* For a program that runs a model without its vocabulary: -1 if that is of a supported kind and damaged. The reason
 * does not begin with the path. */
int vocab_check(const struct gguf *g, struct why *w);

/* Borrows g until vocab_close(). Reasons begin with the path of the file and name the key. */
struct vocab *vocab_open(const struct gguf *g, int need, struct why *w);
void vocab_close(struct vocab *v);     /* NULL is allowed */

/* For who encodes: a line about a default that stands in for a missing key, after the path of the file; or NULL. */
const char *vocab_warning(const struct vocab *v);

enum {                          /* flags of vocab_encode() */
	VOCAB_SPECIAL = 1,      /* find control tokens in the text; user-defined ones are always found */
	VOCAB_RAW = 2,          /* keep bytes that are not UTF-8 (see below) */
	VOCAB_CONTINUE = 4      /* the text continues other text: SPM and UGM put no space before it */
};

/* Appends the ids of text[0..n), any bytes, as llama.cpp encodes them; adds no BOS or EOS. Time is near linear in n.
 * -1: out of memory, or no token for some byte: SPM without byte tokens, RWKV; UGM and WPM without an unknown token
 * (BPE drops such a byte). Bytes that are not UTF-8: BPE and PLaMo 2 replace each by U+FFFD, or keep it with VOCAB_RAW;
 * UGM replaces it, WPM drops it. SPM keeps them, but what looks like the first byte of a character takes the following
 * bytes along; a space among them comes back as U+2581, with VOCAB_RAW as a space. */
int vocab_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w);

/* The bytes of an id, borrowed until vocab_close(); *n is their number. Control and unknown tokens are empty unless
 * special is set, unused ones always. NULL for an id outside the vocabulary. */
const char *vocab_piece(const struct vocab *v, int32_t id, int special, size_t *n);

/* The same in the text of a sequence, without a space that vocab_encode() put before it. *begins: 1 at the start of the
 * sequence; kept by the caller from id to id. */
const char *vocab_text(const struct vocab *v, int32_t id, int special, int *begins, size_t *n);

struct vocab_rules {
	int32_t bos, eos;       /* or -1 */
	int32_t unknown;        /* UGM and WPM: stands for text that has no token; or -1 */
	int add_bos, add_eos;   /* whether the model asks for BOS before a text and for EOS after it */
	/* SPM, UGM, WPM: vocab_encode() puts a space before text at the start and after each special token, which
	 * decoding has to remove */
	int space_prefix;
};

const struct vocab_rules *vocab_rules(const struct vocab *v);

/* A pair of texts, as rerankers take them, is bos, query, eos, sep, document, end; -1 is left out. */
struct vocab_pair {
	int32_t bos, eos, sep, end;
};

/* What the file's flags say about pairs; bos and end are those of a single text. -1: they name no token. */
int vocab_pair(const struct vocab *v, struct vocab_pair *p, struct why *w);

/* 1 for unknown, control and user-defined tokens, which are found in the text before it is encoded. 0 for an id outside
 * the vocabulary. */
int vocab_is_special(const struct vocab *v, int32_t id);

/* The card of a stream of this vocabulary's ids; model and n_ctx are 0. */
void vocab_card(const struct vocab *v, struct card *card);

#endif
