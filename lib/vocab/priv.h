/* priv: what the files of the vocabulary share. Private to lib/vocab. */
#ifndef VOCAB_PRIV_H
#define VOCAB_PRIV_H

#include "names.h"
#include "pretok.h"
#include "vocab.h"

enum vocab_type {               /* of a token, as in tokenizer.ggml.token_type; 0: none that is known, prints nothing */
	VOCAB_NORMAL = 1, VOCAB_UNKNOWN, VOCAB_CONTROL, VOCAB_USER, VOCAB_UNUSED, VOCAB_BYTE
};

/* ---- merge.c: joining neighbours, the best pair first ---- */

struct merge_pair {
	uint32_t cost, left;            /* joins first what costs least, of equals the leftmost */
	uint32_t size;                  /* bytes of both: tells a stale pair */
	int32_t id;                     /* of the token that they make, or -1 */
};

struct merge_waiting {                  /* a pair in a row of pairs of equal cost, by rising left */
	uint32_t left, size;
	int32_t id;
	uint32_t next;                  /* in the row, or among the free ones; MERGE_NONE: the last */
};

struct merge_row {
	uint32_t cost, left, first;     /* left: of the first one */
};

struct merge_end {
	uint32_t cost, last;            /* the last pair of a row; MERGE_NONE: no row is known */
};

struct merge_memo {
	uint32_t left, right;           /* ids plus one; 0: free */
	uint32_t cost;
	int32_t id;                     /* or MERGE_NOT */
};

#define MERGE_NONE UINT32_MAX

enum { MERGE_NOT = -2, MERGE_MEMOS = 1 << 14, MERGE_ENDS = 1 << 10 };

struct merge {
	uint32_t *end;                  /* of the symbol that starts at this byte; 0: none does */
	uint32_t *before;               /* start of the symbol before the one that starts here */
	int32_t *id;                    /* its token, or -1 */
	size_t room;
	struct merge_waiting *waiting;
	uint32_t free;                  /* the first free one, or MERGE_NONE: those from `used` on */
	size_t used, waiting_room;
	struct merge_row *rows;         /* a heap */
	size_t n_rows, rows_room;
	struct merge_end *ends;         /* [MERGE_ENDS] by cost: where a pair may be put behind others */
	struct merge_memo *memo;        /* [MERGE_MEMOS]: pairs that were looked up before */
};

/* Whether s[0..left) and s[left..n) can be joined: 0, with the pair's cost and id; otherwise -1. It depends on their texts alone. */
typedef int merge_join(const struct vocab *v, const unsigned char *s, size_t left, size_t n, struct merge_pair *pair);

/* Cuts s[n] into characters by their first bytes and joins them until nothing can be. The symbols are then s[i..m->end[i]), with m->id[i], from
 * i = 0 on. */
int merge_run(struct merge *m, const struct vocab *v, merge_join *join, const unsigned char *s, size_t n, struct why *w);
void merge_free(struct merge *m);

/* ---- special.c: tokens that are found in raw text ---- */

struct special {
	struct gguf_string text;
	int32_t id;
	uint32_t met;                   /* number of the last cluster it occurred in */
};

struct special_set {                    /* the tokens that are looked for */
	struct special *by_text;        /* ascending */
	uint32_t n;
	uint32_t from[257];             /* those that begin with byte b: by_text[from[b]..from[b + 1]) */
};

struct stretch {
	size_t at, n;
	int32_t id;                     /* or -1: raw text */
};

struct stretches {
	struct stretch *p;
	size_t n, room;
};

struct special_cut {                    /* working memory */
	struct stretches found, spare;
	struct special **met;
	uint32_t n_met, cluster;
	size_t met_room;
};

/* The next special token at or after `from` and the others that touch it are put into v->work->cut.found, in their order, with the raw text
 * between them. *end is where the search goes on. 1, 0 when there is none, -1 when memory runs out. */
int special_next(const struct vocab *v, int all, const char *text, size_t n, size_t from, size_t *end);

/* Makes both sets. */
int special_open(struct vocab *v, struct why *w);
void special_close(struct vocab *v);

/* White space after it is dropped. */
int special_swallows(const struct vocab *v, int32_t id);

/* ---- known.c: tokens known by their text ---- */

/* Puts right the types of tokens that have one because of their text, and fills v->card's end-of-generation ids. */
int known_open(struct vocab *v, struct why *w);

/* ---- words.c: words that were met before ---- */

enum { WORD_BYTES = 30, WORD_IDS = 8, WORDS = 1 << 13 };

struct word {
	unsigned char n, n_ids;         /* n 0: free */
	char s[WORD_BYTES];
	int32_t id[WORD_IDS];
};

/* The ids of s[n] if they are remembered: 1 and appended, else 0; -1 when memory runs out. */
int words_recall(const struct vocab *v, const char *s, size_t n, struct ids *out);
/* Remembers that s[n] gave the ids from `from` on. */
void words_keep(const struct vocab *v, const char *s, size_t n, const struct ids *ids, size_t from);

/* ---- the vocabulary ---- */

struct vocab_work {             /* changes while encoding */
	struct merge merge;
	struct special_set specials[2]; /* user-defined ones; all */
	struct special_cut cut;
	int covers_all;         /* every token and merge can be looked up; otherwise those whose first and last byte are marked in covers */
	unsigned char covers[256];
	struct names merges;    /* BPE; opened when the first word has to be merged */
	int knows_joins;        /* SPM: joins is filled: last bytes of characters that some token has before a space */
	unsigned char joins[256];
	char *line;             /* one merge, as the file spells it */
	char *text;             /* a stretch of text, repaired or escaped; a word in BPE's spelling */
	char *spelt;
	size_t text_room, spelt_room;
	struct word *words;     /* [WORDS] */
};

struct vocab {
	const struct gguf *g;
	int spm;                                /* else BPE */
	const struct pretok *pretok;            /* BPE */
	const struct gguf_value *merges;        /* BPE */
	const unsigned char *scores;            /* SPM: F32 as in the file, or NULL */
	int32_t bos, eos;
	int add_bos, add_eos, space_prefix, phi3;
	struct names tokens;
	unsigned char *type;                    /* [n] enum vocab_type */
	struct card card;
	char *pieces;                           /* what vocab_piece() spells, each where its text is in the file's array */
	int32_t byte_id[256];                   /* SPM: or -1 */
	struct vocab_work *work;
};

/* Makes *p hold at least n bytes; what was there may go. */
int vocab_room(char **p, size_t *room, size_t n);

/* Marks the bytes that tokens spelling text[n] can begin and end with. */
void spm_mark(const char *text, size_t n, unsigned char bytes[256]);
void bpe_mark(const char *text, size_t n, unsigned char bytes[256]);

/* Finds the tokens that stand for bytes. */
void spm_open(struct vocab *v);

/* 0x41 for "<0x41>", else -1. */
int vocab_byte(struct gguf_string s);

int spm_encode(struct vocab *v, const char *text, size_t n, int prefix, struct ids *out, struct why *w);

int bpe_encode(struct vocab *v, const char *text, size_t n, int raw, struct ids *out, struct why *w);

/* The bytes that a byte-level BPE text stands for; out has room for n. A character that stands for none is copied. */
size_t bpe_spell(const char *text, size_t n, char *out);

#endif
