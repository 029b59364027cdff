/* frame_test: what is written is read back, with any division into reads and writes, with signals, and with any kind of
 * descriptor in between. Streams that are truncated, damaged or inconsistent are refused with a reason, at every
 * byte. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/slurp.h"
#include "lib/base/system.h"
#include "lib/stream/card.h"
#include "check.h"

enum { COLS = 40000 };

static struct why w;

static const struct card card_made = {
	.vocab = UINT64_C(0xfedcba9876543210), .model = UINT64_C(0x8000000000000001), .n_vocab = COLS, .bos = 1,
		.n_ctx = 2048, .n_eog = 3, .eog = { 0, 2, COLS - 1 }
};

static const char options[] = "--temp=0.5\0--stop=a b";

/* A stream with one frame of each kind. */
static void write_stream(int fd)
{
	static float row[COLS];
	const int32_t ids[] = { 5, -1, INT32_MAX, 7 };
	const uint16_t half[] = { 0x3c00, 0xc000, 0x0001 };
	const float pair[] = { 3, -0.5f };
	const signed char bytes[] = { 1, -2, 3, -4, 5, -6 };
	struct frame f = { .kind = FRAME_LOGITS, .rows = 1, .cols = COLS, .type = FRAME_F32, .pos = 3 };
	int i;

	for (i = 0; i < COLS; i++)
		row[i] = (float)i * 0.25f;
	if (card_write(fd, &card_made, &w) || frame_write_ids(fd, ids, 4, 0, 0, 0, &w) || frame_write(fd, &f, row, &w))
		_exit(2);
	f.type = FRAME_F16;
	f.cols = 3;
	f.pos = FRAME_APPEND;
	if (frame_write_header(fd, &f, &w) || frame_write_elements(fd, &f, half, 2, &w)
		|| frame_write_elements(fd, &f, half + 2, 1, &w))
		_exit(2);
	f = (struct frame){ .kind = FRAME_HIDDEN, .rows = 2, .cols = 3, .type = FRAME_I8, .seq = 9 };
	if (frame_write(fd, &f, bytes, &w))
		_exit(2);
	f = (struct frame){ .kind = FRAME_EMBEDDINGS, .rows = 1, .cols = 3, .type = FRAME_F32, .flags = POOLING_MEAN,
		.pos = 6 };
	if (frame_write(fd, &f, row, &w))
		_exit(2);
	f = (struct frame){ .kind = FRAME_LOGPROBS, .rows = 1, .cols = 2, .type = FRAME_F32, .pos = 4 };
	if (frame_write(fd, &f, pair, &w) || frame_write_ids(fd, ids, 0, 4, FRAME_SAMPLED, 0, &w)
		|| frame_write_end(fd, FRAME_END_STOP, 5, 0, &w))
		_exit(2);
	f = (struct frame){ .kind = FRAME_OPTS, .rows = sizeof options, .cols = 1, .type = FRAME_I8, .seq = 9 };
	if (frame_write(fd, &f, options, &w))
		_exit(2);
}

/* The number of correct frames, plus 100 if the input ends as it should. skim: leaves skipping payloads to
 * frame_next(). */
static int read_stream(int fd, int skim)
{
	static struct frame_in in;
	static float row[COLS];
	struct card card;
	struct frame f;
	int32_t ids[4];
	float few[3];
	signed char bytes[6];
	char *words = NULL;
	size_t room = 0;
	int good = 0, got, i;

	frame_open_in(&in, fd, "pipe");
	while ((got = frame_next(&in, &f, &w)) > 0) {
		if (skim) {
			good += f.kind == FRAME_IDS ? frame_skip(&in, &f, f.rows / 2, &w) == 0 : 1;
		} else if (f.kind == FRAME_CARD && !card_read(&in, &f, &card, &w)) {
			good += !card_agree(&card, "read", &card_made, "made", &w) && card.n_ctx == 2048
				&& card.model == card_made.model && card_is_eog(&card, 2)
				&& card_is_eog(&card, COLS - 1) && card_is_eog(&card, 0) && !card_is_eog(&card, 1);
		} else if (f.kind == FRAME_IDS && f.rows == 4 && !frame_read(&in, &f, ids, 4, &w)) {
			good += ids[0] == 5 && ids[1] == -1 && ids[2] == INT32_MAX && ids[3] == 7 && f.pos == 0
				&& !f.flags;
		} else if (f.kind == FRAME_LOGITS && f.type == FRAME_F32 && !frame_read(&in, &f, row, 10, &w)
			&& !frame_read(&in, &f, row + 10, COLS - 10, &w)) {
			for (i = 0; i < COLS && row[i] == (float)i * 0.25f; i++)
				;
			good += i == COLS && f.pos == 3;
		} else if (f.kind == FRAME_LOGITS && f.type == FRAME_F16 && !frame_read_floats(&in, &f, few, 3, &w)) {
			good += few[0] == 1 && few[1] == -2 && few[2] == 0x1p-24f && f.pos == FRAME_APPEND;
		} else if (f.kind == FRAME_HIDDEN && !frame_read(&in, &f, bytes, 6, &w)) {
			good += bytes[0] == 1 && bytes[5] == -6 && f.rows == 2 && f.seq == 9;
		} else if (f.kind == FRAME_EMBEDDINGS && !frame_read(&in, &f, few, 3, &w)) {
			good += few[2] == 0.5f && f.flags == POOLING_MEAN && f.pos == 6;
		} else if (f.kind == FRAME_LOGPROBS && !frame_read(&in, &f, few, 2, &w)) {
			good += few[0] == 3 && few[1] == -0.5f;
		} else if (f.kind == FRAME_IDS || f.kind == FRAME_END) {
			good += f.rows == 0 && (f.kind == FRAME_IDS || f.flags == FRAME_END_STOP);
		} else if (f.kind == FRAME_OPTS && !frame_read_all(&in, &f, &words, &room, &w)) {
			good += f.rows == sizeof options && !memcmp(words, options, sizeof options) && f.seq == 9;
		}
	}
	free(words);
	return good + (got == 0 ? 100 : 0);
}

enum { FRAMES = 10 };

/* ---- descriptors ---- */

static void ignore(int sig)
{
	(void)sig;
}

/* A timer without SA_RESTART: read(), write() and poll() fail with EINTR all the time. */
static void interrupt_often(int on)
{
	struct sigaction a = { .sa_handler = ignore };
	struct itimerval t = { { 0, on ? 500 : 0 }, { 0, on ? 500 : 0 } };

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* A child that copies at most `step` bytes at a time from one descriptor to another. */
static pid_t copier(int from, int to, size_t step)
{
	static char buffer[65536];
	struct timespec pause = { 0, 200000 };
	pid_t pid = fork();
	ssize_t n;
	long i;

	if (pid)
		return pid;
	for (i = 0; (n = read(from, buffer, step)) > 0; i++) {
		if (write(to, buffer, (size_t)n) != n)
			_exit(2);
		if (i % 1024 == 0)
			nanosleep(&pause, NULL);
	}
	_exit(n < 0);
}

/* writer → pipe → copier → pipe → reader */
static int through(size_t step, int non_blocking, int interrupts, int skim)
{
	int in[2], out[2], good;
	pid_t writer, copy;

	if (pipe(in) || pipe(out))
		exit(2);
	fflush(stdout);
	if (!(writer = fork())) {
		close(in[0]), close(out[0]), close(out[1]);
		if (non_blocking)
			nonblocking(in[1]);
		if (interrupts)
			interrupt_often(1);
		write_stream(in[1]);
		_exit(0);
	}
	close(in[1]);
	copy = copier(in[0], out[1], step);
	close(in[0]), close(out[1]);
	if (non_blocking)
		nonblocking(out[0]);
	if (interrupts)
		interrupt_often(1);
	good = read_stream(out[0], skim);
	interrupt_often(0);
	close(out[0]);
	while (waitpid(writer, NULL, 0) < 0 && errno == EINTR)
		;
	while (waitpid(copy, NULL, 0) < 0 && errno == EINTR)
		;
	return good;
}

static void pieces(void)
{
	static const size_t steps[] = { 1, 3, 31, 4096, 65536 };
	size_t i;
	int variant;

	for (i = 0; i < sizeof steps / sizeof *steps; i++)
		for (variant = 0; variant < 8; variant++)
			check_at(through(steps[i], variant & 1, variant & 2, variant & 4) == FRAMES + 100,
				"a stream through a pipe", (long long)(steps[i] * 10 + (size_t)variant));
}

/* slurp() of a non-blocking pipe that is interrupted all the time, and of a file with exactly as many bytes as the
 * limit allows. */
static void slurps(int file)
{
	enum { SIZE = 300000 };
	struct bytes b = { .limit = SIZE };
	int fd[2], kept = dup(0);
	struct timespec pause = { 0, 20000000 };
	pid_t writer;

	if (pipe(fd))
		exit(2);
	fflush(stdout);
	if (!(writer = fork())) {
		close(fd[0]);
		for (int i = 0; i < SIZE / 1000; i++) {
			if (write(fd[1], (char[1000]){ 0 }, 1000) != 1000)
				_exit(2);
			if (i % 100 == 0)
				nanosleep(&pause, NULL);
		}
		_exit(0);
	}
	close(fd[1]);
	dup2(fd[0], 0);
	close(fd[0]);
	nonblocking(0);
	interrupt_often(1);
	check_at(!slurp("-", &b, &w) && b.n == SIZE, "a pipe is read to its end", (long long)b.n);
	interrupt_often(0);
	while (waitpid(writer, NULL, 0) < 0 && errno == EINTR)
		;
	dup2(file, 0);
	if (ftruncate(file, SIZE) || lseek(file, 0, SEEK_SET))
		exit(2);
	b.n = 0;
	check_at(!slurp("-", &b, &w) && b.n == SIZE, "a file of the limit's size", (long long)b.n);
	if (ftruncate(file, SIZE + 1) || lseek(file, 0, SEEK_SET))
		exit(2);
	b.n = 0;
	check_at(slurp("-", &b, &w) < 0 && strstr(w.text, "standard input: larger than"), "a larger one",
		(long long)b.n);
	dup2(kept, 0);
	close(kept);
	bytes_free(&b);
}

static void closed_reader(void)
{
	static const char big[1 << 20];
	int fd[2];

	if (pipe(fd))
		exit(2);
	signal(SIGPIPE, SIG_IGN);
	close(fd[0]);
	check_at(frame_write_end(fd[1], FRAME_END_EOG, 0, 0, &w) < 0 && strstr(w.text, strerror(EPIPE)),
		"writing to nobody", 0);
	close(fd[1]);
	check_at(io_write(fd[1], big, sizeof big, &w) < 0, "writing to a closed descriptor", 0);
	signal(SIGPIPE, SIG_DFL);
	if (pipe(fd))
		exit(2);
	system_widen_pipe(fd[1], sizeof big);
	system_widen_pipe(fd[1], 1);
	system_widen_pipe(-1, 5);
	check_at(io_write(fd[1], big, 65536, &w) == 0, "a widened pipe", 0);
	close(fd[0]);
	close(fd[1]);
}

/* ---- bad streams ---- */

static int at_start(int fd, const void *bytes, size_t n)
{
	if (lseek(fd, 0, SEEK_SET) || ftruncate(fd, 0) || pwrite(fd, bytes, n, 0) != (ssize_t)n)
		exit(2);
	return fd;
}

static unsigned char *recorded(size_t *n, int fd)
{
	unsigned char *bytes;

	at_start(fd, "", 0);
	write_stream(fd);
	*n = (size_t)lseek(fd, 0, SEEK_END);
	bytes = malloc(*n);
	if (!bytes || pread(fd, bytes, *n, 0) != (ssize_t)*n)
		exit(2);
	return bytes;
}

/* Truncated at every byte, except in the middle of the large row. */
static void cuts(const unsigned char *bytes, size_t n, int fd)
{
	/* the first byte after each frame */
	const size_t ends[FRAMES + 1] = { 0, 76, 124, 156 + 4 * COLS, 194 + 4 * COLS, 232 + 4 * COLS, 276 + 4 * COLS,
		316 + 4 * COLS, 348 + 4 * COLS, 380 + 4 * COLS,
		412 + sizeof options + 4 * COLS };
	size_t cut;
	int got, whole, skim;

	check_at(n == ends[FRAMES], "the length of a stream", (long long)n);
	for (cut = 0; cut < n; cut++) {
		if (cut == 200)
			cut += 4 * COLS - 200;
		for (whole = 0; whole < FRAMES && ends[whole + 1] <= cut; whole++)
			;
		for (skim = 0; skim < 2; skim++) {
			got = read_stream(at_start(fd, bytes, cut), skim);
			/* when skimming, a frame with a complete header is counted before its missing end is noticed */
			if (!(got == whole + (cut == ends[whole] ? 100 : 0)
				|| (skim && cut != ends[whole] && got == whole + 1))
			    || (got < 100 && !strstr(w.text, "pipe: frame ")))
				check_at(0, "a cut stream", (long long)cut);
		}
	}
	check_at(1, "cuts", 0);
}

static int next_of(int fd, uint32_t kind, uint32_t rows, uint32_t cols, uint32_t type, uint32_t pos)
{
	static struct frame_in in;
	struct frame f = { kind, rows, cols, type, 0, pos, 0 };

	at_start(fd, "", 0);
	if (frame_write_header(fd, &f, &w))
		exit(2);
	lseek(fd, 0, SEEK_SET);
	frame_open_in(&in, fd, "file");
	return frame_next(&in, &f, &w);
}

static void bounds(int fd)
{
	static const struct {
		uint32_t kind, rows, cols, type, pos;
		int want;
	} h[] = {
		{ FRAME_IDS, 1, 1, FRAME_I32, 0, 1 }, { FRAME_IDS, FRAME_IDS_MAX, 1, FRAME_I32, 0, 1 },
		{ FRAME_IDS, FRAME_IDS_MAX + 1, 1, FRAME_I32, 0, -1 },
		{ FRAME_IDS, 0xffffffff, 1, FRAME_I32, 0, -1 }, { FRAME_IDS, 1, 2, FRAME_I32, 0, -1 },
		{ FRAME_IDS, 1, 0, FRAME_I32, 0, -1 },
		{ FRAME_IDS, 1, 1, FRAME_F32, 0, -1 }, { FRAME_IDS, 1, 1, 99, 0, -1 },
		{ FRAME_IDS, 1, 1, 0xffffffff, 0, -1 },
		{ FRAME_IDS, 2, 1, FRAME_I32, 0xfffffffd, -1 }, { FRAME_IDS, 2, 1, FRAME_I32, 0xfffffffc, 1 },
		{ FRAME_IDS, 2, 1, FRAME_I32, FRAME_APPEND, 1 },
		{ FRAME_CANVAS, 1, 1, FRAME_I32, 0, 1 }, { FRAME_CANVAS, 0, 1, FRAME_I32, 0, -1 },
		{ FRAME_CANVAS, 2, 2, FRAME_I32, 0, -1 }, { FRAME_CANVAS, 2, 1, FRAME_F32, 0, -1 },
		{ FRAME_LOGITS, 1, FRAME_VOCAB_MAX, FRAME_F32, 0, 1 },
		{ FRAME_LOGITS, 1, FRAME_VOCAB_MAX + 1, FRAME_F32, 0, -1 },
		{ FRAME_LOGITS, 0, 5, FRAME_F32, 0, -1 }, { FRAME_LOGITS, 1, 0, FRAME_F32, 0, -1 },
		{ FRAME_LOGITS, 1, 5, FRAME_I32, 0, -1 },
		{ FRAME_LOGITS, 0x80000000, 0x80000000, FRAME_F32, 0, -1 },
		{ FRAME_LOGITS, FRAME_IDS_MAX, FRAME_VOCAB_MAX, FRAME_F32, 0, 1 },
		{ FRAME_HIDDEN, 3, 1 << 20, FRAME_F16, 0, 1 }, { FRAME_HIDDEN, 3, 0xffffffff, FRAME_F16, 0, -1 },
		{ FRAME_EMBEDDINGS, 1, FRAME_IDS_MAX, FRAME_F32, 0, 1 },
		{ FRAME_EMBEDDINGS, 1, FRAME_IDS_MAX + 1, FRAME_F32, 0, -1 },
		{ FRAME_EMBEDDINGS, 0, 5, FRAME_F32, 0, -1 }, { FRAME_EMBEDDINGS, 1, 5, FRAME_F16, 0, -1 },
		{ FRAME_CARD, 7, 1, FRAME_I32, 0, -1 }, { FRAME_CARD, 8, 1, FRAME_I32, 0, 1 },
		{ FRAME_CARD, 264, 1, FRAME_I32, 0, 1 }, { FRAME_CARD, 265, 1, FRAME_I32, 0, -1 },
		{ FRAME_END, 0, 1, FRAME_I32, 0, 1 }, { FRAME_END, 1, 1, FRAME_I32, 0, -1 },
		{ FRAME_END, FRAME_STOP_MAX, 1, FRAME_I8, 0, 1 },
		{ FRAME_END, FRAME_STOP_MAX + 1, 1, FRAME_I8, 0, -1 }, { FRAME_END, 1, 2, FRAME_I8, 0, -1 },
		{ FRAME_END, 0, 1, FRAME_F32, 0, -1 },
		{ FRAME_OPTS, 1, 1, FRAME_I8, 0, 1 }, { FRAME_OPTS, 0, 1, FRAME_I8, 0, -1 },
		{ FRAME_OPTS, FRAME_OPTS_MAX, 1, FRAME_I8, FRAME_APPEND, 1 },
		{ FRAME_OPTS, FRAME_OPTS_MAX + 1, 1, FRAME_I8, 0, -1 }, { FRAME_OPTS, 1, 2, FRAME_I8, 0, -1 },
		{ FRAME_OPTS, 4, 1, FRAME_I32, 0, -1 },
		{ FRAME_IDS, 1, 1, FRAME_I8, 0, -1 }, { FRAME_LOGPROBS, 1, 3, FRAME_F32, 0, -1 },
		{ 0, 1, 1, FRAME_I32, 0, -1 }, { FRAME_KIND('i', 'd', 's', 'x'), 1, 1, FRAME_I32, 0, -1 },
	};
	size_t i;

	for (i = 0; i < sizeof h / sizeof *h; i++)
		check_at(next_of(fd, h[i].kind, h[i].rows, h[i].cols, h[i].type, h[i].pos) == h[i].want,
			"bounds of a header", (long long)i);
}

/* Nothing is copied of a frame whose end is missing. */
static void cut_copies(int fd)
{
	static struct frame_in in;
	const char text[] = "a stop string";
	int out[2], n;
	struct frame f;
	char c;

	for (n = 0; n < (int)sizeof text - 1; n++) {
		at_start(fd, "", 0);
		if (frame_write_stop(fd, text, sizeof text - 1, 5, 0, &w) || ftruncate(fd, FRAME_HEADER + n)
			|| pipe(out))
			exit(2);
		lseek(fd, 0, SEEK_SET);
		frame_open_in(&in, fd, "cut");
		check_at(frame_next(&in, &f, &w) == 1 && frame_copy(&in, &f, out[1], &w) < 0
			&& strstr(w.text, "cut: frame 1: "), "a cut frame", n);
		close(out[1]);
		check_at(read(out[0], &c, 1) == 0, "nothing of it is copied", n);
		close(out[0]);
	}
}

/* A stop with its string, and copied frame by frame. */
static void copies(int fd)
{
	static struct frame_in in;
	static unsigned char a[4 * COLS + 500], b[sizeof a];
	struct frame f;
	char text[3] = "";
	ssize_t n, m;
	char name[] = "frame_test.XXXXXX";
	int other = mkstemp(name), copied = 0;

	if (other < 0)
		exit(2);
	unlink(name);
	at_start(fd, "", 0);
	write_stream(fd);
	if (frame_write_stop(fd, "end", 3, 9, 2, &w))
		exit(2);
	n = pread(fd, a, sizeof a, 0);
	lseek(fd, 0, SEEK_SET);
	frame_open_in(&in, fd, "file");
	while (frame_next(&in, &f, &w) > 0)
		copied += !frame_copy(&in, &f, other, &w);
	m = pread(other, b, sizeof b, 0);
	check_at(copied == FRAMES + 1 && n == m && !memcmp(a, b, (size_t)n), "a copied stream", copied);
	lseek(other, m - 35, SEEK_SET);
	frame_open_in(&in, other, "file");
	check_at(frame_next(&in, &f, &w) == 1 && f.kind == FRAME_END && f.flags == FRAME_END_STOP && f.pos == 9
		&& f.rows == 3 && !frame_read(&in, &f, text, 3, &w)
		&& !memcmp(text, "end", 3), "a stop and its string", f.rows);
	close(other);
}

/* Words of a card, one of them replaced. */
static int card_with(int fd, int word, int32_t value)
{
	static struct frame_in in;
	int32_t words[11] = { 1, 2, 100, 1, 0, 0, 0, 0, 3, 50, 99 };
	struct frame f = { FRAME_CARD, 11, 1, FRAME_I32, 0, 0, 0 };
	struct card card;

	words[word] = value;
	at_start(fd, "", 0);
	if (frame_write(fd, &f, words, &w))
		exit(2);
	lseek(fd, 0, SEEK_SET);
	frame_open_in(&in, fd, "file");
	return frame_next(&in, &f, &w) < 0 ? -1 : card_read(&in, &f, &card, &w);
}

/* Reads the first frame of fd. */
static int first_of(int fd, struct frame *f, char **payload, size_t *room)
{
	static struct frame_in in;

	lseek(fd, 0, SEEK_SET);
	frame_open_in(&in, fd, "file");
	return frame_next(&in, f, &w) == 1 && !frame_read_all(&in, f, payload, room, &w);
}

/* Options without a NUL at the end; and what is answered to those that are refused. */
static void refusals(int fd)
{
	struct frame f = { .kind = FRAME_OPTS, .rows = 3, .cols = 1, .type = FRAME_I8 };
	struct why reason;
	char *payload = NULL;
	size_t room = 0;

	at_start(fd, "", 0);
	if (frame_write(fd, &f, "--a", &w))
		exit(2);
	check_at(!first_of(fd, &f, &payload, &room) && strstr(w.text, "file: frame 1: \"opts\""), "no NUL", 0);
	at_start(fd, "", 0);
	why(&reason, "--temp: \"x\" is not a number");
	if (frame_write_refusal(fd, &reason, 7, &w))
		exit(2);
	check_at(first_of(fd, &f, &payload, &room) && f.kind == FRAME_END && f.flags == FRAME_END_REFUSED && f.seq == 7
		&& f.rows == strlen(reason.text) && !memcmp(payload, reason.text, f.rows)
		&& !strcmp(frame_reason_key(f.flags), "refused"), "a refusal", f.rows);
	free(payload);
}

static void cards(int fd)
{
	struct card a = { .vocab = 1, .n_vocab = 10 }, b = a;

	check_at(card_with(fd, 0, 1) == 0 && card_with(fd, 0, -1) == 0 && card_with(fd, 3, -1) == 0
		&& card_with(fd, 7, 100) == 0 && card_with(fd, 7, -100) == 0, "good cards", 0);
	check_at(card_with(fd, 2, 0) < 0 && card_with(fd, 2, -1) < 0 && card_with(fd, 2, FRAME_VOCAB_MAX + 1) < 0,
		"sizes of vocabularies", 0);
	check_at(card_with(fd, 3, -2) < 0 && card_with(fd, 3, 100) < 0 && card_with(fd, 6, -1) < 0
		&& card_with(fd, 7, 101) < 0 && card_with(fd, 7, -101) < 0, "BOS, context, mask token", 0);
	check_at(card_with(fd, 8, -1) < 0 && card_with(fd, 9, 3) < 0 && card_with(fd, 10, 100) < 0
		&& card_with(fd, 10, 7) < 0, "ends of generation", 0);
	check_at(card_agree(&a, "one", &b, "two", &w) == 0, "equal cards", 0);
	b.model = 5;
	check_at(card_agree(&a, "one", &b, "two", &w) == 0, "no model agrees with any", 0);
	a.model = 6;
	check_at(card_agree(&a, "one", &b, "two", &w) < 0 && strstr(w.text, "one") && strstr(w.text, "two"),
		"two models", 0);
	a.vocab = 2;
	check_at(card_agree(&a, "one", &b, "two", &w) < 0 && strstr(w.text, "one") && strstr(w.text, "two"),
		"two vocabularies", 0);
}

/* Damage at random places may have any result except a crash, a hang, or an error without a reason. */
static void damage(unsigned char *bytes, size_t n, int fd)
{
	unsigned char *copy = malloc(n);
	uint32_t x = 1;
	int trial, i, got;

	for (trial = 0; trial < 3000; trial++) {
		memcpy(copy, bytes, n);
		for (i = 0; i < 4; i++) {
			x = x * 1664525 + 1013904223;
			/* most of them in the small frames */
			copy[x >> 8 & 1 ? (x >> 9) % 156 : n - 1 - (x >> 9) % 180] = (unsigned char)(x >> 24);
		}
		strcpy(w.text, "");
		got = read_stream(at_start(fd, copy, n), trial & 1);
		if (got < 100 && !*w.text)
			check_at(0, "a damaged stream without a reason", trial);
	}
	check_at(1, "damage", 0);
	free(copy);
}

int main(void)
{
	char name[] = "frame_test.XXXXXX";
	unsigned char *bytes;
	size_t n;
	int fd = mkstemp(name);

	if (fd < 0)
		return 2;
	unlink(name);
	pieces();
	slurps(fd);
	closed_reader();
	bytes = recorded(&n, fd);
	check_at(!memcmp(bytes,
		"lms1card\13\0\0\0\1\0\0\0\32\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\x32\x54\x76\x98\xba\xdc\xfe", 40),
		"the bytes of a header", bytes[8]);
	cuts(bytes, n, fd);
	bounds(fd);
	refusals(fd);
	cards(fd);
	damage(bytes, n, fd);
	copies(fd);
	cut_copies(fd);
	free(bytes);
	close(fd);
	return check_end("frame");
}
