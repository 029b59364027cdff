/* priv: what the files of lib/vocab share. */
#ifndef VOCAB_PRIV_H
#define VOCAB_PRIV_H

#include "lib/stream/ids.h"
#include "merge.h"
#include "names.h"
#include "pretok.h"
#include "special.h"
#include "vocab.h"

enum vocab_type {               /* as in tokenizer.ggml.token_type; 0: unknown type, prints nothing */
	VOCAB_NORMAL = 1, VOCAB_UNKNOWN, VOCAB_CONTROL, VOCAB_USER, VOCAB_UNUSED, VOCAB_BYTE
};

/* What encoding needs: tables, some of them filled at first use, and working memory. */
struct encoder {
	struct merge *merge;
	struct word *words;
	struct special_set user, all;   /* special tokens: user-defined ones; all kinds */
	struct special_search search;
	struct special_set rwkv;        /* RWKV: all tokens; their bytes are in text */
	/* all tokens and merges can be looked up; otherwise those whose first and last bytes are marked in covers */
	int covers_all;
	unsigned char covers[256];
	struct names merges;    /* BPE; opened when the first word is merged */
	char *line;             /* [merges.longest + 1]: one merge, as the file spells it */
	int32_t byte_id[256];   /* plain: the token that stands for a byte, or -1 */
	int knows_joins;        /* plain: joins is filled: bytes that precede a space in some token */
	unsigned char joins[256];
	char *text;             /* with U+2581 for spaces */
	size_t text_room;
	char *repaired;         /* BPE: text with its UTF-8 repaired */
	size_t repaired_room;
	char *word;             /* BPE: a word in the alphabet of the tokens */
	size_t word_room;
};

struct vocab {
	const struct gguf *g;
	int spm, rwkv;                          /* else BPE */
	int plain;                              /* tokens are spelled as in SPM: also BPE with PRETOK_PLAIN */
	const struct pretok *pretok;            /* BPE */
	const struct gguf_value *merges;        /* BPE */
	const unsigned char *scores;            /* F32 as in the file, or NULL */
	struct vocab_rules rules;
	int phi3;
	const char *mask;                       /* the token before which white space is dropped, or NULL */
	struct names tokens;
	unsigned char *type;                    /* [n] enum vocab_type */
	struct card card;
	/* what vocab_piece() returns, each at the offset of its text in the file's array */
	char *pieces;
	struct encoder *encoder;                /* or NULL */
};

static inline struct gguf_string vocab_token(const struct vocab *v, int32_t id)
{
	return names_get(&v->tokens, (uint32_t)id);
}

/* ---- read.c ---- */

/* Fills v, whose g is set, from the file's metadata, and checks all of it. */
int vocab_read(struct vocab *v, struct why *w);

/* ---- known.c ---- */

/* Corrects the types of tokens that are known by their text, and fills v->card's end-of-generation ids. */
int known_read(struct vocab *v, struct why *w);

/* ---- words.c ---- */

struct word *words_open(void);          /* NULL: no memory; free() closes it */

/* Appends the ids of s[n], a part of a text that is merged by itself. */
int words_encode(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w);

/* Appends the id, or where it is -1 those of the bytes of s[n]. As in llama.cpp, byte-level BPE drops a byte that is
 * not a token. context: the vocabulary. */
int words_add_symbol(void *context, int32_t id, const char *s, size_t n, struct ids *out, struct why *w);

/* ---- spm.c and bpe.c: texts ---- */

/* Finds the tokens that stand for bytes. Plain vocabularies. */
void spm_open(struct vocab *v);

/* Appends the ids of text[n], n > 0. Plain vocabularies. prefix: put a space before it. raw: a byte that
 * is not UTF-8 stays alone. */
int spm_encode(struct vocab *v, const char *text, size_t n, int prefix, int raw, struct ids *out, struct why *w);

/* Appends the ids of text[n], n > 0. raw: bytes that are not UTF-8 are kept. */
int bpe_encode(struct vocab *v, const char *text, size_t n, int raw, struct ids *out, struct why *w);

/* Appends the ids of the word s[n], n > 0. */
int bpe_word(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w);

/* ---- rwkv.c ---- */

/* Indexes the tokens. */
int rwkv_open(struct vocab *v, struct why *w);

/* Appends the ids of text[n]. */
int rwkv_encode(struct vocab *v, const char *text, size_t n, struct ids *out, struct why *w);

/* ---- spm.c and bpe.c ---- */

/* For merge_rules; context: the vocabulary. */
int spm_join(void *context, const char *s, size_t left, size_t n, struct merge_pair *pair);
int bpe_join(void *context, const char *s, size_t left, size_t n, struct merge_pair *pair);

/* Marks the bytes that tokens in the encoding of text[n] can begin or end with. */
void spm_mark(const char *text, size_t n, unsigned char bytes[256]);
void bpe_mark(const char *text, size_t n, unsigned char bytes[256]);
void bpe_mark_plain(const char *text, size_t n, unsigned char bytes[256]);

/* Writes the bytes that the token stands for, at most token.n; returns how many. */
size_t spm_piece(struct gguf_string token, char *out);
size_t bpe_piece(struct gguf_string token, char *out);
size_t rwkv_piece(struct gguf_string token, char *out);

/* 0x41 for "<0x41>", else -1. */
int spm_byte(struct gguf_string token);

#endif
