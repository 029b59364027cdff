/* The text of ids. */
#include "printer.h"

#include <string.h>

#include "lib/base/io.h"
#include "lib/stream/frame.h"

void printer_open(struct printer *p, struct why *w)
{
	p->w = w;
	p->found = -1;
	p->prefixed = p->failed = 0;
	p->n = 0;
}

void printer_start(struct printer *p)
{
	p->prefixed = vocab_rules(p->vocab)->space_prefix;
}

static void write_now(struct printer *p, const char *s, size_t n)
{
	if (n && !p->failed)
		p->failed = io_write(p->fd, s, n, p->w) < 0;
}

int printer_flush(struct printer *p)
{
	write_now(p, p->bytes, p->n);
	p->n = 0;
	return p->failed ? -1 : 0;
}

static void put(void *context, const char *s, size_t n)
{
	struct printer *p = context;

	if (p->fd < 0)
		return;
	if (n > sizeof p->bytes - p->n)
		printer_flush(p);
	if (n > sizeof p->bytes) {
		write_now(p, s, n);
		return;
	}
	memcpy(p->bytes + p->n, s, n);
	p->n += n;
}

int printer_id(struct printer *p, int32_t id, int sampled)
{
	size_t n;
	const char *piece = vocab_piece(p->vocab, id, p->special, &n);

	if (vocab_is_special(p->vocab, id)) {
		p->prefixed = vocab_rules(p->vocab)->space_prefix && id != vocab_rules(p->vocab)->unknown;
	} else {
		if (p->prefixed && !sampled && n && *piece == ' ') {
			piece++;
			n--;
		}
		p->prefixed = 0;
	}
	p->found = stop_feed(p->stop, piece, n, put, p);
	return p->found >= 0;
}

void printer_text(struct printer *p, const char *s)
{
	put(p, s, strlen(s));
}

void printer_end(struct printer *p)
{
	stop_end(p->stop, put, p);
	p->found = -1;
}
