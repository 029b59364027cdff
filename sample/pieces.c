#include "pieces.h"

#include <stdlib.h>
#include <string.h>

#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"

struct token_pieces {
	const char *path;
	struct gguf *g;
	struct vocab *v;
	struct vocab *encoder;          /* NULL before pieces_encoder() */
	struct card card;
};

struct token_pieces *pieces_open(const char *path, struct why *w)
{
	struct token_pieces *p = calloc(1, sizeof *p);

	if (!p) {
		why(w, "out of memory");
		return NULL;
	}
	p->path = path;
	if (!(p->g = gguf_open(models_path(path, w), 0, w)) || !(p->v = vocab_open(p->g, VOCAB_PIECES, w))) {
		pieces_close(p);
		return NULL;
	}
	vocab_card(p->v, &p->card);
	return p;
}

void pieces_close(struct token_pieces *p)
{
	if (!p)
		return;
	vocab_close(p->v);
	vocab_close(p->encoder);
	if (p->g)
		gguf_close(p->g);
	free(p);
}

const struct vocab *pieces_vocab(const struct token_pieces *p)
{
	return p->v;
}

struct vocab *pieces_encoder(struct token_pieces *p, struct why *w)
{
	return p->encoder ? p->encoder : (p->encoder = vocab_open(p->g, VOCAB_ENCODE, w));
}

int pieces_agree(const struct token_pieces *p, const struct card *card, struct why *w)
{
	return card_agree(card, "standard input", &p->card, p->path, w);
}

const char *pieces_shown(const void *pieces, int32_t id, size_t *n)
{
	return vocab_piece(((const struct token_pieces *)pieces)->v, id, 1, n);
}

const char *pieces_printed(const void *pieces, int32_t id, size_t *n)
{
	return vocab_piece(((const struct token_pieces *)pieces)->v, id, 0, n);
}

int32_t pieces_count(const struct token_pieces *p)
{
	return p->card.n_vocab;
}

/* The first id with that text among those that are special, or among the others; -1: none. */
static int32_t find(const struct token_pieces *p, const char *text, size_t n, int special)
{
	size_t len = 0;

	for (int32_t id = 0; id < p->card.n_vocab; id++) {
		const char *s = vocab_is_special(p->v, id) == special ? pieces_shown(p, id, &len) : NULL;

		if (s && len == n && !memcmp(s, text, n))
			return id;
	}
	return -1;
}

int32_t pieces_find(const void *pieces, const char *text, size_t n)
{
	int32_t id = find(pieces, text, n, 1);

	return id >= 0 ? id : find(pieces, text, n, 0);
}
