/* mkvocab: vocabularies for test models, of any size and the same on every machine. Any bytes can be spelled; the
 * longer pieces are first a few pairs of real English, then made-up syllables, each the join of two earlier pieces, so
 * that merging does real work. */
#ifndef MKVOCAB_H
#define MKVOCAB_H

#include <stdint.h>

#include "mkgguf.h"

enum { MKVOCAB_MIN = 259 };     /* every byte and three special tokens */

/* Writes the tokenizer.* pairs. Byte-level BPE: bytes, pieces with their merges, then <|endoftext|> (BOS),
 * <|im_start|>, <|im_end|> (EOS). SPM: <unk>, <s> (BOS), </s> (EOS), <0x00> to <0xFF>, then pieces with falling
 * scores. */
void mkvocab_bpe(struct mkgguf *m, const char *pre, uint32_t n_vocab, uint64_t seed, int add_bos);
void mkvocab_spm(struct mkgguf *m, uint32_t n_vocab, uint64_t seed, int add_bos);

#endif
