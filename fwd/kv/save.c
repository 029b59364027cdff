#include "save.h"

#include <stdio.h>

#include "fwd/state/digest.h"
#include "fwd/state/named.h"
#include "fwd/state/saved.h"
#include "lib/gguf/models.h"

/* The integer of this key of the model's architecture, or `otherwise` if there is none. */
static int64_t arch_integer(const struct gguf *g, const char *key, int64_t least, int64_t otherwise)
{
	struct gguf_string arch = { "", 0 };
	char full[128];
	struct why ignored;

	gguf_text(g, "general.architecture", &arch, &ignored);
	snprintf(full, sizeof full, "%.*s.%s", GGUF_SHOWN(arch), key);
	gguf_integer(g, full, least, INT32_MAX, &otherwise, &ignored);
	return otherwise;
}

/* The digest of a stage that has only some layers covers those, and only fwd knows which tensors they use. */
static int has_all_layers(const struct segment *s, const struct gguf *g)
{
	/* some models run their layers several times; a decoder may have fewer than the encoder */
	int64_t layers = arch_integer(g, "block_count", 0, 0) * arch_integer(g, "num_loops", 1, 1);

	layers = arch_integer(g, "decoder_block_count", 0, layers);
	return (int64_t)s->shape.n_layer + arch_integer(g, "nextn_predict_layers", 0, 0) >= layers;
}

/* Makes sure that the segment has a digest of the weights. */
static int complete(struct segment *s, const char *model, struct why *w)
{
	struct segment_origin o = segment_origin(s);
	const char *path = model ? models_path(model, w) : o.path;
	struct weights of;
	struct gguf *g;
	int status = -1;

	if (segment_mark(s, SEGMENT_DIGEST))
		return 0;
	if (path && !*path)
		return why(w, "segment %s: no digest of its weights yet: name the model with -m", s->name);
	g = gguf_open(path, 1, w);
	of = (struct weights){ .g = g, .n_vocab = SIZE_MAX };   /* ids are checked by fwd when it opens the segment */
	if (g && digest_check(s, &of, w) == 0) {
		status = has_all_layers(s, g) ? 0 : why(w, "segment %s: has only some layers of %s, and no digest of "
			"them yet: fwd computes it", s->name, path);
		if (status == 0)
			digest_store(s, &of);
	}
	gguf_close(g);
	return status;
}

int save_write(struct segment *s, const char *model, struct why *w)
{
	return complete(s, model, w) < 0 ? -1 : saved_write(s, 1, w);
}
