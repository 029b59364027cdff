/* peek: any stream as text, in 80 columns or as CSV: cards, ids, the best of each row of logits; with a model also the
 * pieces of ids. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/base/out.h"
#include "lib/sampler/topk.h"
#include "lib/base/fmath.h"
#include "lib/stream/frame.h"
#include "lib/gguf/gguf.h"
#include "lib/base/guard.h"
#include "lib/base/quote.h"
#include "lib/base/system.h"
#include "lib/vocab/vocab.h"
#include "render.h"

enum { TOP_MAX = 1000 };
enum { IDS = 1, CSV, SEQ, RAW, COLOR, HTML, SVG, BARS, JSON };

static const struct opt opts[] = {
	{ 'm', "model", "MODEL", "show the pieces of its vocabulary, and check that the stream is of it" },
	{ 'n', "top", "N", "the N best of each row of logits, at most 1000 (default: 5)" },
	{ IDS, "ids", NULL, "nothing but the ids, one a line" },
	{ SEQ, "seq", "N", "nothing but cards and the frames of sequence N" },
	{ RAW, "raw", NULL, "with --seq: write these as a stream in which they are sequence 0" },
	{ COLOR, "color", NULL, "the text, on a terminal shaded by how surprising each token was" },
	{ HTML, "html", NULL, "the same as a page; pointing at a token shows the N best" },
	{ SVG, "svg", NULL, "the same as a picture" },
	{ BARS, "bars", NULL, "the N best for each token as bars, with a mark at the one that came" },
	{ JSON, "json", NULL, "an object for each token, one a line" },
	{ CSV, "csv", NULL, "comma-separated values, one line for each id, with a heading" },
	{ 0 }
};

static struct cli c = { .program = "peek", .synopsis = "[options] [STREAM ...]", .purpose = "a stream as text",
	.opts = opts };
static struct why w;

struct peek {
	struct frame_in in;
	struct frame f;
	const struct vocab *vocab;      /* or NULL */
	struct card mine;
	size_t top;
	int format;                     /* 0, IDS, CSV or RAW */
	int64_t seq;                    /* or -1: all */
	float *row, *p;                 /* [room] */
	float *scratch;                 /* [TOPK_SCRATCH(room)] */
	size_t room;
	int32_t at[TOP_MAX];
	char text[FRAME_STOP_MAX];
};

/* ---- fields ---- */

/* The piece of an id on one line, in double quotes; special ids have no quotes except in CSV. */
static void put_piece(const struct peek *k, int32_t id)
{
	char out[QUOTE_ROOM];
	size_t n, i;
	unsigned used;
	const char *s = vocab_piece(k->vocab, id, 1, &n);
	int quoted = k->format == CSV || !vocab_is_special(k->vocab, id);

	if (quoted)
		out_char('"');
	for (i = 0; i < n; i += used)
		out_bytes(out, quote_next(s + i, n - i, !quoted ? 0 : k->format == CSV ? '"' : '\\', out, &used));
	if (quoted)
		out_char('"');
}

/* The position of a row of the frame, as the first column. */
static void put_position(const struct peek *k, uint32_t row)
{
	if (k->f.pos == FRAME_APPEND)
		out_print("%11s", "-");
	else
		out_print("%11" PRIu32, k->f.pos + row);
}

static void put_kind(uint32_t kind, int padded)
{
	int i;

	for (i = 0; i < 32 && (padded || kind >> i != ' '); i += 8)
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
static void put_csv(const struct peek *k, uint32_t row)
{
	out_print("%" PRIu64 ",", k->in.number);
	put_kind(k->f.kind, 0);
	if (k->f.flags && k->f.kind == FRAME_LOGITS)
		out_print(" %" PRIu32, k->f.flags);
	out_print(",%" PRIu32 ",", k->f.seq);
	if (k->f.pos != FRAME_APPEND)
		out_print("%" PRIu32, k->f.pos + row);
	out_print(",%" PRIu32 ",", row);
}

/* The end of a line about an id. */
static void put_text(const struct peek *k, int32_t id)
{
	if (k->format == CSV)
		out_char(',');
	else if (k->vocab)
		out_text("  ");
	if (k->vocab)
		put_piece(k, id);
	out_char('\n');
}

/* ---- frames ---- */

static void put_rows(const struct peek *k)
{
	put_head(&k->f);
	if (k->f.flags && k->f.kind == FRAME_LOGITS)
		out_print(", after %" PRIu32 " %s", k->f.flags, k->f.flags == 1 ? "layer" : "layers");
	out_print(": %" PRIu32 " %s of %" PRIu32 "\n", k->f.rows, k->f.rows == 1 ? "row" : "rows", k->f.cols);
}

static void read_elements(struct peek *k, void *to, size_t n)
{
	if (frame_read(&k->in, &k->f, to, n, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static void show_card(struct peek *k)
{
	struct card card;

	if (card_read(&k->in, &k->f, &card, &w) < 0)
		cli_die(&c, "%s", w.text);
	if (k->vocab && card_agree(&card, k->in.name, &k->mine, "the model", &w) < 0)
		cli_die(&c, "%s", w.text);
	if (k->format == CSV) {
		put_csv(k, 0);
		out_print(",%" PRId32 ",,,\"vocabulary %016" PRIx64 " model %016" PRIx64 "\"\n", card.n_vocab,
			card.vocab, card.model);
		return;
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
}

static void check_id(const struct peek *k, int32_t id)
{
	if (k->vocab && card_check_id(id, k->mine.n_vocab, &w)) {
		frame_why(&k->in, &w);
		cli_die(&c, "%s", w.text);
	}
}

static void show_id(const struct peek *k, uint32_t row, int32_t id)
{
	check_id(k, id);
	if (k->format == IDS) {
		out_print("%" PRId32 "\n", id);
		return;
	}
	if (k->format == CSV) {
		put_csv(k, row);
		out_print(",%" PRId32 ",,", id);
	} else {
		put_position(k, row);
		out_print("  %8" PRId32, id);
	}
	put_text(k, id);
}

static void show_ids(struct peek *k)
{
	int32_t ids[256];
	uint32_t i, j, n;

	if (!k->format) {
		put_head(&k->f);
		out_print(": %" PRIu32 " %s\n", k->f.rows, k->f.flags & FRAME_GUESS ? "sampled, with guesses" :
			k->f.flags & FRAME_SAMPLED ? "sampled" : "given");
	}
	for (i = 0; i < k->f.rows; i += n) {
		n = k->f.rows - i < 256 ? k->f.rows - i : 256;
		read_elements(k, ids, n);
		for (j = 0; j < n; j++)
			show_id(k, i + j, ids[j]);
	}
}

static void need_room(struct peek *k, size_t n)
{
	if (n <= k->room)
		return;
	free(k->row);
	free(k->p);
	free(k->scratch);
	k->row = malloc(n * sizeof *k->row);
	k->p = malloc(n * sizeof *k->p);
	k->scratch = malloc(TOPK_SCRATCH(n) * sizeof *k->scratch);
	if (!k->row || !k->p || !k->scratch)
		cli_die(&c, "%s: frame %" PRIu64 ": no memory for rows of %zu", k->in.name, k->in.number, n);
	k->room = n;
}

/* Reads one row of logits. Stores the ids of its best in k->at, their number in *best, weights in k->p; returns the sum
 * of all weights. */
static double read_logits(struct peek *k, size_t *best, size_t *n_nan)
{
	size_t n = k->f.cols, i;

	if (frame_read_floats(&k->in, &k->f, k->row, n, &w) < 0)
		cli_die(&c, "%s", w.text);
	for (*n_nan = i = 0; i < n; i++)
		if (isnan(k->row[i])) {
			k->row[i] = -INFINITY;
			++*n_nan;
		} else if (k->row[i] > FLT_MAX) {
			k->row[i] = FLT_MAX;
		}
	*best = topk_sorted(k->row, n, k->top, k->at, k->scratch);
	return *best ? fmath_softmax(k->row, k->row[k->at[0]], k->p, n) : 1;
}

/* A line for one candidate or drawn id. score: its logit, or the logarithm of its probability. */
static void show_choice(const struct peek *k, uint32_t row, size_t rank, int32_t id, float score, double p, int first)
{
	check_id(k, id);
	if (k->format == CSV) {
		put_csv(k, row);
		if (rank)
			out_print("%zu", rank);
		out_print(",%" PRId32 ",", id);
		if (k->f.kind == FRAME_LOGITS)
			out_print("%.9g", score);
		out_print(",%.9g", p);
	} else {
		if (first)
			put_position(k, row);
		else
			out_print("%11s", "");
		out_print(fabsf(score) < 1e5f ? "  %8" PRId32 "  %8.3f  %10.4f" : "  %8" PRId32 "  %8.3f  %10.3g", id,
			100 * p, score);
	}
	put_text(k, id);
}

static void show_logits(struct peek *k)
{
	size_t best, i, n_nan;
	uint32_t row;
	double sum;

	if (!k->format) {
		put_rows(k);
		out_print("      after        id   percent       logit%s\n", k->vocab ? "  piece" : "");
	}
	need_room(k, k->f.cols);
	for (row = 0; row < k->f.rows; row++) {
		sum = read_logits(k, &best, &n_nan);
		for (i = 0; i < best; i++)
			show_choice(k, row, i + 1, k->at[i], k->row[k->at[i]], k->p[k->at[i]] / sum, !i);
		if (n_nan && !k->format)
			out_print("%11s  NaN: %zu\n", "", n_nan);
	}
}

/* All rows are about one position: first the drawn id, whose rank is unknown, then the best. */
static void show_logprobs(struct peek *k)
{
	float pair[2];
	uint32_t i;

	if (!k->format) {
		put_head(&k->f);
		out_print(": drawn%s\n         at        id   percent     logprob%s\n",
			k->f.rows > 1 ? ", and the best" : "", k->vocab ? "  piece" : "");
	}
	for (i = 0; i < k->f.rows; i++) {
		read_elements(k, pair, 2);
		if (!(pair[0] >= 0 && pair[0] < FRAME_VOCAB_MAX && pair[1] <= 0))
			cli_die(&c, "%s: frame %" PRIu64 ": %g, %g: not an id and its log-probability", k->in.name,
				k->in.number, pair[0], pair[1]);
		show_choice(k, 0, i, (int32_t)pair[0], pair[1], fmath_exp(pair[1]), !i);
	}
}

static void show_end(struct peek *k)
{
	static const char *const reasons[] = { "no reason", "end of generation", "length", "stop id", "error",
		"interrupt" };
	const char *reason = k->f.flags < sizeof reasons / sizeof *reasons ? reasons[k->f.flags] : "unknown reason";
	char *text = k->text, out[QUOTE_ROOM];
	unsigned used;
	uint32_t i;

	read_elements(k, text, k->f.rows);
	if (k->f.flags == FRAME_END_STOP && k->f.rows)
		reason = "stop string";
	if (k->format == CSV) {
		put_csv(k, 0);
		out_print(",,,,\"%s", reason);
	} else {
		put_head(&k->f);
		out_print(": %s", reason);
	}
	for (i = 0; i < k->f.rows; i += used) {
		out_text(i ? "" : k->format == CSV ? " \"\"" : " \"");
		out_bytes(out, quote_next(text + i, k->f.rows - i, k->format == CSV ? '"' : '\\', out, &used));
	}
	out_text(!i ? "" : k->format == CSV ? "\"\"" : "\"");
	out_text(k->format == CSV ? "\"\n" : "\n");
}

/* A fork has no frames of the positions that it shares. */
static void copy_raw(struct peek *k)
{
	uint32_t source;

	if (k->f.kind == FRAME_FORK) {
		read_elements(k, &source, 1);
		cli_die(&c, "%s: frame %" PRIu64 ": sequence %" PRId64 " is a fork: its first %" PRIu32
			" positions are those of sequence %" PRIu32, k->in.name, k->in.number, k->seq, k->f.pos,
			source);
	}
	k->f.seq = 0;
	if (frame_copy(&k->in, &k->f, 1, &w))
		cli_die(&c, "%s", w.text);
}

static void show_fork(struct peek *k)
{
	uint32_t source;

	read_elements(k, &source, 1);
	if (k->format == CSV) {
		put_csv(k, 0);
		out_print(",,,,\"of sequence %" PRIu32 "\"\n", source);
	} else {
		put_head(&k->f);
		out_print(": of sequence %" PRIu32 "\n", source);
	}
}

static void show(struct peek *k)
{
	if (k->seq >= 0 && k->f.kind != FRAME_CARD && k->f.seq != k->seq)
		return;
	if (k->format == RAW) {
		copy_raw(k);
	} else if (k->f.kind == FRAME_IDS) {
		show_ids(k);
	} else if (k->format == IDS) {
		return;
	} else if (k->f.kind == FRAME_CARD) {
		show_card(k);
	} else if (k->f.kind == FRAME_LOGITS) {
		show_logits(k);
	} else if (k->f.kind == FRAME_LOGPROBS) {
		show_logprobs(k);
	} else if (k->f.kind == FRAME_FORK) {
		show_fork(k);
	} else if (k->f.kind == FRAME_END) {
		show_end(k);
	} else if (k->format == CSV) {
		put_csv(k, 0);
		out_print(",,,,\"%" PRIu32 " x %" PRIu32 "\"\n", k->f.rows, k->f.cols);
	} else {
		put_rows(k);
	}
}

static void stream(struct peek *k, int fd, const char *name)
{
	int got;

	frame_open_in(&k->in, fd, name);
	while ((got = frame_next(&k->in, &k->f, &w)) > 0) {
		show(k);
		/* A reader of a live stream sees each frame at once. */
		if (out_flush(&w))
			cli_die(&c, "%s", w.text);
	}
	if (got < 0)
		cli_die(&c, "%s", w.text);
}

static void start_render(struct render *render, const struct peek *k)
{
	int columns, rows;

	system_terminal_size(1, &columns, &rows);
	render->vocab = k->vocab;
	render->top = k->top;
	render->columns = (size_t)columns;
	render->coloured = system_coloured(1);
	if (render_open(render, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static void show_stream(struct peek *k, struct render *render, int fd, const char *name)
{
	if (!render->kind)
		stream(k, fd, name);
	else if (render_stream(render, fd, name, &w) < 0)
		cli_die(&c, "%s", w.text);
}

int main(int argc, char **argv)
{
	static struct peek k = { .top = 5, .seq = -1 };
	struct render render = { .kind = NULL };
	const char *model = NULL;
	struct vocab *vocab = NULL;
	struct gguf *g = NULL;
	const struct opt *o;
	int i, fd;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'm': model = c.value; break;
		case 'n': k.top = (size_t)cli_integer(&c, o, 1, TOP_MAX); break;
		case IDS: k.format = IDS; break;
		case CSV: k.format = CSV; break;
		case COLOR: render.kind = &render_text; break;
		case HTML: render.kind = &render_html; break;
		case SVG: render.kind = &render_svg; break;
		case BARS: render.kind = &render_bars; break;
		case JSON: render.kind = &render_json; break;
		case RAW: k.format = RAW; break;
		case SEQ: k.seq = cli_integer(&c, o, 0, FRAME_NO_SEQ - 1); break;
		}
	if (render.kind && (k.format || k.seq >= 0))
		cli_usage(&c, "--%s excludes --ids, --csv, --seq and --raw", render.kind->name);
	if (k.format == RAW && k.seq < 0)
		cli_usage(&c, "--raw requires --seq");
	if (k.format == RAW)
		cli_binary(&c, 1);
	if (!c.argc)
		cli_binary(&c, 0);
	guard_arm(c.program);
	if (model && (!(g = gguf_open(model, 0, &w)) || !(vocab = vocab_open(g, VOCAB_PIECES, &w))))
		cli_die(&c, "%s", w.text);
	if (vocab) {
		k.vocab = vocab;
		vocab_card(vocab, &k.mine);
	}
	if (render.kind)
		start_render(&render, &k);
	if (k.format == CSV)
		out_print("frame,kind,seq,pos,row,rank,id,logit,prob,text\n");
	if (!c.argc)
		show_stream(&k, &render, 0, "stdin");
	for (i = 0; i < c.argc; i++) {
		if (!strcmp(c.argv[i], "-")) {
			show_stream(&k, &render, 0, "stdin");
			continue;
		}
		if ((fd = open(c.argv[i], O_RDONLY)) < 0)
			cli_die(&c, "%s: %s", c.argv[i], strerror(errno));
		show_stream(&k, &render, fd, c.argv[i]);
		close(fd);
	}
	if (render.kind)
		render_close(&render);
	free(k.row);
	free(k.p);
	free(k.scratch);
	if (model) {
		vocab_close(vocab);
		gguf_close(g);
	}
	return cli_end(&c);
}
