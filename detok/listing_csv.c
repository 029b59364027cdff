/* Frames as comma-separated values: a line for each id, candidate and frame of another kind. */
#include <inttypes.h>

#include "lib/base/out.h"
#include "listing.h"

static void put_heading(void)
{
	out_print("frame,kind,seq,pos,row,rank,id,logit,prob,text\n");
}

/* Prints the first fields of a line, up to the row. Missing values are empty. */
static void put_row(const struct listing *l, uint32_t row)
{
	out_print("%" PRIu64 ",", l->in.number);
	listing_put_kind(&l->f, 0);
	if (l->f.flags && l->f.kind == FRAME_LOGITS)
		out_print(" %" PRIu32, l->f.flags);
	out_print(",%" PRIu32 ",", l->f.seq);
	if (l->f.pos != FRAME_APPEND)
		out_print("%" PRIu32, l->f.pos + row);
	out_print(",%" PRIu32 ",", row);
}

/* Prints the last field of a line about an id. */
static void put_piece(const struct listing *l, int32_t id)
{
	const char *s;
	size_t n;

	out_char(',');
	if (l->vocab) {
		s = vocab_piece(l->vocab, id, 1, &n);
		out_char('"');
		out_quoted(s, n, '"');
		out_char('"');
	}
	out_char('\n');
}

static void put_id(const struct listing *l, uint32_t row, int32_t id)
{
	put_row(l, row);
	out_print(",%" PRId32 ",,", id);
	put_piece(l, id);
}

static void put_choice(const struct listing *l, uint32_t row, const struct listing_choice *c)
{
	put_row(l, row);
	if (c->rank)
		out_print("%zu", c->rank);
	out_print(",%" PRId32 ",", c->id);
	if (l->f.kind == FRAME_LOGITS)
		out_print("%.9g", c->score);
	out_print(",%.9g", c->p);
	put_piece(l, c->id);
}

static void put_card(const struct listing *l, const struct card *card)
{
	put_row(l, 0);
	out_print(",%" PRId32 ",,,\"vocabulary %016" PRIx64 " model %016" PRIx64 "\"\n", card->n_vocab, card->vocab,
		card->model);
}

static void put_fork(const struct listing *l, uint32_t source)
{
	put_row(l, 0);
	out_print(",,,,\"of sequence %" PRIu32 "\"\n", source);
}

static void put_end(const struct listing *l, const char *reason, const char *text, size_t n)
{
	put_row(l, 0);
	out_print(n ? ",,,,\"%s \"\"" : ",,,,\"%s", reason);
	out_quoted(text, n, '"');
	out_text(n ? "\"\"\"\n" : "\"\n");
}

static void put_other(const struct listing *l)
{
	put_row(l, 0);
	out_print(",,,,\"%" PRIu32 " x %" PRIu32 "\"\n", l->f.rows, l->f.cols);
}

const struct listing_format listing_csv = { .start = put_heading, .id = put_id, .choice = put_choice, .card = put_card,
	.fork = put_fork, .end = put_end, .other = put_other };
