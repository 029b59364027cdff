/* output: what sample writes. Frames of drawn ids wait in memory while other frames can be read, so that the stages
 * after this one wake up once for the ids of many sequences. Whatever else is written comes after output_flush(). */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "session.h"

/* Writes id[n] of a sequence, the first for pos, now or with the next flush. 0 or -1. */
int output_ids(struct session *s, const int32_t *id, size_t n, uint32_t pos, uint32_t seq, struct why *w);

/* Writes the frames that wait. 0 or -1. */
int output_flush(struct session *s, struct why *w);

/* The same before a read that would wait. */
int output_before_read(struct session *s, struct why *w);

#endif
