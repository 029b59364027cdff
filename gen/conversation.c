/* A conversation. */
#include "conversation.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "console.h"
#include "history.h"
#include "pipeline.h"
#include "progress.h"
#include "report.h"

enum { TEXT_MAX = 256 << 20 };  /* bytes of a conversation */

struct conversation {
	struct request *q;
	struct loop *l;
	struct bytes messages;  /* JSON, one a line */
	size_t before;          /* bytes of them before the turn under way */
	struct history history;
	size_t kept;            /* ids that --kv held before the first turn */
	int carded;             /* fwd and detok have been told whose ids come */
};

static struct request *current; /* for the one callback that has no context */

/* ---- the stages of a turn ---- */

/* A file without a name that holds s[n], to be read from its start; -1 with a reason. */
static int scratch(const char *s, size_t n, struct why *w)
{
	FILE *f = tmpfile();
	int fd = -1;

	if (f && fwrite(s, 1, n, f) == n && !fflush(f)) {
		rewind(f);
		fd = dup(fileno(f));
	}
	if (f)
		fclose(f);
	return fd < 0 ? why(w, "cannot create a temporary file") : fd;
}

/* Starts s with that input; its output can be read from the descriptor that is returned. -1 with a reason. */
static int start(struct stage *s, int in, struct why *w)
{
	int out[2];

	if (in < 0 || stage_pipe(out, w)) {
		if (in >= 0)
			close(in);
		return -1;
	}
	if (!stage_start(s, in, out[1], w))
		return out[0];
	close(out[0]);
	return -1;
}

/* Runs s and appends what it prints to *out. */
static int filter(struct stage *s, int in, struct bytes *out, struct why *w)
{
	int fd = start(s, in, w);
	char part[16384];
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, part, sizeof part)) > 0)
		bytes_put(out, part, (size_t)n);
	close(fd);
	if (stage_wait(s, w))
		return -1;
	return out->failed ? why(w, "the conversation is too long") : 0;
}

/* The ids of tok's output; its card goes before the first ids. */
static int take_ids(struct conversation *v, struct frame_in *in, struct tokens *out, struct why *w)
{
	struct card card;
	int32_t id[1024];
	struct frame f;
	uint32_t i, n;
	int got;

	while ((got = frame_next(in, &f, w)) > 0) {
		for (i = 0; f.kind == FRAME_IDS && i < f.rows; i += n) {
			n = f.rows - i < 1024 ? f.rows - i : 1024;
			if (frame_read(in, &f, id, n, w) || tokens_add(out, id, n, w))
				return -1;
		}
		if (f.kind == FRAME_CARD && !v->carded++)
			if (card_read(in, &f, &card, w) || loop_card(v->l, &card, w))
				return -1;
	}
	return got;
}

/* A history_encoder: tok on text[n]. */
static int encode(void *context, const char *text, size_t n, int continues, struct tokens *out, struct why *w)
{
	static struct frame_in in;
	struct conversation *v = context;
	struct stage *s = &v->q->stage[TOK];
	int had = s->n, fd, status;

	if (continues && stage_arg(s, "--append", w))
		return -1;
	fd = start(s, scratch(text, n, w), w);
	if (fd >= 0) {
		frame_open_in(&in, fd, "tok");
		status = take_ids(v, &in, out, w);
		close(fd);
	}
	s->argv[s->n = had] = NULL;
	return fd < 0 || stage_wait(s, w) || status ? -1 : 0;
}

enum decoding { UP_TO_STOP, WHOLE, AS_GIVEN };  /* what an answer says; all of its text; the text that tok was given */

/* The text of ids as detok prints it, with U+FFFD for what is not UTF-8. */
static int decode(struct conversation *v, const struct tokens *ids, enum decoding how, struct bytes *out, struct why *w)
{
	struct stage all = { .name = "detok", .n = 2, .argv = { v->q->stage[ANSWER].argv[0], v->q->model } };
	struct bytes raw = { .limit = TEXT_MAX };
	uint32_t n = (uint32_t)ids->n, drawn = how != AS_GIVEN;
	FILE *f = tmpfile();
	int fd = -1, status;
	unsigned used;

	if (how == AS_GIVEN && stage_arg(&all, "--special", w))
		return -1;
	if (f && !frame_write_ids(fileno(f), ids->id, n, drawn, drawn * FRAME_SAMPLED, 0, w) &&
	    lseek(fileno(f), 0, SEEK_SET) == 0)
		fd = dup(fileno(f));
	if (f)
		fclose(f);
	if (fd < 0)
		return why(w, "cannot create a temporary file");
	status = filter(how == UP_TO_STOP ? &v->q->stage[ANSWER] : &all, fd, &raw, w);
	for (size_t at = 0; at < raw.n; at += used) {
		int bad = utf8_next(raw.p + at, raw.n - at, &used) < 0;

		bytes_put(out, bad ? "\xef\xbf\xbd" : raw.p + at, bad ? 3 : used);
	}
	bytes_free(&raw);
	return status ? -1 : 0;
}

static int add_message(struct conversation *v, const char *role, const char *text, size_t n, struct why *w)
{
	struct json_writer json = json_to_bytes(&v->messages);

	json_open(&json, '{');
	json_key(&json, "role", 4);
	json_string(&json, role, strlen(role));
	json_key(&json, "content", 7);
	json_string(&json, text, n);
	json_close(&json, '}');
	return bytes_put(&v->messages, "\n", 1) ? why(w, "the conversation is too long") : 0;
}

/* ---- a turn ---- */

static int check_utf8(const char *s, size_t n, struct why *w)
{
	unsigned used;

	for (size_t at = 0; at < n; at += used)
		if (utf8_next(s + at, n - at, &used) < 0)
			return why(w, "this turn: byte %zu of the text is not UTF-8", at);
	return 0;
}

/* The conversation with this turn, as ids; those from *keep on are new. */
static int lay_out(struct conversation *v, const char *line, size_t n, size_t *keep, struct why *w)
{
	const struct history_encoder encoder = { encode, v };
	struct bytes text = { .limit = TEXT_MAX };
	struct stage *chat = &v->q->stage[CHAT];
	int status;

	v->before = v->messages.n;
	if (check_utf8(line, n, w) || add_message(v, "user", line, n, w))
		return -1;
	status = filter(chat, scratch(v->messages.p, v->messages.n, w), &text, w) ||
		history_prompt(&v->history, &encoder, text.n ? text.p : "", text.n, keep, w) ? -1 : 0;
	/* What it has to say about the template it says once. */
	chat->quiet = 1;
	bytes_free(&text);
	if (!status && !v->history.ids.n)
		return why(w, "the template makes no text of the conversation");
	if (!status && *keep + 1 < v->kept)
		return why(w, "--kv %s: holds another conversation, of %zu tokens: "
			"another name keeps both; kv rm %s removes it", v->q->kv, v->kept, v->q->kv);
	v->kept = 0;
	if (!status && v->history.ids.n - *keep > FRAME_IDS_MAX)
		return why(w, "a turn of %zu tokens is more than a frame holds", v->history.ids.n - *keep);
	return status;
}

/* The turn never was: what fwd has evaluated of it, from `keep` on, the next one replaces. */
static void take_back(struct conversation *v, size_t keep)
{
	history_back(&v->history, keep);
	v->messages.n = v->before;
}

/* The answer becomes a message; what of it was evaluated becomes history. Its text, for --json, is left in *text. */
static int keep_answer(struct conversation *v, const struct result *r, struct bytes *text, struct why *w)
{
	struct tokens said = r->ids, stays = r->ids;
	struct bytes evaluated = { .limit = TEXT_MAX };
	const struct bytes *whole = text;
	int status;

	stays.n = r->evaluated;
	if (said.n > stays.n && card_is_eog(&v->l->card, said.id[said.n - 1]))
		said.n--;
	status = decode(v, &said, UP_TO_STOP, text, w);
	if (!status && (r->stop || said.n != stays.n)) {
		status = decode(v, &stays, WHOLE, &evaluated, w);
		whole = &evaluated;
	}
	status = status || add_message(v, "assistant", text->n ? text->p : "", text->n, w) ||
		history_add(&v->history, r->ids.id, r->evaluated, whole->n ? whole->p : "", whole->n, 1, w);
	bytes_free(&evaluated);
	return status ? -1 : 0;
}

/* A turn that does not fit the context is refused, and the conversation stands as it was. */
static int too_long(struct conversation *v, size_t keep, struct why *w)
{
	const struct loop *l = v->l;
	size_t n = v->history.ids.n, room = (size_t)l->card.n_ctx;

	if (!l->card.n_ctx || n <= room)
		return 0;
	fprintf(stderr, "gen: with this turn the conversation is %zu tokens, and the context holds %zu (-c): "
		"the turn is dropped\n", n, room);
	take_back(v, keep);
	return l->copy >= 0 && frame_write_end(l->copy, FRAME_END_LENGTH, (uint32_t)keep, 0, w) ? -1 : 1;
}

static void tell(const struct conversation *v, const struct result *r, const struct bytes *text)
{
	const struct card *card = &v->l->card;

	if (r->reason == FRAME_END_LENGTH && card->n_ctx && r->ids.n && r->pos + r->ids.n > (size_t)card->n_ctx)
		fprintf(stderr, "gen: the context of %" PRId32 " tokens is full (-c): the answer ends here\n",
			card->n_ctx);
	if (v->q->verbose && r->ids.n)
		report(v->q, r);
	if (v->q->json)
		report_json(v->q, r, text);
}

/* 0, or -1 with a reason. */
static int turn(struct conversation *v, const char *line, size_t n, struct why *w)
{
	struct bytes text = { .limit = TEXT_MAX };
	struct result r = { .begin = clock_now() };
	struct loop *l = v->l;
	int status, over = 0;
	const int32_t *fresh;
	size_t keep, left;

	l->r = &r;
	status = lay_out(v, line, n, &keep, w) || (over = too_long(v, keep, w)) < 0 ? -1 : 0;
	if (over > 0)
		r.reason = FRAME_END_LENGTH;
	else if (!status) {
		fresh = v->history.ids.id + keep;
		left = v->history.ids.n - keep;
		status = tokens_add(&r.prompt, fresh, left, w) || loop_send(l, fresh, left, (uint32_t)keep, w) ? -1 : 0;
		if (!status)
			status = loop_turn(l, w);
		if (!status)
			status = why(w, "sample ended before the conversation did");
		else if (status > 0 && r.reason == FRAME_END_INTERRUPT)
			take_back(v, keep);
		else if (status > 0)
			status = keep_answer(v, &r, &text, w);
	}
	if (status < 0 && l->gone)
		why(w, "sample ended before the conversation did");
	if (status >= 0)
		tell(v, &r, &text);
	bytes_free(&text);
	result_free(&r);
	l->r = NULL;
	return status < 0 ? -1 : 0;
}

/* ---- all turns ---- */

/* A conversation that --kv has kept goes on if this one begins as it does; it is never written over. */
static int load_kept(struct conversation *v, struct why *w)
{
	struct stage *s = &v->q->stage[KV];
	struct bytes lines = { .limit = TEXT_MAX }, text = { .limit = TEXT_MAX };
	struct tokens ids = { 0 };
	int32_t id = 0;
	struct why none;
	int status = 0;

	s->quiet = 1;
	/* A segment that is not there, or cannot be read, is fwd's to make or to report. */
	if (stage_used(s) && !filter(s, scratch("", 0, w), &lines, &none)) {
		for (size_t i = 0; i < lines.n && !status; i++)
			if (lines.p[i] != '\n') {
				id = 10 * id + (lines.p[i] - '0');
			} else {
				status = tokens_add(&ids, &id, 1, w);
				id = 0;
			}
		v->kept = ids.n;
		status = status || (ids.n && (decode(v, &ids, AS_GIVEN, &text, w) ||
			history_add(&v->history, ids.id, ids.n, text.n ? text.p : "", text.n, 0, w)));
	}
	tokens_free(&ids);
	bytes_free(&lines);
	bytes_free(&text);
	return status ? -1 : 0;
}

/* ^C while a turn is evaluated: fwd gives it up. */
static void cancel(void)
{
	stage_signal(&current->stage[FWD], SIGUSR1);
}

int conversation(struct request *q, struct loop *l, struct why *w)
{
	struct conversation v = { .q = q, .l = l, .messages = { .limit = TEXT_MAX } };
	struct console console;
	const char *line;
	size_t n;
	int status = load_kept(&v, w) || pipeline_start(q, l, -1, w) ? -1 : 0;

	current = q;
	l->turns = 1;
	if (q->interactive) {
		progress_cancel = cancel;
		l->cancelled = console_cancelled;
	}
	if (!status) {
		console_open(&console, q->prompt, q->interactive);
		while ((status = console_turn(&console, &line, &n, w)) > 0 && !(status = turn(&v, line, n, w)))
			;
		if (console.prompted && write(STDOUT_FILENO, "\n", 1) < 0)
			status = why(w, "standard output: write error");
		console_close(&console);
	}
	history_free(&v.history);
	bytes_free(&v.messages);
	return status;
}
