/* encoder: the kinds of vocabulary, and what they encode with. Private to lib/vocab. */
#ifndef ENCODER_H
#define ENCODER_H

#include "lib/stream/ids.h"
#include "merge.h"
#include "names.h"
#include "prefixes.h"
#include "pretok.h"
#include "ranks.h"
#include "special.h"
#include "vocab.h"

enum vocab_type {               /* as in tokenizer.ggml.token_type; 0: unknown type, prints nothing */
	VOCAB_NORMAL = 1, VOCAB_UNKNOWN, VOCAB_CONTROL, VOCAB_USER, VOCAB_UNUSED, VOCAB_BYTE
};

enum {                          /* flags of a kind */
	KIND_PRETOK = 1,        /* BPE: a pre-tokenizer divides the text; there are merges */
	KIND_BYTES = 2,         /* tokens are text, and those that stand for bytes are spelled <0x41> */
	KIND_PLAIN = 4,         /* the same, and U+2581 stands for a space */
	KIND_NO_ENDS = 8,       /* neither BOS nor EOS is ever added */
	KIND_REPAIRS = 16,      /* reads each byte that is not UTF-8 as U+FFFD */
	KIND_ABOVE = 32,        /* but keeps sequences above U+10FFFF */
	KIND_PRINTS = 64,       /* unused tokens print */
	KIND_SCORES = 128       /* the scores decide how a text is divided */
};

/* A kind of vocabulary. */
struct kind {
	const char *model;      /* tokenizer.ggml.model */
	const char *pre;        /* the pre-tokenizer, whatever the file says; or NULL */
	unsigned flags;
	struct vocab_rules rules;       /* unless the file says otherwise */
	int (*read)(struct vocab *v, struct why *w);    /* reads the keys that only this kind has; or NULL */
	int (*open)(struct vocab *v, struct why *w);    /* prepares the encoder; or NULL */
	/* Marks bytes, other than those of text[n], that tokens of its encoding can consist of; of names, only the
	 * first and the last byte matter. NULL: there are none. */
	void (*mark)(struct vocab *v, const char *text, size_t n, unsigned char bytes[256]);
	/* Indexes the tokens, at least those of marked bytes; NULL: all. */
	int (*index)(struct vocab *v, const unsigned char *only, struct why *w);
	unsigned types;         /* for vocab_index_prefixes(): bits 1 << vocab_given_type() */
	/* Appends the ids of text[n], n > 0, between special tokens. flags: of vocab_encode(); VOCAB_CONTINUE only at
	 * the start of the text. */
	int (*encode)(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w);
	/* For words_add(): appends the ids of the word s[n], n > 0. */
	int (*encode_word)(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w);
	/* Writes the bytes that a normal token stands for, at most token.n; returns how many. NULL: as plain and bytes
	 * say, or GPT-2's alphabet. */
	size_t (*piece)(struct gguf_string token, char *out);
	/* What the text up to `end` begins with, as tokens spell it: *n bytes at *unit, which is in the text, in the
	 * file or in own[4]. Returns how many bytes of the text it stands for, at least 1. NULL: a byte, but
	 * KIND_PLAIN's spaces and KIND_REPAIRS' characters. */
	size_t (*unit)(const struct vocab *v, const char *text, const char *end, char own[4], const char **unit,
		size_t *n);
};

extern const struct kind spm_kind, bpe_kind, gemma4_kind, rwkv_kind, ugm_kind, wpm_kind, plamo2_kind, whitespace_kind,
	dna_kind;

union weight {                          /* of a token, or of a way */
	double score;
	int64_t cost;
};

/* The way to a position in the text. */
struct lattice {
	union weight sum;       /* over the way */
	uint32_t n;             /* bytes of the token on this way that touches the position */
	int32_t id;
};

struct letter {
	char s[4];              /* [n] */
	unsigned n;             /* 1 or 2 */
};

enum { WORDS_AHEAD = 16 };

struct word_ahead {                     /* words_add(): a word whose ids are to be appended */
	const char *s;
	size_t n;
	uint64_t first;                 /* hash_first() */
	struct word *cached;            /* where its ids are or belong; NULL: it is too long */
};

/* What encoding needs: tables, some of them filled at first use, and working memory. */
struct encoder {
	struct merge *merge;
	struct word *words;     /* in word_memory */
	void *word_memory;
	struct word_ahead ahead[WORDS_AHEAD];
	size_t n_ahead;
	struct special_set all, user;   /* special tokens: all kinds; user-defined ones */
	struct special_set given_user;  /* UGM: the user-defined ones, as the file says */
	struct special_search search;
	/* all tokens and merges can be looked up; otherwise those of the bytes that are marked in covers */
	int indexed, covers_all;
	unsigned char covers[256];
	struct pretok_walk walk;        /* BPE */
	struct ranks ranks;     /* BPE; indexed when the first word is merged */
	char *pair;             /* BPE: two symbols of at most pair_longest bytes, as tokens spell them */
	size_t pair_longest, pair_room;
	struct letter letter[256];      /* BPE: how tokens spell a byte */
	int32_t byte_id[256];   /* the token that stands for a byte, or -1 */
	int knows_joins;        /* joins is filled */
	uint32_t joins[65536 / 32];     /* bit 256 · b + c: byte c follows byte b in some token */
	struct prefixes prefixes;       /* kinds without names */
	union weight *weight;   /* UGM and PLaMo 2: [prefixes.n_tokens] */
	size_t weight_room;
	double unknown_score;   /* UGM */
	size_t exact_length;    /* UGM: of text up to which sums of scores are exact */
	char *text;             /* as the tokens spell it: with U+2581 for spaces, or normalized */
	size_t text_room;
	char *repaired;         /* text with its UTF-8 repaired */
	size_t repaired_room;
	char *segment;          /* whitespace: text without white space */
	size_t segment_room;
	char *word;             /* BPE: a word as tokens spell it */
	size_t word_room;
	struct lattice *lattice;        /* UGM and PLaMo 2: [n + 1] */
	size_t lattice_room;
};

struct charsmap {               /* UGM: replacements of characters, in the file */
	const unsigned char *nodes;     /* [n_nodes]: 32-bit numbers */
	const char *texts;              /* each ends with a NUL */
	size_t n_nodes, n_texts;        /* n_texts: bytes */
};

struct vocab {
	const struct gguf *g;
	const struct kind *kind;
	int plain, bytes;                       /* KIND_PLAIN, KIND_BYTES, or for BPE those of the pre-tokenizer */
	const struct pretok *pretok;            /* BPE */
	int lacks_pre;                          /* the default, because the file names none */
	const struct gguf_value *merges;        /* BPE; NULL: none */
	const struct gguf_value *types;         /* 32-bit integers, or NULL: all are normal */
	const struct gguf_value *scores;        /* F32, or NULL */
	struct charsmap charsmap;
	int add_space, merge_spaces;            /* UGM */
	int lowercase, strip_accents;           /* as tokenizer.ggml.normalizer says */
	struct vocab_rules rules;
	int phi3;
	const char *mask;                       /* the token before which white space is dropped, or NULL */
	struct names tokens;
	unsigned char *type;                    /* [n] enum vocab_type, as known_read() corrects it */
	struct card card;
	/* what vocab_piece() returns, each at the offset of its text in the file's array */
	char *pieces;
	struct encoder *encoder;                /* or NULL */
};

static inline struct gguf_string vocab_token(const struct vocab *v, int32_t id)
{
	return names_get(&v->tokens, (uint32_t)id);
}

/* The type of a token as the file says: llama.cpp prepares some encoders before it corrects the types. */
static inline enum vocab_type vocab_given_type(const struct vocab *v, uint32_t id)
{
	uint32_t type = v->types ? le32(v->types->data + 4 * (size_t)id) : VOCAB_NORMAL;

	return type <= VOCAB_BYTE ? (enum vocab_type)type : 0;
}

/* 0 without scores. */
static inline float vocab_score(const struct vocab *v, uint32_t id)
{
	return v->scores ? le_float(v->scores->data + 4 * (size_t)id) : 0;
}

/* ---- vocab.c ---- */

/* The special tokens of these types: bits 1 << enum vocab_type; given: as the file says. *set is zeroes; its tokens are
 * the caller's to free. */
int vocab_open_set(const struct vocab *v, struct special_set *set, unsigned types, int given, struct why *w);

/* A struct kind's index() where tokens of any length are looked for: fills e->prefixes. */
int vocab_index_prefixes(struct vocab *v, const unsigned char *only, struct why *w);

/* The same, and fills e->weight with what `weigh` says of each token. */
int vocab_index_weighted(struct vocab *v, const unsigned char *only,
	union weight (*weigh)(const struct vocab *v, int32_t id), struct why *w);

/* Room in e->lattice for the positions in text[n], whose lengths it holds in 32 bits. */
int vocab_reserve_lattice(struct vocab *v, size_t n, struct why *w);

/* ---- read.c ---- */

/* Fills v, whose g is set, from the file's metadata, and checks all of it. */
int vocab_read(struct vocab *v, struct why *w);

/* ---- keys.c ---- */

/* Reads the id that a key names. Without the key, or if its value is 4294967295, which converters write where there is
 * none, *id keeps the caller's default, which becomes -1 if it is outside the vocabulary. */
int vocab_read_id(const struct vocab *v, const char *key, int32_t *id, struct why *w);

/* Checks the ids, flags and sizes that any program may need, and the name of the architecture. */
int keys_check(const struct vocab *v, struct why *w);

/* ---- merges.c ---- */

/* Reads v->merges of a kind that has a pre-tokenizer, and checks them. */
int merges_read(struct vocab *v, struct why *w);

/* ---- known.c ---- */

/* Corrects the types of tokens that are known by their text, and fills v->card's end-of-generation ids. */
int known_read(struct vocab *v, struct why *w);

/* ---- words.c ---- */

/* The table of words; for vocabularies that are merged, an encoder's `merge` with these rules, too. */
int words_open(struct vocab *v, struct why *w);
int words_open_merged(struct vocab *v, const struct merge_rules *rules, struct why *w);

/* Fills in at first use what words_joined() needs: whether a token, or a merge, may contain s[-1] and s[0]. Where none
 * does, a word ends. */
void words_find_joins(struct vocab *v);
int words_joined(const struct encoder *e, const char *s);

/* Appends the ids of s[n], a part of a text that is merged by itself; those of the last words only at words_flush(),
 * until which s is borrowed. */
int words_add(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w);
int words_flush(struct vocab *v, struct ids *out, struct why *w);

/* Appends the id, or where it is -1 those of the bytes of s[n]. As in llama.cpp, BPE drops a byte that is not a token.
 * context: the vocabulary. */
int words_add_symbol(void *context, int32_t id, const char *s, size_t n, struct ids *out, struct why *w);

/* Appends the unknown token; -1 if there is none. */
int words_add_unknown(const struct vocab *v, struct ids *out, struct why *w);

/* Makes *text, of *n bytes, UTF-8. */
int words_repair(struct vocab *v, const char **text, size_t *n, struct why *w);

/* struct kind's index() where tokens are looked up by their text. */
int words_index(struct vocab *v, const unsigned char *only, struct why *w);

/* ---- plain vocabularies: spm.c ---- */

/* Finds the tokens that stand for bytes. */
void spm_find_bytes(struct vocab *v);

/* Appends the ids of text[n], n > 0. prefix: put a space before it. raw: a byte that is not UTF-8 stays alone. */
int spm_encode(struct vocab *v, const char *text, size_t n, int prefix, int raw, struct ids *out, struct why *w);

void spm_mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256]);
size_t spm_piece(struct gguf_string token, char *out);

/* 0x41 for "<0x41>", else -1. */
int spm_byte(struct gguf_string token);

/* ---- BPE: bpe.c ---- */

int bpe_open(struct vocab *v, struct why *w);

/* Fills an encoder's letters, and the tokens that stand for bytes. */
void bpe_find_bytes(struct vocab *v);

int bpe_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w);

/* Appends the ids of the word s[n], n > 0. */
int bpe_word(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w);

void bpe_mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256]);
size_t bpe_piece(struct gguf_string token, char *out);

#endif
