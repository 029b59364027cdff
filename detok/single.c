/* Another text begins after an `end ` frame, or where sampled ids do not follow the last ones. */
#include "single.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/out.h"
#include "lib/base/size.h"
#include "stops.h"
#include "texts.h"

enum { PART = 256 };

/* Passes on the status of a write to --end; the reason of a failure gets the name of the file. */
static int named(const struct single *s, int status, struct why *w)
{
	return status ? why_in(w, s->set->end) : 0;
}

/* Ends the text, because a stop string ended with the id before pos. */
static int stop_here(struct single *s, uint32_t pos, struct why *w)
{
	size_t n;
	const char *text = stop_string(s->printer.stop, s->printer.found, &n);

	s->stopped = 1;
	if (out_flush(w))
		return -1;
	return s->set->end_fd < 0 ? 0 : named(s, frame_write_stop(s->set->end_fd, text, n, pos, s->seq, w), w);
}

/* For --pieces. */
static void print_piece(struct printer *p, int32_t id, int sampled)
{
	size_t n;
	const char *piece = printer_piece(p, id, sampled, &n);

	out_print("%" PRId32 " ", id);
	texts_line(piece, n);
}

/* Prints ids[n], the first at position pos, or FRAME_APPEND. */
static int print_part(struct single *s, const struct frame_in *in, const int32_t *ids, size_t n, int sampled,
	uint32_t pos, struct why *w)
{
	for (size_t i = 0; i < n && !s->stopped; i++) {
		if (card_check_id(ids[i], s->printer.card->n_vocab, w))
			return frame_why(in, w);
		if (s->set->pieces)
			print_piece(&s->printer, ids[i], sampled);
		else if (printer_id(&s->printer, ids[i], sampled)
		    && stop_here(s, frame_after(pos, i + 1), w))
			return -1;
	}
	return 0;
}

static int take_ids(struct single *s, struct frame_in *in, const struct frame *f, struct why *w)
{
	int sampled = (f->flags & FRAME_SAMPLED) != 0;
	int32_t ids[PART];
	uint32_t n;

	if (s->open && f->seq != s->seq)
		return why(w, "%s: frame %" PRIu64 ": sequence %" PRIu32 " before the end of sequence %" PRIu32
			": --lines prints several", in->name, in->number, f->seq, s->seq);
	if (f->pos == 0)
		printer_start(&s->printer);
	s->open = 1;
	s->seq = f->seq;
	for (uint32_t i = 0; i < f->rows && !s->stopped; i += n) {
		n = (uint32_t)size_min(f->rows - i, PART);
		if (frame_read(in, f, ids, n, w)
		    || print_part(s, in, ids, n, sampled, frame_after(f->pos, i), w))
			return -1;
	}
	return out_flush(w);
}

/* The generation is over. */
static int end_text(struct single *s, struct why *w)
{
	printer_end(&s->printer);
	out_shown_end();
	out_text(s->set->suffix);
	s->stopped = s->open = 0;
	s->next = 0;
	return out_flush(w);
}

/* Handles sampled ids that do not continue the text: they begin another one. */
static int follow(struct single *s, const struct frame *f, struct why *w)
{
	if (s->next && f->pos != FRAME_APPEND && f->pos != s->next && end_text(s, w))
		return -1;
	s->next = f->pos == FRAME_APPEND ? 0 : f->pos + f->rows;
	return 0;
}

/* The options of the sequence were refused, for the reason text[n]. */
static void refuse(struct single *s, uint32_t seq, const char *text, size_t n)
{
	cli_warn(s->set->c, "sequence %" PRIu32 ": %.*s", seq, (int)n, text);
	s->refused++;
}

static int take_options(struct single *s, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct why reason;
	char *words = NULL;
	size_t room = 0;
	int failed = frame_read_all(in, f, &words, &room, w);

	if (!failed) {
		s->own = !stops_change(&s->printer, s->line, s->set->c, words, f->rows, &reason);
		if (!s->own)
			refuse(s, f->seq, reason.text, strlen(reason.text));
		s->stopped = !s->own;
	}
	free(words);
	return failed;
}

/* Ends the text, and tells --end why. */
static int take_end(struct single *s, struct frame_in *in, const struct frame *f, struct why *w)
{
	char text[FRAME_STOP_MAX];
	int stopped = s->stopped;

	if (end_text(s, w) || (s->own && f->seq && stops_change(&s->printer, s->line, s->set->c, "", 0, w))
	    || frame_read(in, f, text, f->rows, w)
	    || (!stopped && s->set->end_fd >= 0 && named(s, frame_write(s->set->end_fd, f, text, w), w)))
		return -1;
	if (!stopped && f->flags == FRAME_END_REFUSED)
		refuse(s, f->seq, text, f->rows);
	return 0;
}

int single_frame(struct single *s, struct frame_in *in, const struct frame *f, struct why *w)
{
	int sampled = f->flags & FRAME_SAMPLED;

	if (f->kind == FRAME_OPTS)
		return take_options(s, in, f, w);
	if (f->kind == FRAME_END)
		return f->seq != FRAME_NO_SEQ ? take_end(s, in, f, w) : 0;
	if (f->kind != FRAME_IDS)
		return 0;
	if (sampled && follow(s, f, w))
		return -1;
	return !s->stopped && (sampled || !s->set->generated) ? take_ids(s, in, f, w) : 0;
}

int single_end(struct single *s, struct why *w)
{
	printer_end(&s->printer);
	out_shown_end();
	if (s->open)
		out_text(s->set->suffix);
	printer_close(&s->printer);
	return out_flush(w);
}
