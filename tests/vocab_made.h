/* vocab_made: makes vocabularies from rows that a test lists, and checks what they encode to. A program includes it in
 * exactly one file. */
#ifndef VOCAB_MADE_H
#define VOCAB_MADE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vocab/vocab.h"
#include "check.h"
#include "mkgguf.h"

#define SPACE "\xe2\x96\x81"

static struct why w;

/* Counts a check; if it failed, also prints the last reason of the library. */
static inline void holds(int ok, const char *what)
{
	check(ok, "%s (%s)", what, w.text);
}

struct token_row {
	const char *text;
	int type;
	float score;
};

static struct gguf *file;

static inline struct vocab *open_made(struct mkgguf *m)
{
	struct vocab *v;

	mkgguf_write(m, "v.gguf", 3, 1);
	mkgguf_close(m);
	w.text[0] = 0;
	gguf_close(file);
	file = gguf_open("v.gguf", 0, &w);
	v = file ? vocab_open(file, VOCAB_ENCODE, &w) : NULL;
	return v;
}

static inline void put_tokens(struct mkgguf *m, const struct token_row *t, size_t n)
{
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, n);
	for (size_t i = 0; i < n; i++)
		mkgguf_add_text(m, t[i].text, strlen(t[i].text));
	mkgguf_array(m, "tokenizer.ggml.token_type", GGUF_I32, n);
	for (size_t i = 0; i < n; i++)
		mkgguf_add_i32(m, t[i].type);
	mkgguf_array(m, "tokenizer.ggml.scores", GGUF_F32, n);
	for (size_t i = 0; i < n; i++)
		mkgguf_add_f32(m, t[i].score);
}

static inline struct mkgguf *begin_of(const char *architecture)
{
	struct mkgguf *m = mkgguf_open();

	mkgguf_text(m, "general.architecture", architecture);
	return m;
}

static inline void put_kind(struct mkgguf *m, const char *model, const char *pre)
{
	mkgguf_text(m, "tokenizer.ggml.model", model);
	if (pre)
		mkgguf_text(m, "tokenizer.ggml.pre", pre);
}

static inline struct mkgguf *begin(const char *model, const char *pre)
{
	struct mkgguf *m = begin_of("llama");

	put_kind(m, model, pre);
	return m;
}

static inline void put_merges(struct mkgguf *m, const char *const *merges, size_t n)
{
	mkgguf_array(m, "tokenizer.ggml.merges", GGUF_STRING, n);
	for (size_t i = 0; i < n; i++)
		mkgguf_add_text(m, merges[i], strlen(merges[i]));
}

enum { ADD = 1 << 10 };         /* in addition to vocab_encode()'s flags: BOS and EOS as the model wants them */

static inline int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *ids)
{
	return (flags & ADD && vocab_rules(v)->add_bos && ids_add(ids, vocab_rules(v)->bos))
		|| vocab_encode(v, text, n, flags, ids, &w)
		|| (flags & ADD && vocab_rules(v)->add_eos && ids_add(ids, vocab_rules(v)->eos));
}

/* Checks that the ids of text[n] are those written in `want`, or that there are none: "fails". */
static inline void ids_are_n(struct vocab *v, const char *text, size_t n, int flags, const char *want, const char *what)
{
	struct ids ids = { 0 };
	char got[512] = "", *end = got;

	if (!v || encode(v, text, n, flags, &ids))
		strcpy(got, "fails");
	else
		for (size_t i = 0; i < ids.n && end < got + sizeof got - 16; i++)
			end += sprintf(end, i ? " %d" : "%d", ids.id[i]);
	if (strcmp(got, want))
		printf("%s: got %s, not %s\n", what, got, want);
	holds(!strcmp(got, want), what);
	free(ids.id);
}

static inline void ids_are(struct vocab *v, const char *text, int flags, const char *want, const char *what)
{
	ids_are_n(v, text, strlen(text), flags, want, what);
}

static inline void piece_is(struct vocab *v, int32_t id, int special, const char *want, const char *what)
{
	size_t n = 0;
	const char *s = v ? vocab_piece(v, id, special, &n) : NULL;

	holds(s && n == strlen(want) && !memcmp(s, want, n), what);
}

#endif
