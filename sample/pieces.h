/* pieces: the text of the ids, from the vocabulary of the model file that -m names. */
#ifndef PIECES_H
#define PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/vocab/vocab.h"

struct token_pieces;

/* Borrows the path. NULL: the file cannot be read or has no vocabulary. */
struct token_pieces *pieces_open(const char *path, struct why *w);
void pieces_close(struct token_pieces *p);

/* Owned by p. pieces_encoder(): one that can encode, opened at the first call; NULL with a reason. */
const struct vocab *pieces_vocab(const struct token_pieces *p);
struct vocab *pieces_encoder(struct token_pieces *p, struct why *w);

/* Whether the stream has this vocabulary; -1 names both sides. */
int pieces_agree(const struct token_pieces *p, const struct card *card, struct why *w);

/* The bytes of an id; the context is the struct token_pieces. Of control tokens the first returns their names, the
 * second nothing. */
const char *pieces_shown(const void *pieces, int32_t id, size_t *n);
const char *pieces_printed(const void *pieces, int32_t id, size_t *n);

/* How many ids there are. */
int32_t pieces_count(const struct token_pieces *p);

/* The id that is shown as text[n]: a control or user-defined token before others, then the lowest; or -1. */
int32_t pieces_find(const void *pieces, const char *text, size_t n);

#endif
