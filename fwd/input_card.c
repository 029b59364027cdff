/* The card of fwd's output is that of its input, with what only fwd knows. */
#include "input_frames.h"

#include <string.h>

#include "fwd/model/diffusion.h"
#include "lib/vocab/vocab.h"
#include "adapt.h"

/* Makes the card for a stream that came without one. A model without a vocabulary, or with an unsupported kind, has no
 * BOS and no end-of-generation ids. A vocabulary that cannot be opened is an error. */
static int own_card(const struct model *m, struct card *card, struct why *w)
{
	struct why unsupported;
	struct vocab *vocab;

	memset(card, 0, sizeof *card);
	card->bos = -1;
	if (vocab_supported(m->gguf, &unsupported)) {
		vocab = vocab_open(m->gguf, VOCAB_PIECES, w);
		if (!vocab)
			return -1;
		vocab_card(vocab, card);
		vocab_close(vocab);
	}
	card->vocab = m->vocab;
	card->n_vocab = (int32_t)m->n_vocab;
	return 0;
}

/* Writes the card, after adding the model's fingerprint and context. */
static int start(struct input *in, struct card *card, struct why *w)
{
	const struct batch *b = in->batch;
	struct model *m = b->plan->model;
	const struct diffusion *d = diffusion_of(m);

	in->started = 1;
	card->model = b->hidden.out ? hidden_model(m) : adapt_fingerprint(m);
	card->n_ctx = (int32_t)b->texts->first->n_ctx;
	card->diffusion = d->on;
	card->mask_id = d->mask_id;
	card->shifted = d->shifted;
	in->card = *card;
	return card_write(b->answers.out, card, w);
}

static int check_hidden_card(const struct input *in, const struct card *card, struct why *w)
{
	const struct batch *b = in->batch;

	if (b->hidden.in && hidden_check_card(&b->hidden, b->texts->first->n_ctx, card, w) < 0)
		return frame_why(&in->in, w);
	return 0;
}

int input_card(struct input *in, struct why *w)
{
	const struct batch *b = in->batch;
	const struct model *m = b->plan->model;
	struct card card, own = { .vocab = m->vocab, .model = b->hidden.in ? hidden_model(m) : adapt_fingerprint(m),
		.n_vocab = (int32_t)m->n_vocab };

	if (card_read(&in->in, &in->frame, &card, w) < 0 || check_hidden_card(in, &card, w) < 0)
		return -1;
	if (card_agree(&card, in->in.name, &own, m->gguf->path, w) < 0)
		return -1;
	return in->started ? 0 : start(in, &card, w);
}

int input_no_card(struct input *in, struct why *w)
{
	struct card none = { .model = 0 }, card;

	if (in->started)
		return 0;
	if (check_hidden_card(in, &none, w) < 0 || own_card(in->batch->plan->model, &card, w) < 0)
		return -1;
	return start(in, &card, w);
}
