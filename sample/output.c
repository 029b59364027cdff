/* A sequence alone does not wait: its logits come after its id. */
#include "output.h"

#include "lib/base/io.h"
#include "lib/stream/frame.h"

enum { MOST = 4096 };           /* bytes that wait */

int output_ids(struct session *s, const int32_t *id, size_t n, uint32_t pos, uint32_t seq, struct why *w)
{
	const struct frame f = { .kind = FRAME_IDS, .rows = (uint32_t)n, .cols = 1, .type = FRAME_I32,
		.flags = FRAME_SAMPLED, .pos = pos, .seq = seq };

	if (s->sequences.n > 1 && !s->card.diffusion) {
		s->waiting.limit = SIZE_MAX;
		if (frame_append(&s->waiting, &f, id))
			return why(w, "out of memory");
		return s->waiting.n < MOST ? 0 : output_flush(s, w);
	}
	return output_flush(s, w) || frame_write(1, &f, id, w) ? -1 : 0;
}

int output_flush(struct session *s, struct why *w)
{
	size_t n = s->waiting.n;

	s->waiting.n = 0;
	return n ? io_write(1, s->waiting.p, n, w) : 0;
}

int output_before_read(struct session *s, struct why *w)
{
	const struct frame_in *in = &s->in;
	int ready;

	if (!s->waiting.n)
		return 0;
	/* what is left of the last frame, as after a guess that was wrong, does not tell whether another comes */
	ready = in->have - in->used >= in->left + FRAME_HEADER || (!in->left && io_readable(in->fd, 0));
	return ready ? 0 : output_flush(s, w);
}
