/* What stands between the texts of a pair, as in llama-embedding. WordPiece ends a text with SEP, which is no EOS: that
 * it puts after the query only if a key says so. */
#include "encoder.h"

int vocab_pair(const struct vocab *v, struct vocab_pair *p, struct why *w)
{
	int wpm = v->kind == &wpm_kind, add_eos = !wpm && v->rules.add_eos, add_sep = wpm;
	int32_t sep = wpm ? v->rules.eos : -1, eos = v->rules.eos;

	if (vocab_read_id(v, "tokenizer.ggml.seperator_token_id", &sep, w)
	    || vocab_read_id(v, "tokenizer.ggml.eos_token_id", &eos, w)
	    || gguf_bool(v->g, "tokenizer.ggml.add_sep_token", &add_sep, w) < 0
	    || (wpm && gguf_bool(v->g, "tokenizer.ggml.add_eos_token", &add_eos, w) < 0))
		return why_in(w, v->g->path);
	if (add_sep && sep < 0)
		return why(w, "%s: tokenizer.ggml.add_sep_token: set, but there is no separator", v->g->path);
	p->bos = v->rules.add_bos ? v->rules.bos : -1;
	p->eos = add_eos ? eos : -1;
	p->sep = add_sep ? sep : -1;
	p->end = v->rules.add_eos ? v->rules.eos : -1;
	return 0;
}
