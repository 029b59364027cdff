/* priv: the vocabulary itself, and what its files share. Private to lib/vocab. */
#ifndef VOCAB_PRIV_H
#define VOCAB_PRIV_H

#include "ids.h"
#include "merge.h"
#include "names.h"
#include "pretok.h"
#include "special.h"
#include "vocab.h"
#include "word_cache.h"

enum vocab_type {               /* of a token, as in tokenizer.ggml.token_type; 0: none that is known, prints nothing */
	VOCAB_NORMAL = 1, VOCAB_UNKNOWN, VOCAB_CONTROL, VOCAB_USER, VOCAB_UNUSED, VOCAB_BYTE
};

/* What encoding needs: tables, some of them made when they are first used, and working memory. */
struct encoder {
	struct merge *merge;
	struct word_cache *cache;
	struct special_set user, all;   /* special tokens: user-defined ones; all kinds */
	struct special_search search;
	int covers_all;         /* every token and merge can be looked up; otherwise those whose first and last byte are marked in covers */
	unsigned char covers[256];
	struct names merges;    /* BPE; opened when the first word has to be merged */
	char *line;             /* [merges.longest + 1]: one merge, as the file spells it */
	int32_t byte_id[256];   /* SPM: the token that stands for a byte, or -1 */
	int knows_joins;        /* SPM: joins is filled: last bytes of characters that some token has before a space */
	unsigned char joins[256];
	char *text;             /* BPE: text with its UTF-8 repaired; SPM: with U+2581 for spaces */
	size_t text_room;
	char *word;             /* BPE: a whole word in the alphabet of the tokens */
	size_t word_room;
};

struct vocab {
	const struct gguf *g;
	int spm;                                /* else BPE */
	const struct pretok *pretok;            /* BPE */
	const struct gguf_value *merges;        /* BPE */
	const unsigned char *scores;            /* F32 as in the file, or NULL */
	int32_t bos, eos;
	int add_bos, add_eos, space_prefix, phi3;
	struct names tokens;
	unsigned char *type;                    /* [n] enum vocab_type */
	struct card card;
	char *pieces;                           /* what vocab_piece() spells, each where its text is in the file's array */
	struct encoder *encoder;                /* or NULL */
};

/* ---- read.c ---- */

/* Fills v, whose g is set, from the file's metadata, all of which is checked. */
int vocab_read(struct vocab *v, struct why *w);

/* ---- known.c ---- */

/* Corrects the types of tokens that are known by their text, and fills v->card's end-of-generation ids. */
int known_read(struct vocab *v, struct why *w);

/* ---- spm.c and bpe.c: the two kinds ---- */

/* Finds the tokens that stand for bytes. */
void spm_open(struct vocab *v);

/* Appends the ids of text[n], n > 0. prefix: put a space before it. raw: bytes that are not UTF-8 take nothing that follows them along. */
int spm_encode(struct vocab *v, const char *text, size_t n, int prefix, int raw, struct ids *out, struct why *w);

/* Appends the ids of text[n], n > 0. raw: bytes that are not UTF-8 are kept. */
int bpe_encode(struct vocab *v, const char *text, size_t n, int raw, struct ids *out, struct why *w);

/* Marks the bytes that tokens spelling text[n] can begin and end with. */
void spm_mark(const char *text, size_t n, unsigned char bytes[256]);
void bpe_mark(const char *text, size_t n, unsigned char bytes[256]);

/* The bytes that a token of this text stands for, at most as many as it has; returns how many. */
size_t spm_piece(struct gguf_string token, char *out);
size_t bpe_piece(struct gguf_string token, char *out);

/* 0x41 for "<0x41>", else -1. */
int spm_byte(struct gguf_string token);

#endif
