/* Frames as lines of at most 80 columns; and ids only. */
#include <inttypes.h>
#include <math.h>

#include "lib/base/out.h"
#include "listing.h"

/* "logi  at 12" */
static void put_head(const struct frame *f)
{
	listing_put_kind(f, 1);
	if (f->pos == FRAME_APPEND)
		out_print("  appended");
	else
		out_print("  at %" PRIu32, f->pos);
	if (f->seq == FRAME_NO_SEQ)
		out_text(", no more sequences");
	else if (f->seq)
		out_print(", sequence %" PRIu32, f->seq);
}

/* The position of a row of the frame, as the first column. */
static void put_position(const struct listing *l, uint32_t row)
{
	if (l->f.pos == FRAME_APPEND)
		out_print("%11s", "-");
	else
		out_print("%11" PRIu32, l->f.pos + row);
}

/* Prints the piece of an id and ends the line. Special ids have no quotes. */
static void put_piece(const struct listing *l, int32_t id)
{
	int special = l->vocab && vocab_is_special(l->vocab, id);
	const char *s, *quote = special ? "" : "\"";
	size_t n;

	if (l->vocab) {
		s = vocab_piece(l->vocab, id, 1, &n);
		out_print("  %s", quote);
		out_quoted(s, n, special ? 0 : '\\');
		out_text(quote);
	}
	out_char('\n');
}

static void put_other(const struct listing *l)
{
	const struct frame *f = &l->f;

	put_head(f);
	if (f->flags && f->kind == FRAME_LOGITS)
		out_print(", after %" PRIu32 " %s", f->flags, f->flags == 1 ? "layer" : "layers");
	out_print(": %" PRIu32 " %s of %" PRIu32 "\n", f->rows, f->rows == 1 ? "row" : "rows", f->cols);
}

static void put_rows(const struct listing *l)
{
	const struct frame *f = &l->f;
	const char *piece = l->vocab ? "  piece" : "";

	if (f->kind == FRAME_LOGITS) {
		put_other(l);
		out_print("      after        id   percent       logit%s\n", piece);
		return;
	}
	put_head(f);
	if (f->kind == FRAME_LOGPROBS)
		out_print(": drawn%s\n         at        id   percent     logprob%s\n",
			f->rows > 1 ? ", and the best" : "", piece);
	else
		out_print(": %" PRIu32 " %s\n", f->rows, f->kind == FRAME_CANVAS ? "with masks"
			: f->flags & FRAME_GUESS ? "sampled, with guesses" : f->flags & FRAME_SAMPLED ? "sampled"
			: "given");
}

static void put_id(const struct listing *l, uint32_t row, int32_t id)
{
	put_position(l, row);
	out_print("  %8" PRId32, id);
	put_piece(l, id);
}

static void put_choice(const struct listing *l, uint32_t row, const struct listing_choice *c)
{
	if (c->first)
		put_position(l, row);
	else
		out_print("%11s", "");
	out_print(fabsf(c->score) < 1e5f ? "  %8" PRId32 "  %8.3f  %10.4f" : "  %8" PRId32 "  %8.3f  %10.3g", c->id,
		100 * c->p, c->score);
	put_piece(l, c->id);
}

static void put_nan(size_t n)
{
	out_print("%11s  NaN: %zu\n", "", n);
}

static void put_card(const struct listing *l, const struct card *card)
{
	out_print("card  %" PRId32 " ids, vocabulary %016" PRIx64 "\n      BOS ", card->n_vocab, card->vocab);
	out_print(card->bos < 0 ? "none" : "%" PRId32, card->bos);
	if (card->diffusion)
		out_print(", mask token %" PRId32, card->mask_id);
	out_print(", end of generation");
	for (int32_t i = 0; i < card->n_eog; i++)
		out_print(" %" PRId32, card->eog[i]);
	out_print(card->n_eog ? "\n" : " none\n");
	if (card->model)
		out_print("      model %016" PRIx64, card->model);
	if (card->n_ctx)
		out_print("%scontext %" PRId32, card->model ? ", " : "      ", card->n_ctx);
	if (card->model || card->n_ctx)
		out_char('\n');
}

static void put_fork(const struct listing *l, uint32_t source)
{
	put_head(&l->f);
	out_print(": of sequence %" PRIu32 "\n", source);
}

static void put_end(const struct listing *l, const char *reason, const char *text, size_t n)
{
	put_head(&l->f);
	out_print(n ? ": %s \"" : ": %s", reason);
	out_quoted(text, n, '\\');
	out_text(n ? "\"\n" : "\n");
}

const struct listing_format listing_lines = { .rows = put_rows, .id = put_id, .choice = put_choice, .nan = put_nan,
	.card = put_card, .fork = put_fork, .end = put_end, .other = put_other };

static void put_id_alone(const struct listing *l, uint32_t row, int32_t id)
{
	out_print("%" PRId32 "\n", id);
}

const struct listing_format listing_ids = { .ids_only = 1, .id = put_id_alone };
