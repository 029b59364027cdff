/* A conversation. */
#include "conversation.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/slurp.h"
#include "lib/base/utf8.h"
#include "console.h"
#include "history.h"
#include "pipeline.h"
#include "report.h"

enum { TEXT_MAX = 256 << 20 };  /* bytes of a conversation */

struct conversation {
	struct request *q;
	struct loop *l;
	struct bytes messages;  /* JSON, one a line */
	size_t before;          /* bytes of them before the turn under way */
	struct history history;
	size_t kept;            /* ids that --kv held before the first turn */
};

static struct request *current; /* for the one callback that has no context */

/* ---- the stages of a turn ---- */

/* A file without a name that holds s[n], to be read from its start; -1 with a reason. */
static int scratch(const char *s, size_t n, struct why *w)
{
	FILE *f = tmpfile();
	int fd = -1;

	if (f && (!n || fwrite(s, 1, n, f) == n) && !fflush(f)) {
		rewind(f);
		fd = dup(fileno(f));
	}
	if (f)
		fclose(f);
	return fd < 0 ? why(w, "cannot create a temporary file") : fd;
}

/* Starts s with that input, and one more word unless it is NULL; its output can be read from the descriptor that is
 * returned. -1 with a reason. */
static int start(struct stage *s, const char *word, int in, struct why *w)
{
	size_t n = s->n;
	int out[2];

	if (in < 0 || (word && stage_arg(s, word, w)) || stage_pipe(out, w))
		return -1;
	if (stage_start(s, in, out[1], w)) {
		close(out[0]);
		out[0] = -1;
	}
	stage_cut(s, n);
	return out[0];
}

/* Runs it and appends what it prints to *out. */
static int filter(struct stage *s, const char *word, int in, struct bytes *out, struct why *w)
{
	int fd = start(s, word, in, w), failed;

	if (fd < 0)
		return -1;
	failed = slurp_fd(fd, s->name, out, w);
	close(fd);
	return stage_wait(s, w) || failed ? -1 : 0;
}

/* The ids of tok's output; its card goes before the first ids. */
static int take_ids(struct conversation *v, struct frame_in *in, struct tokens *out, struct why *w)
{
	void *payload = NULL;
	size_t room = 0;
	struct card card;
	struct frame f;
	int got;

	while ((got = frame_next(in, &f, w)) > 0) {
		if (f.kind == FRAME_IDS && (frame_read_all(in, &f, &payload, &room, w) ||
		    tokens_add(out, payload, f.rows, w)))
			break;
		if (f.kind == FRAME_CARD && !v->l->card.n_vocab &&
		    (card_read(in, &f, &card, w) || loop_card(v->l, &card, w)))
			break;
	}
	free(payload);
	return got ? -1 : 0;
}

/* The ids of text[n], which follows other text or not. */
static int encode(struct conversation *v, const char *text, size_t n, int continues, struct tokens *out, struct why *w)
{
	static struct frame_in in;
	struct stage *s = &v->q->stage[ENCODE];
	int fd = start(s, continues ? "--append" : NULL, scratch(text, n, w), w), failed;

	if (fd < 0)
		return -1;
	frame_open_in(&in, fd, "tok");
	failed = take_ids(v, &in, out, w);
	close(fd);
	return stage_wait(s, w) || failed ? -1 : 0;
}

/* The text of ids as a detok prints it, with U+FFFD for what is not UTF-8. word: "--special" for ids that were given,
 * NULL for an answer. */
static int decode(struct conversation *v, enum stage_number detok, const char *word, const struct tokens *ids,
	struct bytes *out, struct why *w)
{
	struct bytes raw = { .limit = TEXT_MAX };
	int fd = scratch("", 0, w), failed;
	unsigned used;

	if (fd < 0 || frame_write_ids(fd, ids->id, (uint32_t)ids->n, !word, word ? 0 : FRAME_SAMPLED, 0, w))
		return -1;
	lseek(fd, 0, SEEK_SET);
	failed = filter(&v->q->stage[detok], word, fd, &raw, w);
	for (size_t at = 0; at < raw.n; at += used) {
		int bad = utf8_next(raw.p + at, raw.n - at, &used) < 0;

		bytes_put(out, bad ? "\xef\xbf\xbd" : raw.p + at, bad ? 3 : used);
	}
	bytes_free(&raw);
	return failed;
}

/* ---- a turn ---- */

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

static int check_utf8(const char *s, size_t n, struct why *w)
{
	unsigned used;

	for (size_t at = 0; at < n; at += used)
		if (utf8_next(s + at, n - at, &used) < 0)
			return why(w, "this turn: byte %zu of the text is not UTF-8", at);
	return 0;
}

/* The messages as ids; those from *keep on are new. */
static int lay_out(struct conversation *v, size_t *keep, struct why *w)
{
	struct bytes text = { .limit = TEXT_MAX };
	struct stage *chat = &v->q->stage[CHAT];
	struct tokens fresh = { 0 };
	size_t at, first;
	int failed = filter(chat, NULL, scratch(v->messages.p, v->messages.n, w), &text, w);

	/* What it has to say about the template it says once. */
	chat->quiet = 1;
	if (!failed) {
		at = history_match(&v->history, text.p, text.n, &first);
		failed = bytes_put(&text, "", 1) || encode(v, text.p + at, text.n - 1 - at, first > 0, &fresh, w) ||
			history_prompt(&v->history, text.p + at, text.n - 1 - at, &fresh, keep, w);
	}
	tokens_free(&fresh);
	bytes_free(&text);
	if (failed)
		return -1;
	if (!v->history.ids.n)
		return why(w, "the template makes no text of the conversation");
	if (*keep + 1 < v->kept)
		return why(w, "--kv %s: holds another conversation, of %zu tokens: "
			"another name keeps both; kv rm %s removes it", v->q->kv, v->kept, v->q->kv);
	v->kept = 0;
	if (v->history.ids.n - *keep > FRAME_IDS_MAX)
		return why(w, "a turn of %zu tokens is more than a frame holds", v->history.ids.n - *keep);
	return 0;
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
	int failed;

	stays.n = r->evaluated;
	if (said.n > stays.n && card_is_eog(&v->l->card, said.id[said.n - 1]))
		said.n--;
	failed = decode(v, ANSWER, NULL, &said, text, w);
	if (!failed && (r->stop || said.n != stays.n)) {
		failed = decode(v, PLAIN, NULL, &stays, &evaluated, w);
		whole = &evaluated;
	}
	failed = failed || add_message(v, "assistant", text->n ? text->p : "", text->n, w) ||
		history_add(&v->history, r->ids.id, r->evaluated, whole->n ? whole->p : "", whole->n, 1, w);
	bytes_free(&evaluated);
	return failed ? -1 : 0;
}

/* Has the turn from `keep` on answered. */
static int answer(struct conversation *v, size_t keep, struct bytes *text, struct why *w)
{
	const struct tokens *ids = &v->history.ids;
	struct loop *l = v->l;
	int got;

	if (tokens_add(&l->r->prompt, ids->id + keep, ids->n - keep, w) ||
	    loop_send(l, ids->id + keep, ids->n - keep, (uint32_t)keep, w))
		return -1;
	if ((got = loop_turn(l, w)) < 0)
		return -1;
	if (!got) {
		l->gone = 1;
		return -1;
	}
	if (l->r->reason != FRAME_END_INTERRUPT)
		return keep_answer(v, l->r, text, w);
	take_back(v, keep);
	return 0;
}

/* A turn that does not fit the context is refused, and the conversation stands as it was. */
static int refuse(struct conversation *v, size_t keep, struct why *w)
{
	struct loop *l = v->l;

	fprintf(stderr, "gen: with this turn the conversation is %zu tokens, and the context holds %" PRId32 " (-c): "
		"the turn is dropped\n", v->history.ids.n, l->card.n_ctx);
	take_back(v, keep);
	l->r->reason = FRAME_END_LENGTH;
	return l->copy >= 0 ? frame_write_end(l->copy, FRAME_END_LENGTH, (uint32_t)keep, 0, w) : 0;
}

static void tell(const struct conversation *v, const struct result *r, const struct bytes *text)
{
	int32_t room = v->l->card.n_ctx;

	if (r->reason == FRAME_END_LENGTH && room && r->ids.n && r->pos + r->ids.n > (size_t)room)
		fprintf(stderr, "gen: the context of %" PRId32 " tokens is full (-c): the answer ends here\n", room);
	if (asked(v->q, VERBOSE) && r->ids.n)
		report(v->q, v->l, r);
	if (asked(v->q, JSON))
		report_json(v->q, r, text);
}

/* 0, or -1 with a reason. */
static int turn(struct conversation *v, const char *line, size_t n, struct why *w)
{
	struct bytes text = { .limit = TEXT_MAX };
	struct result r = { .begin = clock_now() };
	struct loop *l = v->l;
	size_t keep;
	int failed;

	l->r = &r;
	v->before = v->messages.n;
	failed = check_utf8(line, n, w) || add_message(v, "user", line, n, w) || lay_out(v, &keep, w);
	if (!failed && l->card.n_ctx && v->history.ids.n > (size_t)l->card.n_ctx)
		failed = refuse(v, keep, w);
	else if (!failed)
		failed = answer(v, keep, &text, w);
	if (failed && l->gone)
		why(w, "sample ended before the conversation did");
	if (!failed)
		tell(v, &r, &text);
	bytes_free(&text);
	result_free(&r);
	l->r = NULL;
	return failed;
}

/* ---- all turns ---- */

/* A conversation that --kv has kept goes on if this one begins as it does; it is never written over. */
static int load_kept(struct conversation *v, struct why *w)
{
	struct bytes lines = { .limit = TEXT_MAX }, text = { .limit = TEXT_MAX };
	struct stage *s = &v->q->stage[KV];
	struct tokens ids = { 0 };
	struct why ignored;
	int failed = 0;

	s->quiet = 1;
	/* A segment that is not there, or cannot be read, is fwd's to make or to report. */
	if (s->n && !filter(s, NULL, scratch("", 0, w), &lines, &ignored) && !bytes_put(&lines, "", 1)) {
		for (const char *at = lines.p; *at && !failed; at += strcspn(at, "\n") + 1)
			failed = tokens_add(&ids, &(int32_t){ (int32_t)atol(at) }, 1, w);
		v->kept = ids.n;
		failed = failed || (ids.n && (decode(v, PLAIN, "--special", &ids, &text, w) ||
			history_add(&v->history, ids.id, ids.n, text.n ? text.p : "", text.n, 0, w)));
	}
	tokens_free(&ids);
	bytes_free(&lines);
	bytes_free(&text);
	return failed ? -1 : 0;
}

/* ^C while a turn is evaluated: fwd gives it up. */
static void idle(struct loop *l, int waiting)
{
	const struct stage *fwd = &current->stage[FWD];

	if (waiting && l->cancelled && l->cancelled() && fwd->pid > 0 && !fwd->shell)
		kill(fwd->pid, SIGUSR1);
	report_wait(l, waiting);
}

int conversation(struct request *q, struct loop *l, struct why *w)
{
	struct conversation v = { .q = q, .l = l, .messages = { .limit = TEXT_MAX } };
	int status = load_kept(&v, w) || pipeline_start(q, l, -1, w) ? -1 : 0;
	const char *line;
	size_t n;

	current = q;
	l->turns = 1;
	l->idle = idle;
	l->cancelled = asked(q, INTERACTIVE) ? console_cancelled : NULL;
	if (!status) {
		console_open(q->prompt, asked(q, INTERACTIVE));
		while ((status = console_turn(&line, &n, w)) > 0 && !(status = turn(&v, line, n, w)))
			;
		console_close();
	}
	history_free(&v.history);
	bytes_free(&v.messages);
	return status;
}
