/* tok: text to ids. Reads all of each file, since a pre-tokenizer may look ahead as far as the text goes; writes a card and a frame of ids a file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "lib/gguf/gguf.h"
#include "lib/base/guard.h"
#include "lib/vocab/vocab.h"

enum { BOS = 1, NO_BOS, NO_PARSE_SPECIAL, TEXT, COUNT, RAW };

static const struct opt opts[] = {
	{ 'a', "append", NULL, "the ids go after whatever is there: no BOS before them, no position of their own" },
	{ BOS, "bos", NULL, "begin with the BOS token, also where the model does not ask for it" },
	{ NO_BOS, "no-bos", NULL, "do not, even where it does" },
	{ NO_PARSE_SPECIAL, "no-parse-special", NULL, "control tokens in the text are text like any other (for text of strangers)" },
	{ RAW, "raw", NULL, "byte-level BPE keeps bytes that are no UTF-8 (default: each becomes U+FFFD)" },
	{ TEXT, "text", NULL, "write the ids as decimal text, one a line" },
	{ COUNT, "count", NULL, "write how many ids there are, and nothing else" },
	{ 0 }
};

static struct cli c = {
	.program = "tok", .synopsis = "[options] MODEL [file ...] > ids", .purpose = "text to ids; - or no file is standard input", .opts = opts
};
static struct why w;

static struct {
	int append, bos, no_bos, special, raw, text, count;
	int carded;
	struct card card;
	uint64_t total;
} run = { .special = 1 };

struct bytes_read {
	char *p;
	size_t n, room;
};

static void read_all(const char *name, struct bytes_read *b)
{
	int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : 0;
	struct pollfd wait = { fd, POLLIN, 0 };
	const char *shown = fd ? name : "standard input";
	ssize_t got;

	if (fd < 0)
		cli_die(&c, "%s: %s", name, strerror(errno));
	for (b->n = 0;; b->n += (size_t)got) {
		if (b->n == b->room) {
			b->room = b->room ? 2 * b->room : 65536;
			if (b->room / 2 > SIZE_MAX / 4 || !(b->p = realloc(b->p, b->room)))
				cli_die(&c, "%s: out of memory", shown);
		}
		got = read(fd, b->p + b->n, b->room - b->n);
		if (!got)
			break;
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			cli_die(&c, "%s: %s", shown, strerror(errno));
		if (got < 0) {
			got = 0;
			poll(&wait, errno == EAGAIN, -1);
		}
	}
	if (fd)
		close(fd);
}

static void write_ids(const struct ids *ids)
{
	size_t done, n;

	for (done = 0; done < ids->n; done += n) {
		n = ids->n - done < FRAME_IDS_MAX ? ids->n - done : FRAME_IDS_MAX;
		if (!run.carded && card_write(1, &run.card, &w))
			cli_die(&c, "%s", w.text);
		run.carded = 1;
		if (run.total + n >= FRAME_APPEND && !run.append)
			cli_die(&c, "more ids than a stream has positions");
		if (frame_write_ids(1, ids->id + done, (uint32_t)n, run.append ? FRAME_APPEND : (uint32_t)run.total, 0, 0, &w))
			cli_die(&c, "%s", w.text);
		run.total += n;
	}
}

static void convert(struct vocab *v, const char *name, int first, int last)
{
	static struct bytes_read text;
	static struct ids ids;
	int flags = (run.special ? VOCAB_SPECIAL : 0) | (run.raw ? VOCAB_RAW : 0);

	ids.n = 0;
	read_all(name, &text);
	if (!first || run.append)
		flags |= VOCAB_CONTINUE;
	else if (!run.no_bos && !run.bos)
		flags |= VOCAB_BOS;
	if (last && !run.append)
		flags |= VOCAB_EOS;
	if (first && run.bos && ids_add(&ids, run.card.bos))
		cli_die(&c, "out of memory");
	if (vocab_encode(v, text.p, text.n, flags, &ids, &w))
		cli_die(&c, "%s", w.text);
	if (first && (run.bos || (flags & VOCAB_BOS && vocab_adds_bos(v))) && ids.n > 1 && ids.id[1] == run.card.bos)
		fprintf(stderr, "tok: warning: the text begins with BOS (id %d), and one is put before it; --no-bos leaves that out\n", (int)run.card.bos);
	if (run.text)
		for (size_t i = 0; i < ids.n; i++)
			printf("%d\n", (int)ids.id[i]);
	if (run.text || run.count)
		run.total += ids.n;
	else
		write_ids(&ids);
}

static void take_options(void)
{
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'a':
			run.append = 1;
			break;
		case BOS:
			run.bos = 1;
			run.no_bos = 0;
			break;
		case NO_BOS:
			run.no_bos = 1;
			run.bos = 0;
			break;
		case NO_PARSE_SPECIAL:
			run.special = 0;
			break;
		case RAW:
			run.raw = 1;
			break;
		case TEXT:
			run.text = 1;
			break;
		case COUNT:
			run.count = 1;
			break;
		}
	if (!c.argc)
		cli_usage(&c, "name the model whose vocabulary to use (try --help)");
	if (run.text && run.count)
		cli_usage(&c, "--text and --count exclude each other");
}

int main(int argc, char **argv)
{
	static char *from_stdin[] = { "-" };
	struct vocab *v;
	struct gguf *g;
	char **files = from_stdin;
	int n = 1;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	take_options();
	if (!run.text && !run.count)
		cli_binary(&c, 1);
	guard_arm(c.program);
	if (!(g = gguf_open(c.argv[0], 0, &w)) || !(v = vocab_open(g, VOCAB_ENCODE, &w)))
		cli_die(&c, "%s", w.text);
	vocab_card(v, &run.card);
	if (run.bos && run.card.bos < 0)
		cli_die(&c, "%s: has no BOS token", c.argv[0]);
	if (c.argc > 1) {
		files = c.argv + 1;
		n = c.argc - 1;
	}
	for (int i = 0; i < n; i++)
		convert(v, files[i], i == 0, i == n - 1);
	if (run.count)
		printf("%llu\n", (unsigned long long)run.total);
	vocab_close(v);
	gguf_close(g);
	return cli_end(&c);
}
