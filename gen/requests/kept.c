/* Ids are compared as ids, and a conversation as text, because templates make the ids of an answer anew. */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "lib/base/space.h"
#include "lib/chat/content.h"
#include "gen/conversation/convert.h"
#include "fields.h"
#include "opts.h"

enum { NAME_MAX_BYTES = 4096 };

int kept_take(struct job *j, const struct model *m, struct why *w)
{
	const struct json *v = field(j, "kv");

	if (field_flag(j, "append", &j->appends, w))
		return -1;
	if (!v)
		return j->appends ? field_bad(j, "append", why(w, "append: requires kv")) : 0;
	if (v->type != JSON_STRING)
		return field_bad(j, "kv", why(w, "kv: expected a text, not %s", json_type_name(v)));
	if (v->n > NAME_MAX_BYTES)
		return field_bad(j, "kv", why(w, "kv: a name of more than %d bytes", NAME_MAX_BYTES));
	if (m->card.diffusion)
		return field_bad(j, "kv", why(w, "kv: not with a diffusion model"));
	if (j->n > 1)
		return field_bad(j, "kv", why(w, "kv: only with one choice"));
	if (j->echo && j->logprobs >= 0)
		return field_bad(j, "kv", why(w, "kv: not with log-probabilities of the prompt"));
	if (j->appends && j->kind == JOB_CHAT)
		return field_bad(j, "append", why(w, "append: only with prompt"));
	return opts_add(&j->opts, "--kv", v->s, v->n, w) ? field_bad(j, "kv", why_in(w, "kv")) : 0;
}

void kept_read(const struct job *j, const struct model *m, struct ids *kept)
{
	if (j->kv && m->kv)
		convert_kept(m->kv, j->kv, kept);
}

int kept_join(struct job *j, const struct ids *kept, struct ids *ids, struct why *w)
{
	struct ids both = { 0 };
	int joins = j->appends && kept->n;

	j->appends = joins && ids->n;
	if (!joins) {
		while (j->had < size_min(kept->n, ids->n) && kept->id[j->had] == ids->id[j->had])
			j->had++;
		return 0;
	}
	if (ids_append(&both, kept->id, kept->n, w) || ids_append(&both, ids->id, ids->n, w)) {
		free(both.id);
		return -1;
	}
	free(ids->id);
	*ids = both;
	j->had = kept->n;
	return 0;
}

/* ---- conversations ---- */

/* Where the words of a message end, searched in the text from `at` on; `at` if they are not found. */
static size_t after_words(const struct json *message, const struct bytes *text, size_t at)
{
	struct bytes words = { .limit = CHAT_TEXT_MAX };
	size_t begin = 0, n = 0;

	if (!content_text(json_get(message, "content"), &words) && words.n) {
		begin = space_leading(words.p, words.n);
		n = space_trimmed(words.p, words.n);
		n -= size_min(begin, n);
	}
	for (size_t i = at; n && i + n <= text->n; i++)
		if (!memcmp(text->p + i, words.p + begin, n)) {
			at = i + n;
			break;
		}
	bytes_free(&words);
	return at;
}

/* Where the first turn of a user ends in the text; 0: it is not found. Messages are searched in turn, because a system
 * message may contain the words of the user's. */
static size_t first_turn(const struct job *j, const struct bytes *text)
{
	const struct json *message = field(j, "messages")->child;
	size_t at = 0, end;

	for (; message; message = message->next) {
		const char *role = json_get_string(message, "role");

		end = after_words(message, text, at);
		if (role && !strcmp(role, "user"))
			return end > at ? end : 0;
		at = end;
	}
	return 0;
}

/* Whether a character begins at text[at], or the text ends there. */
static int is_boundary(const struct bytes *text, size_t at)
{
	return at == text->n || ((unsigned char)text->p[at] & 0xc0) != 0x80;
}

int kept_match(struct job *j, const struct model *m, const struct ids *kept, const struct bytes *text, size_t *same,
	struct why *w)
{
	size_t at = 0, n, turn;
	int begins = 1;

	for (size_t i = 0; i < kept->n; i++) {
		const char *piece = vocab_text(m->vocab, kept->id[i], 1, &begins, &n);

		if (!piece || n > text->n - at || memcmp(text->p + at, piece, n))
			break;
		at += n;
		if (is_boundary(text, at)) {
			j->had = i + 1;
			*same = at;
		}
	}
	j->replaces = j->had < kept->n;
	if (!j->replaces || ((turn = first_turn(j, text)) && turn <= *same))
		return 0;
	return field_bad(j, "kv", why(w, "kv: segment %.200s holds another conversation, of %zu tokens", j->kv,
		kept->n));
}
