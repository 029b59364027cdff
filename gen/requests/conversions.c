/* A request that fails leaves nothing in j->out. */
#include "conversions.h"

#include <stdlib.h>

#include "lib/base/members.h"
#include "lib/base/utf8.h"
#include "lib/gguf/description.h"
#include "envelope.h"
#include "fields.h"
#include "prompts.h"

/* The text of a token, or its bytes if they are not UTF-8. */
static void put_piece(struct json_writer *to, const struct model *m, int32_t id)
{
	size_t n;
	const char *piece = vocab_piece(m->vocab, id, 1, &n);

	if (utf8_valid(piece, n) == n) {
		member_bytes(to, "piece", piece, n);
		return;
	}
	member_open(to, "piece", '[');
	for (size_t i = 0; i < n; i++)
		json_int(to, (unsigned char)piece[i]);
	json_close(to, ']');
}

static int tokenize(struct job *j, const struct model *m, struct json_writer *to, struct why *w)
{
	const struct json *text = field(j, "tokenize");
	int ends = 0, pieces = 0, failed;
	struct ids ids = { 0 };

	if (text->type != JSON_STRING)
		return field_bad(j, "tokenize", why(w, "tokenize: expected a text, not %s", json_type_name(text)));
	if (field_flag(j, "add_special", &ends, w) || field_flag(j, "with_pieces", &pieces, w))
		return -1;
	if (!(failed = prompts_encode(m, text->s, text->n, ends ? PROMPTS_WHOLE : PROMPTS_PART, &ids, w))) {
		member_open(to, "tokens", '[');
		for (size_t i = 0; i < ids.n; i++) {
			if (!pieces) {
				json_int(to, ids.id[i]);
				continue;
			}
			json_open(to, '{');
			member_int(to, "id", ids.id[i]);
			put_piece(to, m, ids.id[i]);
			json_close(to, '}');
		}
		json_close(to, ']');
	}
	free(ids.id);
	return failed;
}

static int detokenize(struct job *j, const struct model *m, struct json_writer *to, struct why *w)
{
	const struct json *list = field(j, "detokenize");
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	struct ids ids = { 0 };
	int begins = 1, failed;
	size_t n;

	if (list->type != JSON_ARRAY)
		return field_bad(j, "detokenize", why(w, "detokenize: expected a list of ids, not %s",
			json_type_name(list)));
	failed = field_ids(j, "detokenize", list, m->card.n_vocab, &ids, w);
	for (size_t i = 0; i < ids.n && !failed; i++) {
		const char *piece = vocab_text(m->vocab, ids.id[i], 0, &begins, &n);

		failed = bytes_put(&text, piece, n) ? why(w, "out of memory") : 0;
	}
	if (!failed)
		member_bytes(to, "content", text.p, text.n);
	free(ids.id);
	bytes_free(&text);
	return failed;
}

static int apply_template(struct job *j, const struct model *m, struct json_writer *to, struct why *w)
{
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	int failed = prompts_render(j, m, &text, w);

	if (!failed)
		member_bytes(to, "prompt", text.p, text.n);
	bytes_free(&text);
	return failed;
}

static int describe(const struct model *m, struct json_writer *to)
{
	json_name(to, "model");
	description_write(to, m->name, m->gguf, m->card.n_vocab, m->card.n_ctx, m->card.vocab);
	return 0;
}

int conversions_answer(struct job *j, const struct model *m, struct why *w)
{
	struct json_writer to = envelope_begin(j, 200);
	int failed;

	switch (j->kind) {
	case JOB_TOKENIZE: failed = tokenize(j, m, &to, w); break;
	case JOB_DETOKENIZE: failed = detokenize(j, m, &to, w); break;
	case JOB_TEMPLATE: failed = apply_template(j, m, &to, w); break;
	default: failed = describe(m, &to);
	}
	if (!failed)
		return envelope_end(j, &to, w);
	j->out.n = 0;
	return -1;
}
