/* Segments know the path of their model, and whether a file is that model. */
#include "text.h"

#include <string.h>

void text_close(struct text *t)
{
	vocab_close(t->vocab);
	gguf_close(t->g);
	*t = (struct text){ .g = NULL };
}

static int open_file(struct text *t, const char *path, struct why *w)
{
	if (t->vocab && !strcmp(t->path, path))
		return 0;
	text_close(t);
	t->g = gguf_open(path, 0, w);
	t->vocab = t->g ? vocab_open(t->g, VOCAB_PIECES, w) : NULL;
	if (!t->vocab || strlen(path) >= sizeof t->path)
		return t->vocab ? 0 : -1;
	strcpy(t->path, path);
	return 0;
}

int text_open(struct text *t, const char *model, const char *segment, const struct segment_info *info, struct why *w)
{
	struct why other;

	if (model)
		return open_file(t, model, w);
	if (!*info->origin.path)
		return why(w, "segment %s: does not know the path of its model: name it with -m", segment);
	if (open_file(t, info->origin.path, &other) < 0 || gguf_identity(t->g) != info->file)
		return why(w, "segment %s: its model %s is gone or has changed: name it with -m", segment,
			info->origin.path);
	return 0;
}

void text_put(const struct text *t, const int32_t *ids, size_t n, int special, int *begins, struct bytes *out)
{
	for (size_t i = 0; i < n; i++) {
		size_t bytes;
		const char *piece = vocab_text(t->vocab, ids[i], special, begins, &bytes);

		if (piece)
			bytes_put(out, piece, bytes);
	}
}
