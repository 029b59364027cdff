/* pieces: the text of the ids, from the vocabulary of the model file that -m names. */
#ifndef PIECES_H
#define PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/vocab/vocab.h"

struct pieces;

/* Borrows the path. NULL: the file cannot be read or has no vocabulary. */
struct pieces *pieces_open(const char *path, struct why *w);
void pieces_close(struct pieces *p);

const struct vocab *pieces_vocab(const struct pieces *p);

/* Whether the stream has this vocabulary; -1 names both sides. */
int pieces_agree(const struct pieces *p, const struct card *card, struct why *w);

/* The bytes of an id; the context is the struct pieces. Of control tokens the first returns their names, the second
 * nothing. */
const char *pieces_shown(const void *pieces, int32_t id, size_t *n);
const char *pieces_printed(const void *pieces, int32_t id, size_t *n);

#endif
