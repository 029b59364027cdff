/* Finding the model of a segment: it stores the path, and can tell whether the file there is still the same. */
#include "segment_text.h"

#include <string.h>

void segment_text_close(struct segment_text *t)
{
	vocab_close(t->vocab);
	gguf_close(t->g);
	*t = (struct segment_text){ .g = NULL };
}

/* file: the required identity of the file; 0: any. */
static int open_file(struct segment_text *t, const char *path, uint64_t file, struct why *w)
{
	if (!t->g || strcmp(t->g->path, path)) {
		segment_text_close(t);
		strcpy(t->path, path);
		t->g = gguf_open(t->path, 0, w);
	}
	if (t->g && file && gguf_identity(t->g) != file)
		return why(w, "%s: has changed", path);
	if (!t->g)
		return -1;
	if (!t->vocab)
		t->vocab = vocab_open(t->g, VOCAB_PIECES, w);
	return t->vocab ? 0 : -1;
}

int segment_text_open(struct segment_text *t, const char *model, const char *segment,
	const struct segment_info *info, struct why *w)
{
	struct why other;

	if (model)
		return strlen(model) < sizeof t->path ? open_file(t, model, 0, w) : why(w, "the path is too long");
	if (!*info->origin.path || !info->file)
		return why(w, "segment %s: its model file is not known: name the model with -m", segment);
	if (open_file(t, info->origin.path, info->file, &other) < 0)
		return why(w, "segment %s: its model %.300s: name the model with -m", segment, other.text);
	return 0;
}

void segment_text_put(const struct segment_text *t, const int32_t *ids, size_t n, int special, int *begins,
	struct bytes *out)
{
	for (size_t i = 0; i < n; i++) {
		size_t bytes;
		const char *piece = vocab_text(t->vocab, ids[i], special, begins, &bytes);

		if (piece)
			bytes_put(out, piece, bytes);
	}
}
