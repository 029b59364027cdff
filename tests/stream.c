/* stream: makes, unpacks and compares streams for the tests.
 *
 *	stream make [-s N] [-p POS] [IDS]       decimal ids (operands or stdin) to frames of N ids each
 *	stream ids [-g] < stream                a stream's ids as one line of text; -g: only sampled ones
 *	stream rows [-l N] < stream > floats    its logits or embeddings, row after row, without headers; -l: after N
 *	                                        layers (--lens)
 *	stream options [-s SEED] N < words
 *	        N sequences, each with a frame of random lines of the input as options, in some of which bytes are
 *	        changed, then one of ids
 *	stream compare [-m X] [-d X] [-k PEER] [-r N] GOLDEN < stream
 *	        compares its logits with a file of raw floats of the same shape: prints the largest difference and the
 *	        mean KL divergence from GOLDEN; exits with 1 if one exceeds its bound, or the divergence that of PEER.
 *	        -r: of the last N rows only */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/cli.h"
#include "lib/base/slurp.h"
#include "lib/stream/frame.h"
#include "mkrandom.h"

static const struct opt opts[] = {
	{ 's', "split", "N", "make: ids of a frame, 0 for one frame of all; options: the seed (default: 0)" },
	{ 'p', "pos", "POS", "make: position of the first id; -1: append (default: 0)" },
	{ 'g', "generated", NULL, "ids: only those that a sampler made" },
	{ 'l', "layers", "N", "rows: of frames with this flag (default: 0)" },
	{ 'm', "max", "X", "compare: the largest difference allowed" },
	{ 'd', "divergence", "X", "compare: the largest mean KL divergence allowed" },
	{ 'k', "kl", "PEER", "compare: raw floats; our mean KL divergence must not be larger than theirs" },
	{ 'r', "rows", "N", "compare: only the last N rows" },
	{ 0 }
};

struct rows {                   /* row-major floats */
	float *x;
	size_t n, cols;
};

static struct cli c = { .program = "stream", .synopsis = "make|options|ids|rows|compare [options] [operands]",
	.purpose = "streams for tests", .opts = opts };
static struct why w;
static uint32_t layers;

static void *grown(void *p, size_t n)
{
	if (!(p = realloc(p, n)))
		cli_die(&c, "out of memory");
	return p;
}

static void make(size_t split, long long pos, char **words, size_t n_words)
{
	int32_t *ids = NULL;
	size_t n = 0, room = 0;
	long long id;

	for (;;) {
		if (n_words ? n == n_words : scanf("%lld", &id) != 1)
			break;
		if (n == room)
			ids = grown(ids, (room = room * 2 + 64) * sizeof *ids);
		ids[n] = (int32_t)(n_words ? atoll(words[n]) : id);
		n++;
	}
	for (size_t i = 0, step; i < n; i += step) {
		step = split && split < n - i ? split : n - i;
		cli_must(&c, frame_write_ids(1, ids + i, (uint32_t)step,
			pos < 0 ? FRAME_APPEND : (uint32_t)((size_t)pos + i), 0, 0, &w), &w);
	}
	free(ids);
}

static void print_ids(int generated)
{
	struct frame_in in;
	struct frame f;
	int32_t id;
	int more, first = 1;

	frame_open_in(&in, 0, "stdin");
	while ((more = frame_next(&in, &f, &w)) == 1)
		for (uint32_t i = 0; f.kind == FRAME_IDS && i < f.rows; i++) {
			cli_must(&c, frame_read(&in, &f, &id, 1, &w), &w);
			if (generated && !(f.flags & FRAME_SAMPLED))
				continue;
			printf(first ? "%d" : " %d", (int)id);
			first = 0;
		}
	printf("\n");
	cli_must(&c, more < 0, &w);
}

/* Options of sequences 1 to n. */
static void make_options(uint64_t seed, uint32_t n)
{
	static const int32_t ids[] = { 5, 6, 7 };
	enum { LINES = 1000, MOST = 6 };
	struct bytes text = { .limit = 1 << 20 }, words = { .limit = 1 << 20 };
	const char *line[LINES], *end;
	size_t n_lines = 0, k = 0;

	cli_must(&c, slurp("-", &text, &w), &w);
	for (const char *s = text.p; s && n_lines < LINES && (end = memchr(s, '\n', text.n - (size_t)(s - text.p)));
		s = end + 1)
		line[n_lines++] = s;
	for (uint32_t seq = 1; n_lines && seq <= n; seq++) {
		struct frame f = { .kind = FRAME_OPTS, .cols = 1, .type = FRAME_I8, .seq = seq };

		words.n = 0;
		for (uint64_t i = 1 + mkrandom(seed, k++) % MOST; i > 0; i--) {
			const char *s = line[mkrandom(seed, k++) % n_lines];

			bytes_put(&words, s, strcspn(s, "\n"));
			bytes_put(&words, "", 1);
		}
		for (uint64_t i = mkrandom(seed, k++) % 3; i > 0; i--, k += 2)
			words.p[mkrandom(seed, k) % words.n] = (char)mkrandom(seed, k + 1);
		words.p[words.n - 1] = '\0';
		f.rows = (uint32_t)words.n;
		if (words.failed || frame_write(1, &f, words.p, &w) || frame_write_ids(1, ids, 3, 0, 0, seq, &w))
			cli_die(&c, "%s", words.failed ? "out of memory" : w.text);
	}
	bytes_free(&text);
	bytes_free(&words);
}

/* The last rows of a stream, at most this many. */
static struct rows read_rows(size_t last)
{
	struct frame_in in;
	struct frame f;
	struct rows r = { NULL, 0, 0 };
	int more;

	frame_open_in(&in, 0, "stdin");
	while ((more = frame_next(&in, &f, &w)) == 1) {
		if ((f.kind != FRAME_LOGITS || f.flags != layers) && f.kind != FRAME_EMBEDDINGS)
			continue;
		if (r.cols && r.cols != f.cols)
			cli_die(&c, "rows of %zu and of %u logits", r.cols, (unsigned)f.cols);
		r.cols = f.cols;
		r.x = grown(r.x, (r.n + f.rows) * r.cols * sizeof *r.x);
		cli_must(&c, frame_read(&in, &f, r.x + r.n * r.cols, (size_t)f.rows * f.cols, &w), &w);
		r.n += f.rows;
	}
	cli_must(&c, more < 0, &w);
	if (r.n > last) {
		memmove(r.x, r.x + (r.n - last) * r.cols, last * r.cols * sizeof *r.x);
		r.n = last;
	}
	return r;
}

/* A file of raw floats, which must have the shape of r. */
static float *raw(const char *path, const struct rows *r)
{
	float *x = grown(NULL, (r->n * r->cols + 1) * sizeof *x);
	FILE *file = fopen(path, "rb");

	if (!file)
		cli_die(&c, "%s: cannot open", path);
	if (fread(x, sizeof *x, r->n * r->cols + 1, file) != r->n * r->cols)
		cli_die(&c, "%s: not %zu rows of %zu", path, r->n, r->cols);
	fclose(file);
	return x;
}

static double log_sum(const float *x, size_t n)
{
	double most = x[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		most = x[i] > most ? x[i] : most;
	for (size_t i = 0; i < n; i++)
		sum += exp(x[i] - most);
	return most + log(sum);
}

/* Mean over the rows of the KL divergence of softmax(q) from softmax(p). */
static double divergence(const float *p, const float *q, size_t n, size_t cols)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++, p += cols, q += cols) {
		double zp = log_sum(p, cols), zq = log_sum(q, cols);

		for (size_t k = 0; k < cols; k++)
			sum += exp(p[k] - zp) * ((p[k] - zp) - (q[k] - zq));
	}
	return sum / (double)n;
}

static int compare(const char *golden_path, double max, double max_kl, const char *peer_path, size_t last)
{
	struct rows r = read_rows(last);
	float *golden = raw(golden_path, &r);
	double most = 0, kl;
	int ok;

	if (!r.n)
		cli_die(&c, "no logits");
	for (size_t i = 0; i < r.n * r.cols; i++) {
		double d = fabs((double)r.x[i] - golden[i]);

		most = d <= most ? most : d;    /* a NaN stays */
	}
	kl = divergence(golden, r.x, r.n, r.cols);
	printf("%zu rows, max %.2g, kl %.2g", r.n, most, kl);
	ok = most <= max && kl <= max_kl;
	if (peer_path) {
		float *peer = raw(peer_path, &r);
		double theirs = divergence(golden, peer, r.n, r.cols);

		printf(", peer kl %.2g", theirs);
		ok = ok && kl <= theirs;
		free(peer);
	}
	printf("\n");
	free(r.x);
	free(golden);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	size_t split = 0, last = SIZE_MAX;
	long long pos = 0;
	int generated = 0, status = 0;
	double max = INFINITY, max_kl = INFINITY;
	const char *peer = NULL, *verb;
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 's': split = (size_t)cli_integer(&c, o, 0, 1 << 20); break;
		case 'p': pos = cli_integer(&c, o, -1, 1 << 30); break;
		case 'g': generated = 1; break;
		case 'l': layers = (uint32_t)cli_integer(&c, o, 0, 9999); break;
		case 'm': max = cli_real(&c, o, 0, 1e9); break;
		case 'd': max_kl = cli_real(&c, o, 0, 1e9); break;
		case 'k': peer = c.value; break;
		case 'r': last = (size_t)cli_integer(&c, o, 1, 1 << 20); break;
		}
	verb = c.argc ? c.argv[0] : "";
	if (!strcmp(verb, "make")) {
		make(split, pos, c.argv + 1, (size_t)c.argc - 1);
	} else if (!strcmp(verb, "options") && c.argc == 2) {
		make_options(split, (uint32_t)strtoul(c.argv[1], NULL, 10));
	} else if (!strcmp(verb, "ids")) {
		print_ids(generated);
	} else if (!strcmp(verb, "rows")) {
		struct rows r = read_rows(last);

		if (r.n)
			fwrite(r.x, sizeof *r.x, r.n * r.cols, stdout);
		free(r.x);
	} else if (!strcmp(verb, "compare") && c.argc == 2) {
		status = compare(c.argv[1], max, max_kl, peer, last);
	} else {
		cli_usage(&c, "make, options, ids, rows or compare");
	}
	return cli_end(&c) ? 1 : status;
}
