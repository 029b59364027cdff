/* What fwd gets at the end of a sequence with a named segment: the last ids, an `end ` frame, and the marker, which it
 * does not pass on before it has handled the others. */
#include "release.h"

#include <stdlib.h>
#include <string.h>

/* Sends the drawn ids that fwd has not evaluated: the last, unless it is the end of the generation or has no room. */
static int send_last(struct loop *l, struct live *s, struct why *w)
{
	size_t sent = s->valid - s->base, n = s->ids.n - sent;

	if (!s->drawn || s->canvas || !n || !s->limit || card_is_eog(&l->card, s->ids.id[s->ids.n - 1])
	    || (l->card.n_ctx && s->base + s->ids.n > (size_t)l->card.n_ctx))
		return 0;
	if (live_send(l, s, s->ids.id + sent, n, s->valid, FRAME_SAMPLED, w))
		return -1;
	s->valid += (uint32_t)n;
	s->held = s->valid;
	return 0;
}

static int has_failed(uint32_t reason)
{
	return reason == FRAME_END_REFUSED || reason == FRAME_END_ERROR;
}

int release_note(struct live *s, uint32_t reason, const char *text, size_t n, struct why *w)
{
	if (s->end && !has_failed(reason))
		return 0;
	free(s->text);
	s->end = reason;
	s->n_text = n;
	if (!(s->text = malloc(n + 1)))
		return why(w, "out of memory");
	memcpy(s->text, n ? text : "", n);
	return 0;
}

int release_begin(struct loop *l, struct live *s, uint32_t reason, const char *text, size_t n, struct why *w)
{
	if (release_note(s, reason, text, n, w) || (!has_failed(reason) && send_last(l, s, w))
	    || live_over(l, s, w))
		return -1;
	s->evaluating = reason == FRAME_END_INTERRUPT && !s->drawn;
	return s->evaluating ? 0 : release_end(l, s, w);
}

int release_end(struct loop *l, struct live *s, struct why *w)
{
	struct frame f = { .kind = FRAME_END, .cols = 1, .type = FRAME_I32, .pos = s->valid,
		.seq = s->sequence.number };

	s->evaluating = 0;
	if (has_failed(s->end)) {
		f.pos = (uint32_t)s->kept;
		if (live_send(l, s, NULL, 0, f.pos, FRAME_SAMPLED, w))
			return -1;
	}
	if (live_number(l, &s->marker, w) || queue_put(&l->to_out, l->out, &f, NULL, w))
		return -1;
	f.seq = s->marker;
	l->releasing++;
	return queue_put(&l->to_out, l->out, &f, NULL, w);
}

int release_marked(struct loop *l, uint32_t number, struct why *w)
{
	struct sequence **all;
	struct live *s = NULL;
	int failed;

	if (!l->releasing || !number)
		return 0;
	if (!(all = sequences_all(&l->live, w)))
		return -1;
	for (size_t i = 0; i < l->live.n && !s; i++)
		if (((struct live *)all[i])->marker == number)
			s = (struct live *)all[i];
	free(all);
	if (!s)
		return 0;
	l->releasing--;
	failed = l->calls->over(s->owner, s->end, s->text, s->n_text, w);
	return failed || live_end(l, s, w) ? -1 : 0;
}
