/* Frames as lines of at most 80 columns; and ids only. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/out.h"
#include "view.h"

/* "logi  at 12" */
static void put_head(const struct frame *f)
{
	view_kind(f, f->kind != FRAME_OPTS);
	if (f->kind == FRAME_OPTS)
		;       /* it has no position */
	else if (f->pos == FRAME_APPEND)
		out_print("  appended");
	else
		out_print("  at %" PRIu32, f->pos);
	if (f->seq == FRAME_NO_SEQ)
		out_text(", no more sequences");
	else if (f->seq)
		out_print(", sequence %" PRIu32, f->seq);
}

/* The position of a row of the frame, as the first column. */
static void put_position(const struct view *v, uint32_t row)
{
	if (v->f.pos == FRAME_APPEND)
		out_print("%11s", "-");
	else
		out_print("%11" PRIu32, v->f.pos + row);
}

/* Prints the piece of an id and ends the line. Special ids have no quotes. */
static void put_piece(const struct view *v, int32_t id)
{
	int special = v->vocab && vocab_is_special(v->vocab, id);
	const char *s, *quote = special ? "" : "\"";
	size_t n;

	if (v->vocab) {
		s = vocab_piece(v->vocab, id, 1, &n);
		out_print("  %s", quote);
		out_quoted(s, n, special ? 0 : '\\');
		out_text(quote);
	}
	out_char('\n');
}

/* "logi  at 12: 3 rows of 32000", "embd  at 12, mean: 1 row of 384" */
static void put_size(const struct view *v)
{
	const struct frame *f = &v->f;

	put_head(f);
	if (f->flags && f->kind == FRAME_LOGITS)
		out_print(", after %" PRIu32 " %s", f->flags, f->flags == 1 ? "layer" : "layers");
	if (f->flags && f->kind == FRAME_EMBEDDINGS)
		out_print(", %s", frame_pooling_name(f->flags));
	out_print(": %" PRIu32 " %s of %" PRIu32 "\n", f->rows, f->rows == 1 ? "row" : "rows", f->cols);
}

static void put_heading(const struct view *v)
{
	const struct frame *f = &v->f;
	const char *piece = v->vocab ? "  piece" : "";

	if (f->kind == FRAME_LOGITS) {
		put_size(v);
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

static void put_card(const struct card *card)
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

static void put_end(const struct view *v)
{
	const struct frame *f = &v->f;

	put_head(f);
	out_print(f->rows ? ": %s \"" : ": %s", frame_reason_words(f->flags, f->rows));
	out_quoted(v->text, f->rows, '\\');
	out_text(f->rows ? "\"\n" : "\n");
}

/* Each option on a line. */
static void put_opts(const struct view *v)
{
	size_t n;

	put_head(&v->f);
	out_text(":\n");
	for (size_t at = 0; at < v->f.rows; at += n + 1) {
		n = strlen(v->text + at);
		out_text("      \"");
		out_quoted(v->text + at, n, '\\');
		out_text("\"\n");
	}
}

static void put_frame(const struct view *v)
{
	switch (v->f.kind) {
	case FRAME_IDS: case FRAME_CANVAS: case FRAME_LOGITS: case FRAME_LOGPROBS: put_heading(v); break;
	case FRAME_CARD: put_card(&v->card); break;
	case FRAME_END: put_end(v); break;
	case FRAME_OPTS: put_opts(v); break;
	case FRAME_FORK:
		put_head(&v->f);
		out_print(": of sequence %" PRIu32 "\n", v->source);
		break;
	default: put_size(v);
	}
}

static void put_entry(const struct view *v, const struct entry *e)
{
	if (e->first)
		put_position(v, e->row);
	else
		out_print("%11s", "");
	out_print("  %8" PRId32, e->of.id);
	if (e->scored)
		out_print(fabsf(e->of.score) < 1e5f ? "  %8.3f  %10.4f" : "  %8.3f  %10.3g", 100 * e->of.p,
			e->of.score);
	put_piece(v, e->of.id);
}

static void put_nan(size_t n)
{
	out_print("%11s  NaN: %zu\n", "", n);
}

const struct format format_lines = { .frame = put_frame, .entry = put_entry, .nan = put_nan };

static void put_id(const struct view *v, const struct entry *e)
{
	out_print("%" PRId32 "\n", e->of.id);
}

const struct format format_ids = { .option = "ids", .only = FRAME_IDS, .entry = put_id };
