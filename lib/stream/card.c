#include "card.h"

#include <inttypes.h>

/* words of the payload */
enum { VOCAB_LOW, VOCAB_HIGH, N_VOCAB, BOS, MODEL_LOW, MODEL_HIGH, N_CTX, DIFFUSION, EOG };

static uint64_t join(int32_t low, int32_t high)
{
	return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

/* The halves of a fingerprint as words of the payload. */
static void split(uint64_t v, int32_t *low, int32_t *high)
{
	*low = (int32_t)(uint32_t)v;
	*high = (int32_t)(uint32_t)(v >> 32);
}

static int bad(const struct frame_in *in, struct why *w, const char *cause)
{
	why(w, "card: %s", cause);
	return frame_why(in, w);
}

int card_read(struct frame_in *in, const struct frame *f, struct card *card, struct why *w)
{
	int32_t word[EOG + FRAME_EOG_MAX], i;

	if (f->kind != FRAME_CARD || f->rows < EOG || f->rows > EOG + FRAME_EOG_MAX)
		return bad(in, w, "not a card");
	if (frame_read(in, f, word, f->rows, w) < 0)
		return -1;
	*card = (struct card){
		.vocab = join(word[VOCAB_LOW], word[VOCAB_HIGH]),
		.model = join(word[MODEL_LOW], word[MODEL_HIGH]),
		.n_vocab = word[N_VOCAB],
		.bos = word[BOS],
		.n_ctx = word[N_CTX],
		.diffusion = word[DIFFUSION] != 0,
		.shifted = word[DIFFUSION] < 0,
		.n_eog = (int32_t)f->rows - EOG,
	};
	if (card->n_vocab < 1 || card->n_vocab > FRAME_VOCAB_MAX)
		return bad(in, w, "the size of its vocabulary is out of range");
	if (card->bos < -1 || card->bos >= card->n_vocab)
		return bad(in, w, "its BOS id is outside its vocabulary");
	if (card->n_ctx < 0)
		return bad(in, w, "its context is negative");
	if (word[DIFFUSION] < -card->n_vocab || word[DIFFUSION] > card->n_vocab)
		return bad(in, w, "its mask token is outside its vocabulary");
	if (card->diffusion)
		card->mask_id = (card->shifted ? -word[DIFFUSION] : word[DIFFUSION]) - 1;
	for (i = 0; i < card->n_eog; i++) {
		card->eog[i] = word[EOG + i];
		if (card->eog[i] < 0 || card->eog[i] >= card->n_vocab || (i && card->eog[i] <= card->eog[i - 1]))
			return bad(in, w, "its end-of-generation ids are not ascending ids of its vocabulary");
	}
	return 0;
}

/* The frame of a card and its payload. */
static struct frame encode(const struct card *card, int32_t word[EOG + FRAME_EOG_MAX])
{
	split(card->vocab, &word[VOCAB_LOW], &word[VOCAB_HIGH]);
	split(card->model, &word[MODEL_LOW], &word[MODEL_HIGH]);
	word[N_VOCAB] = card->n_vocab;
	word[BOS] = card->bos;
	word[N_CTX] = card->n_ctx;
	word[DIFFUSION] = !card->diffusion ? 0 : card->shifted ? -1 - card->mask_id : 1 + card->mask_id;
	for (int32_t i = 0; i < card->n_eog; i++)
		word[EOG + i] = card->eog[i];
	return (struct frame){ .kind = FRAME_CARD, .rows = (uint32_t)(EOG + card->n_eog), .cols = 1,
		.type = FRAME_I32 };
}

int card_write(int fd, const struct card *card, struct why *w)
{
	int32_t word[EOG + FRAME_EOG_MAX];
	struct frame f = encode(card, word);

	return frame_write(fd, &f, word, w);
}

int card_append(struct bytes *to, const struct card *card)
{
	int32_t word[EOG + FRAME_EOG_MAX];
	struct frame f = encode(card, word);

	return frame_append(to, &f, word);
}

int card_agree(const struct card *a, const char *a_name, const struct card *b, const char *b_name, struct why *w)
{
	if (a->vocab != b->vocab || a->n_vocab != b->n_vocab)
		return why(w, "%s: ids of another vocabulary (%016" PRIx64 ", %" PRId32 " ids) than %s's "
			"(%016" PRIx64 ", %" PRId32 " ids)",
			a_name, a->vocab, a->n_vocab, b_name, b->vocab, b->n_vocab);
	if (a->model && b->model && a->model != b->model)
		return why(w, "%s: logits of another model (%016" PRIx64 ") than %s's (%016" PRIx64 ")", a_name,
			a->model, b_name, b->model);
	return 0;
}

int card_check_id(int32_t id, int32_t n_vocab, struct why *w)
{
	return id >= 0 && id < n_vocab ? 0
		: why(w, "id %" PRId32 " is outside the vocabulary of %" PRId32, id, n_vocab);
}

int card_is_eog(const struct card *card, int32_t id)
{
	int32_t low = 0, high = card->n_eog, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (card->eog[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < card->n_eog && card->eog[low] == id;
}
