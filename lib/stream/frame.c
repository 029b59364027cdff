/* frame: the only decoder and encoder of streams. Callers see whole headers and elements, however read(2) and write(2)
 * divide them, whether or not the descriptor blocks, and whatever the machine's byte order. Allocates nothing. */
#include "frame.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>

#include "lib/base/grow.h"
#include "lib/base/half.h"
#include "lib/base/io.h"
#include "lib/base/le.h"
#include "lib/base/size.h"

enum { PIECE = 4096 };  /* bytes converted or copied at a time; enough for the payload of any `end ` frame */

/* A frame's header is this magic, then struct frame, all little-endian. */
static const char magic[4] = "lms1";
_Static_assert(sizeof magic + sizeof(struct frame) == FRAME_HEADER, "a header has no padding");

/* Bytes of one element; 0 for an unknown type. */
static size_t element_size(uint32_t type)
{
	switch (type) {
	case FRAME_F32: case FRAME_I32: return 4;
	case FRAME_F16: return 2;
	case FRAME_I8: return 1;
	}
	return 0;
}

/* Bytes of the payload; cannot wrap for a frame that frame_next() accepted. */
static uint64_t payload_size(const struct frame *f)
{
	return (uint64_t)f->rows * f->cols * element_size(f->type);
}

/* ---- reading ---- */

void frame_open_in(struct frame_in *in, int fd, const char *name)
{
	in->fd = fd;
	in->name = name;
	in->number = in->left = 0;
	in->have = in->used = 0;
}

/* A reason that names the stream and the frame: "standard input: frame 7: ...". -1. */
static int bad(const struct frame_in *in, struct why *w, const char *cause)
{
	return why(w, "%s: frame %" PRIu64 ": %s", in->name, in->number, cause);
}

/* Returns the bytes read, 0 at the end of input, -1 on error. */
static ssize_t read_some(const struct frame_in *in, void *to, size_t n, struct why *w)
{
	ssize_t got = io_read(in->fd, to, n);

	return got < 0 ? why(w, "%s: %s", in->name, strerror(errno)) : got;
}

/* Reads n bytes into `to` (NULL: skips them), fewer only at the end of input. What the buffer cannot hold is read
 * directly into `to`. */
static int64_t take(struct frame_in *in, unsigned char *to, uint64_t n, struct why *w)
{
	uint64_t done = 0;
	ssize_t got;
	size_t part;

	while (done < n) {
		part = in->have - in->used;
		if (part) {
			part = part < n - done ? part : (size_t)(n - done);
			if (to)
				memcpy(to + done, in->buffer + in->used, part);
			in->used += part;
			done += part;
			continue;
		}
		if (to && n - done >= sizeof in->buffer) {
			if ((got = read_some(in, to + done, (size_t)(n - done), w)) > 0)
				done += (uint64_t)got;
		} else if ((got = read_some(in, in->buffer, sizeof in->buffer, w)) > 0) {
			in->have = (size_t)got;
			in->used = 0;
		}
		if (got < 0)
			return -1;
		if (!got)
			break;
	}
	return (int64_t)done;
}

/* The valid types and sizes of each kind. */
static const struct shape {
	uint32_t kind;
	uint32_t types;                 /* bit t: elements of type t */
	uint32_t max_flags, min_rows, max_rows, min_cols, max_cols;
} shapes[] = {
	{ FRAME_CARD, 1u << FRAME_I32, 0, 8, 8 + FRAME_EOG_MAX, 1, 1 },
	{ FRAME_IDS, 1u << FRAME_I32, FRAME_SAMPLED | FRAME_GUESS, 0, FRAME_IDS_MAX, 1, 1 },
	{ FRAME_CANVAS, 1u << FRAME_I32, FRAME_IDS_MAX, 1, FRAME_IDS_MAX, 1, 1 },
	{ FRAME_LOGITS, 1u << FRAME_F32 | 1u << FRAME_F16, UINT32_MAX, 1, FRAME_IDS_MAX, 1, FRAME_VOCAB_MAX },
	{ FRAME_HIDDEN, 1u << FRAME_F32 | 1u << FRAME_F16 | 1u << FRAME_I8, UINT32_MAX, 1, FRAME_IDS_MAX, 1,
		FRAME_IDS_MAX },
	{ FRAME_EMBEDDINGS, 1u << FRAME_F32, POOLINGS - 1, 1, FRAME_IDS_MAX, 1, FRAME_IDS_MAX },
	{ FRAME_LOGPROBS, 1u << FRAME_F32, 0, 1, FRAME_IDS_MAX, 2, 2 },
	{ FRAME_SCORES, 1u << FRAME_F32, 0, 1, FRAME_IDS_MAX, SCORE_COLS, SCORE_COLS },
	{ FRAME_FORK, 1u << FRAME_I32, 0, 1, 1, 1, 1 },
	{ FRAME_OPTS, 1u << FRAME_I8, 0, 1, FRAME_OPTS_MAX, 1, 1 },
	{ FRAME_END, 1u << FRAME_I32, FRAME_REASONS - 1, 0, 0, 1, 1 },
	{ FRAME_END, 1u << FRAME_I8, FRAME_REASONS - 1, 0, FRAME_STOP_MAX, 1, 1 },
};

static const struct {
	const char *words, *key;
} reasons[FRAME_REASONS] = {
	[0] = { "no reason", NULL },
	[FRAME_END_EOG] = { "end of generation", "eog" },
	[FRAME_END_LENGTH] = { "length", "length" },
	[FRAME_END_STOP] = { "stop id", "stop" },
	[FRAME_END_ERROR] = { "error", "error" },
	[FRAME_END_INTERRUPT] = { "interrupt", "interrupt" },
	[FRAME_END_CONTEXT] = { "full context", "context" },
	[FRAME_END_REFUSED] = { "refused", "refused" }
};

const char *frame_reason_words(uint32_t flags, size_t n)
{
	return flags == FRAME_END_STOP && n ? "stop string" : flags < FRAME_REASONS ? reasons[flags].words
		: "unknown reason";
}

const char *frame_reason_key(uint32_t flags)
{
	return flags < FRAME_REASONS ? reasons[flags].key : NULL;
}

const char *frame_pooling_name(uint32_t flags)
{
	static const char *const names[POOLINGS] = {
		[POOLING_NONE] = "none", [POOLING_MEAN] = "mean", [POOLING_CLS] = "cls", [POOLING_LAST] = "last",
		[POOLING_RANK] = "rank"
	};

	return flags < POOLINGS ? names[flags] : "unknown";
}

static int check(const struct frame *f, struct why *w)
{
	const struct shape *s = shapes, *end = shapes + sizeof shapes / sizeof *shapes;
	char kind[5] = { 0 };

	memcpy(kind, &f->kind, 4);
	le_convert(kind, 4, 1);
	while (s < end && s->kind != f->kind)
		s++;
	/* a kind may have two rows, if types have different shapes */
	if (s + 1 < end && s[1].kind == f->kind && element_size(f->type) && s[1].types >> f->type & 1)
		s++;
	if (s == end)
		return why(w, "unknown kind \"%s\" (0x%08" PRIx32 ")", kind, f->kind);
	if (!element_size(f->type) || !(s->types >> f->type & 1))
		return why(w, "\"%s\" with elements of type %" PRIu32, kind, f->type);
	if (f->flags > s->max_flags)
		return why(w, "\"%s\" with unknown flags 0x%" PRIx32, kind, f->flags);
	if (f->rows < s->min_rows || f->rows > s->max_rows || f->cols < s->min_cols || f->cols > s->max_cols)
		return why(w, "\"%s\" of %" PRIu32 " rows and %" PRIu32 " columns", kind, f->rows, f->cols);
	if (f->pos != FRAME_APPEND && f->rows >= FRAME_APPEND - f->pos)
		return why(w, "its last row has no position");
	return 0;
}

/* take() from the current payload; a truncated payload is an error. */
static int take_payload(struct frame_in *in, unsigned char *to, uint64_t n, struct why *w)
{
	int64_t got = take(in, to, n, w);

	if (got < 0)
		return -1;
	in->left -= (uint64_t)got;
	return (uint64_t)got < n ? bad(in, w, "the input ends inside it") : 0;
}

int frame_why(const struct frame_in *in, struct why *w)
{
	struct why cause = *w;

	return bad(in, w, cause.text);
}

int frame_next(struct frame_in *in, struct frame *f, struct why *w)
{
	unsigned char h[FRAME_HEADER];
	int64_t got;

	if (take_payload(in, NULL, in->left, w) < 0)
		return -1;
	if ((got = take(in, h, sizeof h, w)) <= 0)
		return (int)got;
	in->number++;
	/* for a short text that is not a stream, "not a frame" is the better message */
	if (memcmp(h, magic, size_min(sizeof magic, (size_t)got)))
		return in->number == 1 ? why(w, "%s: not an lmpipe stream", in->name)
			: bad(in, w, "not a frame: the stream is damaged");
	if (got < FRAME_HEADER)
		return bad(in, w, "the input ends inside its header");
	memcpy(f, h + sizeof magic, sizeof *f);
	le_convert(f, 4, sizeof *f / 4);
	if (check(f, w) < 0)
		return frame_why(in, w);
	in->left = payload_size(f);
	return 1;
}

static int take_elements(struct frame_in *in, const struct frame *f, void *to, uint64_t elements, struct why *w)
{
	size_t size = element_size(f->type);

	if (elements > in->left / size)
		return bad(in, w, "more elements asked for than it has");
	return take_payload(in, to, elements * size, w);
}

int frame_skip(struct frame_in *in, const struct frame *f, uint64_t elements, struct why *w)
{
	return take_elements(in, f, NULL, elements, w);
}

int frame_read(struct frame_in *in, const struct frame *f, void *to, size_t elements, struct why *w)
{
	if (take_elements(in, f, to, elements, w) < 0)
		return -1;
	le_convert(to, element_size(f->type), elements);
	return 0;
}

int frame_read_floats(struct frame_in *in, const struct frame *f, float *to, size_t elements, struct why *w)
{
	uint16_t half;
	size_t i;

	if (frame_read(in, f, to, elements, w) < 0)
		return -1;
	/* The halves are at the front of the floats' memory. Converting from the back overwrites none that is still
	 * needed. */
	for (i = elements; f->type == FRAME_F16 && i > 0; i--) {
		memcpy(&half, (char *)to + (i - 1) * sizeof half, sizeof half);
		to[i - 1] = f16_to_f32(half);
	}
	return 0;
}

int frame_read_all(struct frame_in *in, const struct frame *f, void *buffer, size_t *room, struct why *w)
{
	char *to;

	if (grow_scratch(buffer, room, (size_t)payload_size(f)))
		return bad(in, w, "out of memory");
	memcpy(&to, buffer, sizeof to);         /* whatever it points to */
	if (frame_read(in, f, to, (size_t)f->rows * f->cols, w))
		return -1;
	return f->kind == FRAME_OPTS && to[f->rows - 1] ? bad(in, w, "\"opts\" whose last option has no NUL") : 0;
}

/* ---- writing ---- */

static void encode_header(unsigned char h[FRAME_HEADER], const struct frame *f)
{
	memcpy(h, magic, sizeof magic);
	memcpy(h + sizeof magic, f, sizeof *f);
	le_convert(h + sizeof magic, 4, sizeof *f / 4);
}

int frame_append_header(struct bytes *to, const struct frame *f)
{
	unsigned char h[FRAME_HEADER];

	encode_header(h, f);
	return bytes_put(to, (const char *)h, sizeof h);
}

int frame_append(struct bytes *to, const struct frame *f, const void *payload)
{
	size_t n = (size_t)payload_size(f);

	if (frame_append_header(to, f) || bytes_put(to, payload, n))
		return -1;
	le_convert(to->p + to->n - n, element_size(f->type), n / element_size(f->type));
	return 0;
}

int frame_write_header(int fd, const struct frame *f, struct why *w)
{
	unsigned char h[FRAME_HEADER];

	encode_header(h, f);
	return io_write(fd, h, sizeof h, w);
}

int frame_write_elements(int fd, const struct frame *f, const void *elements, size_t n, struct why *w)
{
	size_t size = element_size(f->type), part;
	const unsigned char *from = elements;
	unsigned char piece[PIECE];

	if (le_machine())
		return io_write(fd, elements, n * size, w);
	for (; n; n -= part, from += part * size) {
		part = size_min(n, PIECE / size);
		memcpy(piece, from, part * size);
		le_convert(piece, size, part);
		if (io_write(fd, piece, part * size, w) < 0)
			return -1;
	}
	return 0;
}

int frame_write_after(int fd, struct bytes *before, const struct frame *f, const void *elements, size_t n,
	struct why *w)
{
	struct iovec v[2] = { { before->p, before->n }, { (void *)(uintptr_t)elements, n * element_size(f->type) } };

	before->n = 0;
	if (!le_machine())
		return io_write_vector(fd, v, 1, w) || frame_write_elements(fd, f, elements, n, w) ? -1 : 0;
	return io_write_vector(fd, v, 2, w);
}

int frame_write(int fd, const struct frame *f, const void *payload, struct why *w)
{
	unsigned char h[FRAME_HEADER];
	struct iovec v[2] = { { h, sizeof h }, { (void *)(uintptr_t)payload, (size_t)payload_size(f) } };

	if (!le_machine())
		return frame_write_header(fd, f, w) < 0 ? -1 : frame_write_elements(fd, f, payload,
			(size_t)f->rows * f->cols, w);
	encode_header(h, f);
	return io_write_vector(fd, v, 2, w);
}

int frame_write_ids(int fd, const int32_t *ids, uint32_t n, uint32_t pos, uint32_t flags, uint32_t seq, struct why *w)
{
	struct frame f = { .kind = FRAME_IDS, .rows = n, .cols = 1, .type = FRAME_I32, .flags = flags, .pos = pos,
		.seq = seq };

	return frame_write(fd, &f, ids, w);
}

int frame_write_end(int fd, enum frame_reason reason, uint32_t pos, uint32_t seq, struct why *w)
{
	struct frame f = { .kind = FRAME_END, .rows = 0, .cols = 1, .type = FRAME_I32, .flags = reason, .pos = pos,
		.seq = seq };

	return frame_write(fd, &f, NULL, w);
}

static int write_end_text(int fd, enum frame_reason reason, const char *text, size_t n, uint32_t pos, uint32_t seq,
	struct why *w)
{
	struct frame f = { .kind = FRAME_END, .rows = (uint32_t)n, .cols = 1, .type = FRAME_I8, .flags = reason,
		.pos = pos, .seq = seq };

	/* An end has no rows, so any position is valid. */
	f.pos = pos != FRAME_APPEND && n >= FRAME_APPEND - pos ? FRAME_APPEND : pos;
	return frame_write(fd, &f, text, w);
}

int frame_write_stop(int fd, const char *text, size_t n, uint32_t pos, uint32_t seq, struct why *w)
{
	return write_end_text(fd, FRAME_END_STOP, text, n, pos, seq, w);
}

int frame_write_refusal(int fd, const struct why *reason, uint32_t seq, struct why *w)
{
	return write_end_text(fd, FRAME_END_REFUSED, reason->text, strlen(reason->text), FRAME_APPEND, seq, w);
}

int frame_copy(struct frame_in *in, const struct frame *f, int fd, struct why *w)
{
	_Alignas(4) unsigned char piece[PIECE];
	uint64_t left = (uint64_t)f->rows * f->cols;
	size_t most = PIECE / element_size(f->type), n = size_min(most, left);

	/* The first part is read before anything is written, so that a frame that fits in it is copied whole or not at
	 * all. */
	if (frame_read(in, f, piece, n, w) < 0)
		return -1;
	if (n == left)
		return frame_write(fd, f, piece, w);
	if (frame_write_header(fd, f, w) < 0)
		return -1;
	while (frame_write_elements(fd, f, piece, n, w) == 0) {
		left -= n;
		if (!left)
			return 0;
		n = size_min(most, left);
		if (frame_read(in, f, piece, n, w) < 0)
			return -1;
	}
	return -1;
}
