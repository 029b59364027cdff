/* frame: the stream between the stages, as frame.5 describes it. One decoder, one encoder.
 * A stream is frames and nothing else; a frame is a 32-byte header and rows·cols elements, all little-endian. */
#ifndef FRAME_H
#define FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

enum {
	FRAME_HEADER = 32,              /* bytes */
	FRAME_IDS_MAX = 1 << 26,        /* rows of an `ids ` frame, and cols of any */
	FRAME_VOCAB_MAX = 1 << 24,
	FRAME_EOG_MAX = 256,            /* of a card */
	FRAME_STOP_MAX = 4096,          /* bytes of a stop string, or of the reason of a refusal */
	FRAME_OPTS_MAX = 1 << 24        /* bytes of an `opts` frame */
};

#define FRAME_KIND(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define FRAME_CARD FRAME_KIND('c', 'a', 'r', 'd')       /* I32, cols 1 */
#define FRAME_IDS FRAME_KIND('i', 'd', 's', ' ')        /* I32, cols 1 */
#define FRAME_CANVAS FRAME_KIND('c', 'a', 'n', 'v')     /* I32, cols 1; flags: last rows without logits */
#define FRAME_LOGITS FRAME_KIND('l', 'o', 'g', 'i')     /* F32 or F16, cols n_vocab; flags: layers, 0: all */
#define FRAME_HIDDEN FRAME_KIND('h', 'i', 'd', 'n')     /* F32, F16 or I8, cols n_embd; flags: layers */
#define FRAME_EMBEDDINGS FRAME_KIND('e', 'm', 'b', 'd') /* F32, cols the size of an embedding; flags: pooling */
#define FRAME_LOGPROBS FRAME_KIND('l', 'o', 'g', 'p')   /* F32, cols 2: id, log-probability; the drawn, then the best */
#define FRAME_SCORES FRAME_KIND('s', 'c', 'o', 'r')     /* F32, cols 4: see enum score */
#define FRAME_FORK FRAME_KIND('f', 'o', 'r', 'k')       /* I32, 1 x 1: the source sequence; seq: the new one */
#define FRAME_OPTS FRAME_KIND('o', 'p', 't', 's')       /* I8, cols 1: options, each ended by a NUL */
#define FRAME_END FRAME_KIND('e', 'n', 'd', ' ')        /* I32, rows 0; or I8, cols 1: a stop string, or a reason */

enum { FRAME_F32 = 0, FRAME_F16 = 1, FRAME_I8 = 24, FRAME_I32 = 26 };   /* GGUF's tensor type ids */
enum {                          /* flags of `ids ` */
	FRAME_SAMPLED = 1,      /* made by a sampler */
	FRAME_GUESS = 2         /* the ids after the first are guesses: a row of logits is wanted for each id */
};
enum pooling {                  /* flags of `embd`: how a text's rows became one; also GGUF's pooling_type */
	POOLING_NONE,           /* not: a row for each id */
	POOLING_MEAN,
	POOLING_CLS, POOLING_LAST,      /* the first row; the last */
	POOLING_RANK,           /* scores of a pair of texts instead of an embedding: a column for each label */
	POOLINGS
};
/* The columns of `scor`: of the token at pos, given those before it; then of the most likely token at its position. */
enum score { SCORE_LOGPROB, SCORE_RANK, SCORE_BEST, SCORE_BEST_LOGPROB, SCORE_COLS };
#define FRAME_APPEND UINT32_MAX                         /* pos: after the last position */
#define FRAME_NO_SEQ UINT32_MAX                         /* seq of the `end ` after which no sequence starts */
enum frame_reason {                                     /* flags of `end `; 0: none */
	FRAME_END_EOG = 1, FRAME_END_LENGTH,
	FRAME_END_STOP,                                 /* by a stop string of n bytes; n is 0: by a stop id */
	FRAME_END_ERROR, FRAME_END_INTERRUPT,
	FRAME_END_CONTEXT,                              /* the context is full */
	FRAME_END_REFUSED,                              /* an option of its `opts` frame was refused; the reason */
	FRAME_REASONS
};

/* The flags of an `end ` frame in words, for users; n: bytes of its stop string. And as the "stop_reason" of JSON, NULL
 * for none. */
const char *frame_reason_words(uint32_t flags, size_t n);
const char *frame_reason_key(uint32_t flags);

/* The flags of an `embd` frame as a word, as in `fwd --pool mean`. */
const char *frame_pooling_name(uint32_t flags);

struct frame {
	uint32_t kind, rows, cols, type, flags, pos, seq;
};

/* The position n after pos; FRAME_APPEND, as pos is then, if that is not known. */
static inline uint32_t frame_after(uint32_t pos, size_t n)
{
	return pos == FRAME_APPEND ? FRAME_APPEND : pos + (uint32_t)n;
}

/* ---- reading ---- */

struct frame_in {
	int fd;
	const char *name;       /* for messages: "standard input", a file's name; borrowed */
	uint64_t number;        /* of the current frame, from 1 */
	uint64_t left;          /* bytes of the current payload not read yet */
	size_t have, used;      /* of buffer */
	unsigned char buffer[8192];
};

/* Starts at the beginning of a stream. The caller keeps fd and closes it. */
void frame_open_in(struct frame_in *in, int fd, const char *name);

/* Reads the next frame's header and checks it (magic, kind, type, bounds, and that type and cols suit the kind). Skips
 * what is left of the previous payload. 1: a frame; 0: end of input, between frames; -1: invalid or truncated, or a
 * read error, with the frame's number in the reason. */
int frame_next(struct frame_in *in, struct frame *f, struct why *w);

/* Puts the stream's name and the number of the last frame before a reason. Returns -1. */
int frame_why(const struct frame_in *in, struct why *w);

/* Skips `elements` elements of the current payload. */
int frame_skip(struct frame_in *in, const struct frame *f, uint64_t elements, struct why *w);

/* Reads `elements` elements of the current payload into `to`, in the machine's byte order; there must be that many
 * left. A stream that ends inside the payload is an error. Large amounts are read directly into `to`. */
int frame_read(struct frame_in *in, const struct frame *f, void *to, size_t elements, struct why *w);

/* The same for elements of F32 or F16, converted to floats. */
int frame_read_floats(struct frame_in *in, const struct frame *f, float *to, size_t elements, struct why *w);

/* Reads a whole payload into *buffer, which holds *room bytes and is enlarged as by grow_scratch(); the caller frees
 * it. The last byte of an `opts` frame must be a NUL. */
int frame_read_all(struct frame_in *in, const struct frame *f, void *buffer, size_t *room, struct why *w);

/* ---- writing ---- */

/* Writes header and payload (rows·cols elements) completely, also on a non-blocking descriptor. If the reader is gone,
 * SIGPIPE is raised or, if that is ignored, the call fails with a reason. */
int frame_write(int fd, const struct frame *f, const void *payload, struct why *w);

/* The same into memory, for a later write. -1: out of memory. */
int frame_append(struct bytes *to, const struct frame *f, const void *payload);

/* The same in parts: the header first, then rows·cols elements in any number of calls. */
int frame_write_header(int fd, const struct frame *f, struct why *w);
int frame_write_elements(int fd, const struct frame *f, const void *elements, size_t n, struct why *w);

/* The same in two steps: frame_append_header() keeps the header in memory, behind earlier frames; frame_write_after()
 * writes all of that and the first n elements at once, so that the reader wakes up once, and empties `before`. */
int frame_append_header(struct bytes *to, const struct frame *f);
int frame_write_after(int fd, struct bytes *before, const struct frame *f, const void *elements, size_t n,
	struct why *w);

/* Write a frame of ids[n], or an end without a stop string; pos FRAME_APPEND: no position. */
int frame_write_ids(int fd, const int32_t *ids, uint32_t n, uint32_t pos, uint32_t flags, uint32_t seq, struct why *w);
int frame_write_end(int fd, enum frame_reason reason, uint32_t pos, uint32_t seq, struct why *w);

/* FRAME_END_STOP by a stop string: text[n], n from 1 to FRAME_STOP_MAX; FRAME_END_REFUSED for this reason. */
int frame_write_stop(int fd, const char *text, size_t n, uint32_t pos, uint32_t seq, struct why *w);
int frame_write_refusal(int fd, const struct why *reason, uint32_t seq, struct why *w);

/* Copies the current frame, whose payload must be unread. If the input ends inside a frame of at most 4096 bytes (any
 * `end ` frame or card), nothing is written. */
int frame_copy(struct frame_in *in, const struct frame *f, int fd, struct why *w);

#endif
