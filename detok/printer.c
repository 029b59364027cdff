/* Ids become pieces, and pieces go through a search for stop strings. */
#include "printer.h"

/* Whether a control token may mark a part of an answer: those that begin or end a text do not. */
static int may_mark(const struct printer *p, int32_t id)
{
	return vocab_is_special(p->vocab, id) && id != vocab_rules(p->vocab)->bos && !card_is_eog(p->card, id);
}

int printer_fork(struct printer *p, const struct printer *from, struct why *w)
{
	*p = *from;
	return (p->stop = stop_fork(from->stop, w)) ? 0 : -1;
}

void printer_close(struct printer *p)
{
	stop_close(p->stop);
	p->stop = NULL;
}

void printer_start(struct printer *p)
{
	p->prefixed = 1;
}

static void put(void *context, const char *s, size_t n)
{
	const struct printer *p = context;

	if (p->put)
		p->put(p->context, s, n);
}

const char *printer_piece(struct printer *p, int32_t id, int sampled, size_t *n)
{
	int begins = p->prefixed && !sampled;
	const char *piece = vocab_text(p->vocab, id, p->special, &begins, n);

	if (p->marks && piece && !*n && may_mark(p, id))
		piece = vocab_piece(p->vocab, id, 1, n);
	p->prefixed = begins;
	return piece;
}

int printer_id(struct printer *p, int32_t id, int sampled)
{
	size_t n;
	const char *piece = printer_piece(p, id, sampled, &n);

	p->found = stop_feed(p->stop, piece, n, put, p);
	return p->found >= 0;
}

void printer_end(struct printer *p)
{
	stop_end(p->stop, put, p);
	p->found = -1;
}
