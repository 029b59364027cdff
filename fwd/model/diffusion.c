/* Diffusion models. */
#include "diffusion.h"

#include "family.h"

struct diffusion *diffusion_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct diffusion));
}

int diffusion_read(struct model *m, struct why *w)
{
	static const char key[] = "tokenizer.ggml.mask_token_id";
	struct diffusion *d = diffusion_of(m);
	int found;
	int64_t id;

	if (!m->family || !m->family->diffusion || !m->n_vocab)
		return 0;
	found = gguf_integer(m->gguf, key, 0, (int64_t)m->n_vocab - 1, &id, w);
	if (found <= 0)
		return found < 0 ? -1 : why(w, "%s: missing", key);
	*d = (struct diffusion){ .on = 1, .shifted = 1, .mask_id = (int32_t)id };
	return gguf_bool(m->gguf, "diffusion.shift_logits", &d->shifted, w) < 0 ? -1 : 0;
}
