/* The frames of a stream, one after the other, as lines or CSV. */
#include "listing.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/fmath.h"
#include "lib/base/out.h"
#include "lib/base/quote.h"
#include "lib/base/size.h"
#include "lib/sampler/topk.h"

/* ---- fields ---- */

/* The piece of an id on one line, in double quotes; special ids have no quotes except in CSV. */
static void put_piece(const struct listing *l, int32_t id)
{
	char out[QUOTE_ROOM];
	size_t n, i;
	unsigned used;
	const char *s = vocab_piece(l->vocab, id, 1, &n);
	int quoted = l->format == LISTING_CSV || !vocab_is_special(l->vocab, id);
	char quote = l->format == LISTING_CSV ? '"' : quoted ? '\\' : 0;

	if (quoted)
		out_char('"');
	for (i = 0; i < n; i += used)
		out_bytes(out, quote_next(s + i, n - i, quote, out, &used));
	if (quoted)
		out_char('"');
}

/* The position of a row of the frame, as the first column. */
static void put_position(const struct listing *l, uint32_t row)
{
	if (l->f.pos == FRAME_APPEND)
		out_print("%11s", "-");
	else
		out_print("%11" PRIu32, l->f.pos + row);
}

static void put_kind(uint32_t kind, int padded)
{
	for (int i = 0; i < 32 && (padded || kind >> i != ' '); i += 8)
		out_char((char)(kind >> i & 255));
}

/* "logi  at 12" */
static void put_head(const struct frame *f)
{
	put_kind(f->kind, 1);
	if (f->pos == FRAME_APPEND)
		out_print("  appended");
	else
		out_print("  at %" PRIu32, f->pos);
	if (f->seq == FRAME_NO_SEQ)
		out_text(", no more sequences");
	else if (f->seq)
		out_print(", sequence %" PRIu32, f->seq);
}

/* The first fields of a CSV line, up to the row; missing values are empty. */
static void put_csv(const struct listing *l, uint32_t row)
{
	out_print("%" PRIu64 ",", l->in.number);
	put_kind(l->f.kind, 0);
	if (l->f.flags && l->f.kind == FRAME_LOGITS)
		out_print(" %" PRIu32, l->f.flags);
	out_print(",%" PRIu32 ",", l->f.seq);
	if (l->f.pos != FRAME_APPEND)
		out_print("%" PRIu32, l->f.pos + row);
	out_print(",%" PRIu32 ",", row);
}

/* The end of a line about an id. */
static void put_text(const struct listing *l, int32_t id)
{
	if (l->format == LISTING_CSV)
		out_char(',');
	else if (l->vocab)
		out_text("  ");
	if (l->vocab)
		put_piece(l, id);
	out_char('\n');
}

/* ---- frames ---- */

static void put_rows(const struct listing *l)
{
	put_head(&l->f);
	if (l->f.flags && l->f.kind == FRAME_LOGITS)
		out_print(", after %" PRIu32 " %s", l->f.flags, l->f.flags == 1 ? "layer" : "layers");
	out_print(": %" PRIu32 " %s of %" PRIu32 "\n", l->f.rows, l->f.rows == 1 ? "row" : "rows", l->f.cols);
}

static int read_elements(struct listing *l, void *to, size_t n, struct why *w)
{
	return frame_read(&l->in, &l->f, to, n, w) < 0 ? -1 : 0;
}

static int show_card(struct listing *l, struct why *w)
{
	struct card card;

	if (card_read(&l->in, &l->f, &card, w) < 0)
		return -1;
	if (l->vocab && card_agree(&card, l->in.name, &l->mine, "the model", w) < 0)
		return -1;
	if (l->format == LISTING_CSV) {
		put_csv(l, 0);
		out_print(",%" PRId32 ",,,\"vocabulary %016" PRIx64 " model %016" PRIx64 "\"\n", card.n_vocab,
			card.vocab, card.model);
		return 0;
	}
	out_print("card  %" PRId32 " ids, vocabulary %016" PRIx64 "\n      BOS ", card.n_vocab, card.vocab);
	out_print(card.bos < 0 ? "none" : "%" PRId32, card.bos);
	out_print(", end of generation");
	for (int32_t i = 0; i < card.n_eog; i++)
		out_print(" %" PRId32, card.eog[i]);
	out_print(card.n_eog ? "\n" : " none\n");
	if (card.model)
		out_print("      model %016" PRIx64, card.model);
	if (card.n_ctx)
		out_print("%scontext %" PRId32, card.model ? ", " : "      ", card.n_ctx);
	if (card.model || card.n_ctx)
		out_char('\n');
	return 0;
}

static int check_id(const struct listing *l, int32_t id, struct why *w)
{
	return l->vocab && card_check_id(id, l->mine.n_vocab, w) ? frame_why(&l->in, w) : 0;
}

static void show_id(const struct listing *l, uint32_t row, int32_t id)
{
	if (l->format == LISTING_IDS) {
		out_print("%" PRId32 "\n", id);
		return;
	}
	if (l->format == LISTING_CSV) {
		put_csv(l, row);
		out_print(",%" PRId32 ",,", id);
	} else {
		put_position(l, row);
		out_print("  %8" PRId32, id);
	}
	put_text(l, id);
}

static int show_ids(struct listing *l, struct why *w)
{
	int32_t ids[256];

	if (l->format == LISTING_LINES) {
		put_head(&l->f);
		out_print(": %" PRIu32 " %s\n", l->f.rows, l->f.flags & FRAME_GUESS ? "sampled, with guesses" :
			l->f.flags & FRAME_SAMPLED ? "sampled" : "given");
	}
	for (uint32_t i = 0; i < l->f.rows; i++) {
		if (i % 256 == 0 && read_elements(l, ids, size_min(l->f.rows - i, 256), w) < 0)
			return -1;
		if (check_id(l, ids[i % 256], w) < 0)
			return -1;
		show_id(l, i, ids[i % 256]);
	}
	return 0;
}

static int need_room(struct listing *l, size_t n, struct why *w)
{
	if (n <= l->room)
		return 0;
	listing_close(l);
	l->row = malloc(n * sizeof *l->row);
	l->p = malloc(n * sizeof *l->p);
	l->scratch = malloc(TOPK_SCRATCH(n) * sizeof *l->scratch);
	if (!l->row || !l->p || !l->scratch) {
		why(w, "no memory for rows of %zu", n);
		return frame_why(&l->in, w);
	}
	l->room = n;
	return 0;
}

/* Makes the row of logits one that can be sorted; returns how many of them were NaN. */
static size_t remove_nan(float *row, size_t n)
{
	size_t n_nan = 0;

	for (size_t i = 0; i < n; i++)
		if (isnan(row[i])) {
			row[i] = -INFINITY;
			n_nan++;
		} else if (row[i] > FLT_MAX) {
			row[i] = FLT_MAX;
		}
	return n_nan;
}

/* A line for one candidate or drawn id. score: its logit, or the logarithm of its probability. */
static void show_choice(const struct listing *l, uint32_t row, size_t rank, int32_t id, float score, double p,
	int first)
{
	if (l->format == LISTING_CSV) {
		put_csv(l, row);
		if (rank)
			out_print("%zu", rank);
		out_print(",%" PRId32 ",", id);
		if (l->f.kind == FRAME_LOGITS)
			out_print("%.9g", score);
		out_print(",%.9g", p);
	} else {
		if (first)
			put_position(l, row);
		else
			out_print("%11s", "");
		out_print(fabsf(score) < 1e5f ? "  %8" PRId32 "  %8.3f  %10.4f" : "  %8" PRId32 "  %8.3f  %10.3g", id,
			100 * p, score);
	}
	put_text(l, id);
}

/* The best of the row of logits that was read. */
static int show_best(struct listing *l, uint32_t row, struct why *w)
{
	const size_t n = l->f.cols, n_nan = remove_nan(l->row, n),
		best = topk_sorted(l->row, n, l->top, l->at, l->scratch);
	const double sum = best ? fmath_softmax(l->row, l->row[l->at[0]], l->p, n) : 1;

	for (size_t i = 0; i < best; i++) {
		const int32_t id = l->at[i];

		if (check_id(l, id, w) < 0)
			return -1;
		show_choice(l, row, i + 1, id, l->row[id], l->p[id] / sum, !i);
	}
	if (n_nan && l->format == LISTING_LINES)
		out_print("%11s  NaN: %zu\n", "", n_nan);
	return 0;
}

static int show_logits(struct listing *l, struct why *w)
{
	if (l->format == LISTING_LINES) {
		put_rows(l);
		out_print("      after        id   percent       logit%s\n", l->vocab ? "  piece" : "");
	}
	if (need_room(l, l->f.cols, w) < 0)
		return -1;
	for (uint32_t row = 0; row < l->f.rows; row++)
		if (frame_read_floats(&l->in, &l->f, l->row, l->f.cols, w) < 0 || show_best(l, row, w) < 0)
			return -1;
	return 0;
}

/* All rows are about one position: first the drawn id, whose rank is unknown, then the best. */
static int show_logprobs(struct listing *l, struct why *w)
{
	float pair[2];

	if (l->format == LISTING_LINES) {
		put_head(&l->f);
		out_print(": drawn%s\n         at        id   percent     logprob%s\n",
			l->f.rows > 1 ? ", and the best" : "", l->vocab ? "  piece" : "");
	}
	for (uint32_t i = 0; i < l->f.rows; i++) {
		if (read_elements(l, pair, 2, w) < 0)
			return -1;
		if (!(pair[0] >= 0 && pair[0] < FRAME_VOCAB_MAX && pair[1] <= 0)) {
			why(w, "%g, %g: not an id and its log-probability", pair[0], pair[1]);
			return frame_why(&l->in, w);
		}
		if (check_id(l, (int32_t)pair[0], w) < 0)
			return -1;
		show_choice(l, 0, i, (int32_t)pair[0], pair[1], fmath_exp(pair[1]), !i);
	}
	return 0;
}

static int show_end(struct listing *l, struct why *w)
{
	static const char *const reasons[] = { "no reason", "end of generation", "length", "stop id", "error",
		"interrupt" };
	const char *reason = l->f.flags < sizeof reasons / sizeof *reasons ? reasons[l->f.flags] : "unknown reason";
	char *text = l->text, out[QUOTE_ROOM];
	unsigned used;
	uint32_t i;

	if (read_elements(l, text, l->f.rows, w) < 0)
		return -1;
	if (l->f.flags == FRAME_END_STOP && l->f.rows)
		reason = "stop string";
	if (l->format == LISTING_CSV) {
		put_csv(l, 0);
		out_print(",,,,\"%s", reason);
	} else {
		put_head(&l->f);
		out_print(": %s", reason);
	}
	for (i = 0; i < l->f.rows; i += used) {
		out_text(i ? "" : l->format == LISTING_CSV ? " \"\"" : " \"");
		out_bytes(out, quote_next(text + i, l->f.rows - i, l->format == LISTING_CSV ? '"' : '\\', out, &used));
	}
	out_text(!i ? "" : l->format == LISTING_CSV ? "\"\"" : "\"");
	out_text(l->format == LISTING_CSV ? "\"\n" : "\n");
	return 0;
}

/* A fork has no frames of the positions that it shares. */
static int copy_raw(struct listing *l, struct why *w)
{
	uint32_t source;

	if (l->f.kind != FRAME_FORK) {
		l->f.seq = 0;
		return frame_copy(&l->in, &l->f, 1, w) ? -1 : 0;
	}
	if (read_elements(l, &source, 1, w) < 0)
		return -1;
	why(w, "sequence %" PRId64 " is a fork: its first %" PRIu32 " positions are those of sequence %" PRIu32,
		l->seq, l->f.pos, source);
	return frame_why(&l->in, w);
}

static int show_fork(struct listing *l, struct why *w)
{
	uint32_t source;

	if (read_elements(l, &source, 1, w) < 0)
		return -1;
	if (l->format == LISTING_CSV) {
		put_csv(l, 0);
		out_print(",,,,\"of sequence %" PRIu32 "\"\n", source);
	} else {
		put_head(&l->f);
		out_print(": of sequence %" PRIu32 "\n", source);
	}
	return 0;
}

static int show_unknown(struct listing *l)
{
	if (l->format == LISTING_CSV) {
		put_csv(l, 0);
		out_print(",,,,\"%" PRIu32 " x %" PRIu32 "\"\n", l->f.rows, l->f.cols);
	} else {
		put_rows(l);
	}
	return 0;
}

static int show(struct listing *l, struct why *w)
{
	if (l->seq >= 0 && l->f.kind != FRAME_CARD && l->f.seq != l->seq)
		return 0;
	if (l->format == LISTING_RAW)
		return copy_raw(l, w);
	if (l->format == LISTING_IDS && l->f.kind != FRAME_IDS)
		return 0;
	switch (l->f.kind) {
	case FRAME_IDS: return show_ids(l, w);
	case FRAME_CARD: return show_card(l, w);
	case FRAME_LOGITS: return show_logits(l, w);
	case FRAME_LOGPROBS: return show_logprobs(l, w);
	case FRAME_FORK: return show_fork(l, w);
	case FRAME_END: return show_end(l, w);
	default: return show_unknown(l);
	}
}

void listing_open(struct listing *l, const struct vocab *vocab)
{
	l->vocab = vocab;
	if (vocab)
		vocab_card(vocab, &l->mine);
	if (l->format == LISTING_CSV)
		out_print("frame,kind,seq,pos,row,rank,id,logit,prob,text\n");
}

int listing_stream(struct listing *l, int fd, const char *name, struct why *w)
{
	int got;

	frame_open_in(&l->in, fd, name);
	while ((got = frame_next(&l->in, &l->f, w)) > 0)
		/* A reader of a live stream sees each frame at once. */
		if (show(l, w) < 0 || out_flush(w))
			return -1;
	return got;
}

void listing_close(struct listing *l)
{
	free(l->row);
	free(l->p);
	free(l->scratch);
	l->row = l->p = l->scratch = NULL;
	l->room = 0;
}
