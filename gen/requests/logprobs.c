/* Tokens are written as text; what is not UTF-8 of them, in each API's way. */
#include "logprobs.h"

#include <math.h>
#include <string.h>

#include "lib/base/members.h"
#include "lib/base/utf8.h"

enum { SHOWN_MAX = 1 << 20 };

/* JSON has no infinity; these APIs write -9999 for what cannot be drawn. */
static void put_logprob(struct json_writer *to, float x)
{
	json_float(to, isfinite(x) ? (double)x : -9999.0);
}

/* ---- messages ---- */

static void put_token(struct json_writer *to, const struct choice *c, int32_t id, float logprob)
{
	size_t n;
	const char *piece = vocab_piece(c->model->vocab, id, 1, &n);

	member_bytes(to, "token", piece, n);
	json_name(to, "logprob");
	put_logprob(to, logprob);
	member_open(to, "bytes", '[');
	for (size_t i = 0; i < n; i++)
		json_int(to, (unsigned char)piece[i]);
	json_close(to, ']');
}

void logprobs_chat(struct json_writer *to, const struct choice *c, size_t first, size_t end)
{
	const struct result *r = &c->r;

	json_open(to, '{');
	member_open(to, "content", '[');
	for (size_t i = first; i < end && !to->failed; i++) {
		json_open(to, '{');
		put_token(to, c, r->ids.id[i], r->each[i].logprob);
		member_open(to, "top_logprobs", '[');
		for (size_t k = 0; k < r->each[i].n_likely; k++) {
			const float *pair = r->likely[r->each[i].likely + k];

			json_open(to, '{');
			put_token(to, c, (int32_t)pair[0], pair[1]);
			json_close(to, '}');
		}
		json_close(to, ']');
		json_close(to, '}');
	}
	json_close(to, ']');
	json_close(to, '}');
}

/* ---- prompts ---- */

/* Makes *buffer the text of a token; of bytes that are not UTF-8, "bytes:\xe2\x80". */
static void spell(const struct choice *c, int32_t id, struct bytes *buffer)
{
	static const char digits[] = "0123456789abcdef";
	size_t n;
	const char *piece = vocab_piece(c->model->vocab, id, 1, &n);

	buffer->n = 0;
	if (utf8_valid(piece, n) == n) {
		bytes_put(buffer, piece, n);
		return;
	}
	bytes_puts(buffer, "bytes:");
	for (size_t i = 0; i < n; i++) {
		const unsigned char b = (unsigned char)piece[i];
		const char hex[4] = { '\\', 'x', digits[b >> 4], digits[b & 15] };

		bytes_put(buffer, hex, sizeof hex);
	}
}

static size_t characters(const char *s, size_t n)
{
	size_t count = 0;
	unsigned used;

	for (size_t at = 0; at < n; at += used, count++)
		utf8_next(s + at, n - at, &used);
	return count;
}

/* The ids of the prompt and of the text, as one list. */
struct list {
	const struct choice *c;
	size_t first, end;      /* of the text */
	size_t prompt;          /* ids of the prompt that come first */
	struct bytes buffer;
};

static int32_t id_of(const struct list *l, size_t i)
{
	return i < l->prompt ? l->c->prompt->ids.id[i] : l->c->r.ids.id[l->first + i - l->prompt];
}

/* The result that has id i, as its number *k. NULL: the id has no log-probability, because it is the first of all, or
 * because the choice was cancelled before. */
static const struct result *result_of(const struct list *l, size_t i, size_t *k)
{
	const struct result *r = i < l->prompt ? &l->c->scored : &l->c->r;

	*k = i < l->prompt ? i - 1 : l->first + i - l->prompt;
	return *k < r->ids.n && !isnan(r->each[*k].logprob) ? r : NULL;
}

static void put_top(struct json_writer *to, struct list *l, const struct result *r, size_t k)
{
	json_open(to, '{');
	for (size_t t = 0; t < r->each[k].n_likely; t++) {
		const float *pair = r->likely[r->each[k].likely + t];

		spell(l->c, (int32_t)pair[0], &l->buffer);
		json_key(to, bytes_text(&l->buffer), l->buffer.n);
		put_logprob(to, pair[1]);
	}
	json_close(to, '}');
}

static void put_offsets(struct json_writer *to, const struct list *l, size_t n)
{
	const struct choice *c = l->c;
	size_t at = 0, size, last = 0;
	int begins = 1;

	member_open(to, "text_offset", '[');
	for (size_t i = 0; i < c->prompt->ids.n; i++) {
		const char *piece = vocab_text(c->model->vocab, c->prompt->ids.id[i], c->special, &begins, &size);

		if (i < l->prompt)
			json_int(to, (int64_t)at);
		at += characters(piece, size);
	}
	for (size_t i = 0; i < l->first + n - l->prompt; i++) {
		at += characters(c->text.p + last, c->at[i] - last);
		last = c->at[i];
		if (i >= l->first)
			json_int(to, (int64_t)at);
	}
	json_close(to, ']');
}

void logprobs_text(struct json_writer *to, const struct choice *c, size_t first, size_t end, int prompt)
{
	struct list l = { c, first, end, prompt ? c->prompt->ids.n : 0, { .limit = SHOWN_MAX } };
	size_t n = l.prompt + end - first, k;
	const struct result *r;

	json_open(to, '{');
	member_open(to, "tokens", '[');
	for (size_t i = 0; i < n; i++) {
		spell(c, id_of(&l, i), &l.buffer);
		json_string(to, bytes_text(&l.buffer), l.buffer.n);
	}
	json_close(to, ']');
	member_open(to, "token_logprobs", '[');
	for (size_t i = 0; i < n; i++)
		if ((r = result_of(&l, i, &k)))
			put_logprob(to, r->each[k].logprob);
		else
			json_raw(to, "null");
	json_close(to, ']');
	json_name(to, "top_logprobs");
	if (c->job->logprobs)
		json_open(to, '[');
	else
		json_raw(to, "null");
	for (size_t i = 0; i < n && c->job->logprobs && !to->failed; i++)
		if ((r = result_of(&l, i, &k)))
			put_top(to, &l, r, k);
		else
			json_raw(to, "null");
	if (c->job->logprobs)
		json_close(to, ']');
	put_offsets(to, &l, n);
	json_close(to, '}');
	bytes_free(&l.buffer);
}
