/* One printer and one buffer for each sequence, until its line is printed. */
#include "texts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/grow.h"
#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/stream/ids.h"
#include "stops.h"

enum { TEXT_MAX = 1 << 30, PART = 256 };

struct text {
	struct sequence sequence;
	struct printer printer;
	struct bytes bytes;
	uint64_t count;         /* ids drawn by a sampler */
	struct ids given;       /* with json: the ids of its prompt, */
	uint32_t given_at;      /* whose first has this position; */
	struct ids ids;         /* the ids that were drawn, */
	float *logprob;         /* and their log-probabilities, [logprob_room]; NAN: not known */
	size_t logprob_room;
	int scored;             /* some log-probabilities are known */
	uint32_t first;         /* position of the first id, or FRAME_APPEND */
	int own;                /* its stop strings are those of its own options */
	int over;               /* it has ended; its line waits for those before it */
	uint32_t reason;        /* enum frame_reason, or 0 */
	char *by;               /* [n_by] the stop string, or why its options were refused; or NULL */
	size_t n_by;
};

static void put(void *context, const char *s, size_t n)
{
	struct text *x = context;

	bytes_put(&x->bytes, s, n);
}

static void close_text(struct text *x)
{
	printer_close(&x->printer);
	bytes_free(&x->bytes);
	free(x->given.id);
	free(x->ids.id);
	free(x->logprob);
	free(x->by);
	free(x);
}

/* The text of that sequence; starts one if it is new. */
static struct text *text_of(struct texts *t, uint32_t seq, struct why *w)
{
	struct text *x = (struct text *)sequences_find(&t->sequences, seq);

	if (x)
		return x;
	if (!(x = calloc(1, sizeof *x))) {
		why(w, "out of memory");
		return NULL;
	}
	x->bytes.limit = TEXT_MAX;
	if (!printer_fork(&x->printer, &t->printer, w) && !sequences_add(&t->sequences, &x->sequence, seq, w)) {
		x->printer.put = put;
		x->printer.context = x;
		return x;
	}
	close_text(x);
	return NULL;
}

/* ---- what was given, and drawn ---- */

/* Ids of a prompt replace those at their position and after it. */
static int add_given(struct text *x, const int32_t *ids, size_t n, uint32_t pos, struct why *w)
{
	if (!x->given.n)
		x->given_at = pos;
	if (pos != FRAME_APPEND && pos >= x->given_at && pos - x->given_at < x->given.n)
		x->given.n = pos - x->given_at;
	return ids_append(&x->given, ids, n, w);
}

static int add_drawn(struct text *x, int32_t id, uint32_t pos, struct why *w)
{
	if (!x->ids.n)
		x->first = pos;
	if (x->ids.n == x->logprob_room && grow(&x->logprob, &x->logprob_room, sizeof *x->logprob, 256))
		return why(w, "sequence %" PRIu32 ": out of memory", x->sequence.number);
	x->logprob[x->ids.n] = NAN;
	return ids_append(&x->ids, &id, 1, w);
}

/* A row of log-probabilities begins with the id that was drawn. */
static int take_logprob(struct text *x, struct frame_in *in, const struct frame *f, struct why *w)
{
	size_t i = f->pos == FRAME_APPEND || x->first == FRAME_APPEND ? x->ids.n - 1 : (size_t)f->pos - x->first;
	float drawn[2];

	if (f->cols != 2 || !f->rows)
		return 0;
	if (frame_read(in, f, drawn, 2, w))
		return -1;
	if (i < x->ids.n) {
		x->logprob[i] = drawn[1];
		x->scored = 1;
	}
	return 0;
}

static void print_drawn(struct json_writer *j, const struct text *x)
{
	const char *s;
	size_t n;

	member_ints(j, "ids", x->ids.id, x->ids.n);
	member_open(j, "tokens", '[');
	for (size_t i = 0; i < x->ids.n; i++) {
		s = vocab_piece(x->printer.vocab, x->ids.id[i], 1, &n);
		json_string(j, s, n);
	}
	json_close(j, ']');
	if (!x->scored)
		return;
	member_open(j, "logprobs", '[');
	for (size_t i = 0; i < x->ids.n; i++)
		if (isnan(x->logprob[i]))
			json_raw(j, "null");
		else
			json_float(j, (double)x->logprob[i]);
	json_close(j, ']');
}

/* ---- lines ---- */

void texts_line(const char *s, size_t n)
{
	static const char special[] = "\n\r\\", letter[] = "nr\\";
	const char *found;
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(found = memchr(special, s[i], sizeof special - 1)))
			continue;
		out_shown(s + from, i - from);
		out_shown_end();
		out_char('\\');
		out_char(letter[found - special]);
		from = i + 1;
	}
	if (n)
		out_shown(s + from, n - from);
	out_shown_end();
	out_char('\n');
}

static void print_json(const struct text *x)
{
	const char *reason = frame_reason_key(x->reason);
	struct json_writer j = json_to_out();

	json_open(&j, '{');
	member_int(&j, "seq", x->sequence.number);
	if (x->given.n)
		member_ints(&j, "prompt", x->given.id, x->given.n);
	member_bytes(&j, "text", x->bytes.p, x->bytes.n);
	member_int(&j, "count", (int64_t)x->count);
	member_text(&j, "stop_reason", reason);
	if (x->by && x->reason == FRAME_END_STOP)
		member_bytes(&j, "stop", x->by, x->n_by);
	else
		member_null(&j, "stop");
	if (x->by && x->reason == FRAME_END_REFUSED)
		member_bytes(&j, "error", x->by, x->n_by);
	print_drawn(&j, x);
	json_close(&j, '}');
	out_char('\n');
}

/* Prints the line and frees the text. */
static int print(struct texts *t, struct text *x, struct why *w)
{
	uint32_t seq = x->sequence.number;
	int failed = x->bytes.failed;

	if (t->set->json)
		print_json(x);
	else
		texts_line(x->bytes.p, x->bytes.n);
	if (sequences_end(&t->sequences, seq, w))
		return -1;
	t->first_over |= !seq;
	close_text(x);
	return failed ? why(w, "sequence %" PRIu32 ": out of memory for its text", seq) : out_flush(w);
}

/* The text to print next, or NULL. With `ordered`, all before it must have been printed. */
static struct text *due(struct texts *t)
{
	struct text *first = (struct text *)sequences_find(&t->sequences, 0);

	if (first)
		return first->over ? first : NULL;
	t->next += !t->next;
	while (sequences_is_over(&t->sequences, t->next))
		t->next++;
	first = (struct text *)sequences_find(&t->sequences, t->next);
	return first && first->over ? first : NULL;
}

/* Ends a text at pos, by the stop string by[n] or, if its options were refused, for the reason by[n]. */
static int end_text(struct texts *t, struct text *x, enum frame_reason reason, uint32_t pos, const char *by, size_t n,
	struct why *w)
{
	struct frame end = { .kind = FRAME_END, .rows = (uint32_t)n, .cols = 1, .type = n ? FRAME_I8 : FRAME_I32,
		.flags = reason, .seq = x->sequence.number };
	int failed = 0;

	/* its rows must have positions, too */
	end.pos = pos != FRAME_APPEND && n >= FRAME_APPEND - pos ? FRAME_APPEND : pos;
	printer_end(&x->printer);
	x->over = 1;
	x->reason = reason;
	if (n && !(x->by = malloc(n)))
		return why(w, "sequence %" PRIu32 ": out of memory for its stop string", end.seq);
	if (n)
		memcpy(x->by, by, x->n_by = n);
	if (reason == FRAME_END_REFUSED && !t->set->json) {
		t->refused++;
		cli_warn(t->set->c, "sequence %" PRIu32 ": %.*s", end.seq, (int)n, n ? by : "");
	}
	if (t->set->end_fd >= 0 && frame_write(t->set->end_fd, &end, by, w))
		return why_in(w, t->set->end);
	if (!t->set->ordered)
		return print(t, x, w);
	while (!failed && (x = due(t)))
		failed = print(t, x, w);
	return failed;
}

/* ---- frames ---- */

static int add_ids(struct texts *t, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct text *x = text_of(t, f->seq, w);
	int sampled = (f->flags & FRAME_SAMPLED) != 0;
	int32_t ids[PART];
	const char *stop;
	uint32_t i, k, n;
	size_t n_stop;

	if (!x)
		return -1;
	if (f->pos == 0)
		printer_start(&x->printer);
	for (i = 0; i < f->rows && !x->over; i += n) {
		n = f->rows - i < PART ? f->rows - i : PART;
		if (frame_read(in, f, ids, n, w))
			return -1;
		if (!sampled && t->set->json && add_given(x, ids, n, frame_after(f->pos, i), w))
			return -1;
		for (k = 0; k < n; k++) {
			if (card_check_id(ids[k], x->printer.card->n_vocab, w))
				return frame_why(in, w);
			if (!sampled && t->set->generated)
				continue;
			x->count += (uint64_t)sampled;
			if (sampled && t->set->json && add_drawn(x, ids[k], frame_after(f->pos, i + k), w))
				return -1;
			if (!printer_id(&x->printer, ids[k], sampled))
				continue;
			stop = stop_string(x->printer.stop, x->printer.found, &n_stop);
			return end_text(t, x, FRAME_END_STOP, frame_after(f->pos, i + k + 1), stop, n_stop, w);
		}
	}
	return 0;
}

/* Its stop strings; or its end, if they are refused. */
static int take_options(struct texts *t, struct text *x, const struct frame *f, struct why *w)
{
	struct why reason;

	if (stops_change(&x->printer, &t->printer, t->set->c, t->words, f->rows, &reason))
		return end_text(t, x, FRAME_END_REFUSED, FRAME_APPEND, reason.text, strlen(reason.text), w);
	x->own = 1;
	return 0;
}

/* A fork stops where its source would, and has its prompt as far as they share it. */
static int take_fork(struct texts *t, struct frame_in *in, const struct frame *f, struct why *w)
{
	const struct text *from;
	struct text *x;
	uint32_t source;
	size_t shared;

	if (frame_read(in, f, &source, 1, w))
		return -1;
	from = (const struct text *)sequences_find(&t->sequences, source);
	if (!from || (!from->own && !from->given.n))
		return 0;
	if (!(x = text_of(t, f->seq, w)))
		return -1;
	shared = size_min(from->given.n, f->pos - size_min(f->pos, from->given_at));
	x->given_at = from->given_at;
	if (ids_append(&x->given, from->given.id, shared, w))
		return -1;
	x->own = from->own;
	return x->own ? stops_copy(&x->printer, &from->printer, w) : 0;
}

int texts_frame(struct texts *t, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct text *x = (struct text *)sequences_find(&t->sequences, f->seq);

	if (sequences_is_over(&t->sequences, f->seq) || f->seq == FRAME_NO_SEQ || (x && x->over))
		return 0;
	if (f->kind == FRAME_IDS)
		return !t->set->generated || t->set->json || f->flags & FRAME_SAMPLED ? add_ids(t, in, f, w) : 0;
	if (f->kind == FRAME_LOGPROBS)
		return t->set->json && x && x->ids.n ? take_logprob(x, in, f, w) : 0;
	if (f->kind == FRAME_FORK)
		return take_fork(t, in, f, w);
	/* sequence 0 may end twice */
	if ((f->kind != FRAME_END && f->kind != FRAME_OPTS) || (!x && !f->seq && t->first_over))
		return 0;
	if ((!x && !(x = text_of(t, f->seq, w))) || frame_read_all(in, f, &t->words, &t->room, w))
		return -1;
	return f->kind == FRAME_OPTS ? take_options(t, x, f, w)
		: end_text(t, x, (enum frame_reason)f->flags, f->pos, t->words, f->rows, w);
}

int texts_end(struct texts *t, struct why *w)
{
	struct sequence **all = sequences_all(&t->sequences, w);
	size_t n = t->sequences.n;
	int failed = all ? 0 : -1;
	struct sequence *s;

	for (size_t i = 0; i < n && !failed; i++) {
		struct text *x = (struct text *)all[i];

		printer_end(&x->printer);
		failed = print(t, x, w);
	}
	free(all);
	while ((s = sequences_take(&t->sequences)))
		close_text((struct text *)s);
	free(t->words);
	return failed;
}
