/* text: what ids spell. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/stream/stop.h"
#include "lib/vocab/vocab.h"

/* Appends the bytes of ids[n] to out, as detok prints them: as far as the first of the stop strings, if there are any (stop may be NULL). What is not
 * UTF-8 stays. out->failed tells of a text too long. */
void text_of(const struct vocab *v, struct stop *stop, int special, const int32_t *ids, size_t n, struct bytes *out);

#endif
