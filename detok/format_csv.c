/* Frames as comma-separated values: a line for each id, candidate and frame of another kind. */
#include <inttypes.h>
#include <string.h>

#include "lib/base/out.h"
#include "view.h"

static void put_heading(struct view *v)
{
	out_print("frame,kind,seq,pos,row,rank,id,logit,prob,text\n");
}

/* Prints the first fields of a line, up to the row. Missing values are empty. */
static void put_row(const struct view *v, uint32_t row)
{
	out_print("%" PRIu64 ",", v->in.number);
	view_kind(&v->f, 0);
	if (v->f.flags && v->f.kind == FRAME_LOGITS)
		out_print(" %" PRIu32, v->f.flags);
	out_print(",%" PRIu32 ",", v->f.seq);
	if (v->f.pos != FRAME_APPEND)
		out_print("%" PRIu32, v->f.pos + row);
	out_print(",%" PRIu32 ",", row);
}

/* Prints the last field of a line about an id. */
static void put_piece(const struct view *v, int32_t id)
{
	const char *s;
	size_t n;

	out_char(',');
	if (v->vocab) {
		s = vocab_piece(v->vocab, id, 1, &n);
		out_char('"');
		out_quoted(s, n, '"');
		out_char('"');
	}
	out_char('\n');
}

static void put_entry(const struct view *v, const struct entry *e)
{
	put_row(v, e->row);
	if (e->rank)
		out_print("%zu", e->rank);
	out_print(",%" PRId32 ",", e->of.id);
	if (v->f.kind == FRAME_LOGITS)
		out_print("%.9g", e->of.score);
	out_char(',');
	if (e->scored)
		out_print("%.9g", e->of.p);
	put_piece(v, e->of.id);
}

/* The options of a frame, each in quotes. */
static void put_opts(const struct view *v)
{
	size_t n;

	out_text(",,,,\"");
	for (size_t at = 0; at < v->f.rows; at += n + 1) {
		n = strlen(v->text + at);
		out_text(at ? " \"\"" : "\"\"");
		out_quoted(v->text + at, n, '"');
		out_text("\"\"");
	}
}

/* A line for a frame without entries; its last field says what is in it. */
static void put_frame(const struct view *v)
{
	const struct frame *f = &v->f;

	if (f->kind == FRAME_IDS || f->kind == FRAME_CANVAS || f->kind == FRAME_LOGITS || f->kind == FRAME_LOGPROBS)
		return;
	put_row(v, 0);
	if (f->kind == FRAME_CARD) {
		out_print(",%" PRId32 ",,,\"vocabulary %016" PRIx64 " model %016" PRIx64, v->card.n_vocab,
			v->card.vocab, v->card.model);
	} else if (f->kind == FRAME_FORK) {
		out_print(",,,,\"of sequence %" PRIu32, v->source);
	} else if (f->kind == FRAME_OPTS) {
		put_opts(v);
	} else if (f->kind == FRAME_END) {
		out_print(f->rows ? ",,,,\"%s \"\"" : ",,,,\"%s", frame_reason_words(f->flags, f->rows));
		out_quoted(v->text, f->rows, '"');
		out_text(f->rows ? "\"\"" : "");
	} else {
		out_print(",,,,\"%" PRIu32 " x %" PRIu32, f->rows, f->cols);
		if (f->kind == FRAME_EMBEDDINGS)
			out_print(" %s", frame_pooling_name(f->flags));
	}
	out_text("\"\n");
}

const struct format format_csv = { .option = "csv", .start = put_heading, .frame = put_frame, .entry = put_entry };
