/* One text, as frames, chunks, decimal ids or offsets. */
#include "document.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/base/slurp.h"
#include "lib/vocab/align.h"

/* Before the first frame. */
static int write_card(struct tok *t, struct why *w)
{
	return t->carded++ ? 0 : card_write(1, &t->card, w);
}

static int write_frames(struct tok *t, const struct ids *ids, struct why *w)
{
	uint64_t pos = t->n_ids;

	for (size_t done = 0, n; done < ids->n; done += n, pos += n) {
		n = size_min(ids->n - done, FRAME_IDS_MAX);
		if (write_card(t, w))
			return -1;
		if (pos + n >= FRAME_APPEND && !t->append)
			return why(w, "more tokens than a stream has positions");
		if (frame_write_ids(1, ids->id + done, (uint32_t)n, t->append ? FRAME_APPEND : (uint32_t)pos, 0, 0, w))
			return -1;
	}
	return 0;
}

/* All whole chunks of the ids of all files, once the last is there; each is a frame at position 0. */
static int write_chunks(struct tok *t, const struct ids *more, int last, struct why *w)
{
	struct ids *ids = &t->chunked;

	if (ids_append(ids, more->id, more->n, w))
		return -1;
	if (last && ids->n < t->chunk)
		return why(w, "%zu tokens: less than a chunk", ids->n);
	for (size_t i = 0; last && i + t->chunk <= ids->n; i += t->chunk) {
		if (tok_adds_bos(t))
			ids->id[i] = t->card.bos;
		if (write_card(t, w) || frame_write_ids(1, ids->id + i, (uint32_t)t->chunk, 0, 0, 0, w))
			return -1;
	}
	return 0;
}

/* Each id with its bytes in the document. The first and the last may be BOS and EOS, which are at its ends. */
static void print_offsets(const struct tok *t, const struct ids *ids, const struct source *x)
{
	int bos = x->first && tok_adds_bos(t), eos = x->last && tok_adds_eos(t);
	const char *s = x->s, *from, *to;
	struct align align;

	align_start(&align, t->vocab, s, x->n, tok_flags(t, x));
	for (size_t i = 0; i < ids->n; i++) {
		if (bos && i == 0)
			from = to = s;
		else if (eos && i == ids->n - 1)
			from = to = s + x->n;
		else
			align_next(&align, ids->id + i, ids->n - i - (size_t)eos, &from, &to);
		out_print("%d %llu %llu\n", (int)ids->id[i], (unsigned long long)(t->n_bytes + (size_t)(from - s)),
			(unsigned long long)(t->n_bytes + (size_t)(to - s)));
	}
}

int document_add(struct tok *t, const char *name, int first, int last, struct why *w)
{
	static struct bytes text = { .limit = PTRDIFF_MAX };
	static struct ids ids;
	static char none[1];
	struct source file = { .name = strcmp(name, "-") ? name : "standard input", .line = 1, .first = first,
		.last = last };

	text.n = 0;
	if (t->from_ids ? slurp_text(name, &text, w) : slurp(name, &text, w))
		return -1;
	file.s = text.p ? text.p : none;
	file.n = text.n;
	if (t->chomp && last && file.n && file.s[file.n - 1] == '\n')
		file.n--;
	if (tok_encode(t, &file, &ids, w))
		return -1;
	if (t->chunk ? write_chunks(t, &ids, last, w) : tok_writes_frames(t) && write_frames(t, &ids, w))
		return -1;
	if (t->offsets)
		print_offsets(t, &ids, &file);
	for (size_t i = 0; t->decimal && i < ids.n; i++)
		out_print("%d\n", (int)ids.id[i]);
	t->n_ids += ids.n;
	t->n_bytes += file.n;
	return 0;
}
