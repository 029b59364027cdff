/* mkvocab: vocabularies for test models, of any size and the same on every machine. Any bytes can be spelled; the
 * longer pieces are first a few pairs of real English, then made-up syllables, each the join of two earlier pieces, so
 * that merging does real work. */
#ifndef MKVOCAB_H
#define MKVOCAB_H

#include <stdint.h>

#include "mkgguf.h"

enum { MKVOCAB_MIN = 259 };     /* every byte and three special tokens */

/* Write the tokenizer.* pairs. Byte-level BPE: bytes, pieces with their merges, then <|endoftext|> (BOS), <|im_start|>,
 * <|im_end|> (EOS). The others, whose tokens are text: <unk>, <s> (BOS), </s> (EOS), <0x00> to <0xFF>, then pieces with
 * scores or merges. model: llama (SPM), t5, bert, plamo2, rwkv, gemma4, whitespace. */
void mkvocab_bpe(struct mkgguf *m, const char *pre, uint32_t n_vocab, uint64_t seed, int add_bos);
void mkvocab_plain(struct mkgguf *m, const char *model, uint32_t n_vocab, uint64_t seed, int add_bos);

/* Whether mkvocab_plain() knows the model. */
int mkvocab_has(const char *model);

struct mkvocab_rule {
	const char *from, *to;
};

/* Writes UGM's map of characters: at most 64 rules, of different `from`. */
void mkvocab_charsmap(struct mkgguf *m, const struct mkvocab_rule *rules, size_t n);

#endif
