/* model: a vocabulary and a grammar over it. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/gguf/gguf.h"
#include "lib/grammar/grammar.h"
#include "lib/grammar/mask.h"
#include "lib/base/grow.h"
#include "lib/schema/schema.h"
#include "lib/base/slurp.h"
#include "lib/vocab/vocab.h"

struct accepted {
	uint32_t position;
	int32_t id;
};

struct model {
	const char *path;
	struct gguf *g;
	struct vocab *v;
	struct card card;
	struct grammar *grammar;
	struct masker *guide;
	int32_t *end;           /* [n_end] */
	int32_t n_end;
	int over;               /* an end was accepted */
	struct mask_text *here;
	struct accepted *accepted;      /* [n], what led here */
	size_t n, room;
};

struct model *model_open(const char *path, struct why *w)
{
	struct model *m = calloc(1, sizeof *m);

	if (!m) {
		why(w, "out of memory");
		return NULL;
	}
	m->path = path;
	if (!(m->g = gguf_open(path, 0, w)) || !(m->v = vocab_open(m->g, VOCAB_PIECES, w))) {
		model_close(m);
		return NULL;
	}
	vocab_card(m->v, &m->card);
	return m;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	masker_close(m->guide);
	grammar_free(m->grammar);
	free(m->end);
	free(m->accepted);
	vocab_close(m->v);
	if (m->g)
		gguf_close(m->g);
	free(m);
}

const struct vocab *model_vocab(const struct model *m)
{
	return m->v;
}

int model_agrees(const struct model *m, const struct card *card, struct why *w)
{
	return card_agree(card, "stdin", &m->card, m->path, w);
}

const char *model_piece(const void *m, int32_t id, size_t *n)
{
	return vocab_piece(((const struct model *)m)->v, id, 1, n);
}

const char *model_printed(const void *m, int32_t id, size_t *n)
{
	return vocab_piece(((const struct model *)m)->v, id, 0, n);
}

/* ---- the grammar ---- */

int model_grammar(struct model *m, const struct grammar_source *source, struct why *w)
{
	struct bytes given = { .limit = GRAMMAR_TEXT }, made = { .limit = GRAMMAR_TEXT };
	const struct bytes *text = &given;
	char name[300] = "--";
	int status = 0;

	strncat(name, source->option, 40);
	if (source->is_file)
		status = slurp(source->value, &given, w);
	else if (bytes_puts(&given, source->value))
		status = why(w, "%s: longer than %d MiB", name, GRAMMAR_TEXT >> 20);
	if (!status && source->is_schema) {
		text = &made;
		status = schema_grammar(given.p ? given.p : "", given.n, &made, w) ? -2 : 0;
	}
	if (!status && !(m->grammar = grammar_parse(text->p ? text->p : "", text->n, w)))
		status = -2;
	if (status == -2)
		why_in(w, source->is_file ? source->value : name);
	bytes_free(&given);
	bytes_free(&made);
	return status;
}

int model_guide(struct model *m, const struct card *card, const int32_t *end, size_t n, struct why *w)
{
	struct mask_vocab pieces = { .n = card->n_vocab, .bytes = model_printed, .context = m };
	size_t i, len = 0;

	m->end = calloc((size_t)card->n_eog + n + 1, sizeof *m->end);
	if (!m->end)
		return why(w, "out of memory");
	memcpy(m->end, card->eog, (size_t)card->n_eog * sizeof *m->end);
	m->n_end = card->n_eog;
	for (i = 0; i < n; i++)
		if (!model_printed(m, end[i], &len) || !len)
			m->end[m->n_end++] = end[i];
	pieces.eog = m->end;
	pieces.n_eog = m->n_end;
	m->guide = masker_open(m->grammar, &pieces, w);
	/* the first mask is found while the prompt is evaluated, and a grammar that is too much is refused before */
	return m->guide && !model_restart(m, w) && mask_find(m->here, w) ? 0 : -1;
}

/* ---- the place in it ---- */

static int to_start(struct model *m, struct why *w)
{
	mask_drop(m->here);
	return (m->here = mask_start(m->guide, w)) ? 0 : -1;
}

int model_restart(struct model *m, struct why *w)
{
	m->n = 0;
	m->over = 0;
	return to_start(m, w);
}

/* To where the text stood before a position: from the start again, if that is not here. */
static int back_to(struct model *m, uint32_t position, struct why *w)
{
	size_t n = m->n, i;

	while (n && m->accepted[n - 1].position >= position)
		n--;
	if (n == m->n)
		return 0;
	m->n = n;
	m->over = 0;
	if (to_start(m, w))
		return -1;
	for (i = 0; i < n; i++)
		if (mask_accept(m->here, m->accepted[i].id, w))
			return -1;
	return 0;
}

int model_mask(struct model *m, uint32_t position, float *row, struct why *w)
{
	const uint32_t *mask;

	if (back_to(m, position, w) || !(mask = mask_find(m->here, w)))
		return -1;
	mask_apply(mask, row, m->card.n_vocab);
	return 0;
}

int model_accept(struct model *m, uint32_t position, int32_t id, struct why *w)
{
	if (m->n == m->room && grow(&m->accepted, &m->room, sizeof *m->accepted, 1024))
		return why(w, "out of memory");
	m->accepted[m->n++] = (struct accepted){ position, id };
	for (int32_t i = 0; i < m->n_end; i++)
		m->over |= id == m->end[i];
	return mask_accept(m->here, id, w);
}

int model_may_end(const struct model *m)
{
	return m->over || mask_may_end(m->here);
}

int model_must_end(const struct model *m)
{
	return mask_must_end(m->here);
}

int model_has_end(const struct model *m)
{
	return m->n_end > 0;
}
