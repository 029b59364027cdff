/* A conversation. */
#include "conversation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/io.h"
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
	size_t before;          /* bytes of them before the turn under way, */
	size_t saved;           /* and in the file of --history, */
	int file;               /* which is open for reading and writing at its end; or -1 */
	struct history history;
	size_t kept;            /* ids that --kv held before the first turn */
};

static struct request *current; /* for the one callback that has no context */

/* ---- the stages of a turn ---- */

/* A file without a name that holds s[n], to be read from its start; -1 with a reason. */
static int scratch(const char *s, size_t n, struct why *w)
{
	int fd = stage_file(w);

	if (fd < 0 || io_write(fd, s, n, w))
		return -1;
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Runs s with that input, and one more word unless it is NULL; appends what it prints to *out. */
static int filter(struct stage *s, const char *word, int in, struct bytes *out, struct why *w)
{
	size_t n = s->n;
	int fd[2], failed;

	if (in < 0 || (word && stage_arg(s, word, w)) || stage_pipe(fd, w))
		return -1;
	failed = stage_start(s, in, fd[1], w);
	stage_cut(s, n);
	if (!failed)
		failed = slurp_fd(fd[0], s->name, out, w);
	close(fd[0]);
	return stage_wait(s, w) || failed ? -1 : 0;
}

/* The same for one that prints decimal ids, one a line. */
static int filter_ids(struct stage *s, const char *word, int in, struct ids *out, struct why *w)
{
	struct bytes lines = { .limit = TEXT_MAX };
	int failed = filter(s, word, in, &lines, w) || (bytes_put(&lines, "", 1) && why(w, "out of memory"));

	for (const char *at = lines.p; !failed && *at; at += strcspn(at, "\n") + 1)
		failed = ids_append(out, &(int32_t){ (int32_t)atol(at) }, 1, w);
	bytes_free(&lines);
	return failed ? -1 : 0;
}

/* The text of ids as a detok prints it, with U+FFFD for what is not UTF-8. word: "--special" for ids that were given,
 * NULL for an answer. */
static int decode(struct conversation *v, enum stage_number detok, const char *word, const struct ids *ids,
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
	struct ids fresh = { 0 };
	size_t at, first;
	int failed = filter(chat, NULL, scratch(v->messages.p, v->messages.n, w), &text, w);
	const char *all = text.n ? text.p : "";

	/* What it has to say about the template it says once. */
	chat->quiet = 1;
	if (!failed) {
		at = history_match(&v->history, all, text.n, &first);
		failed = filter_ids(&v->q->stage[ENCODE], first ? "--append" : NULL, scratch(all + at, text.n - at, w),
			&fresh, w) || history_prompt(&v->history, all + at, text.n - at, &fresh, keep, w);
	}
	free(fresh.id);
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
	struct ids said = r->ids, stays = r->ids;
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
	const struct ids *ids = &v->history.ids;
	struct loop *l = v->l;
	int got;

	if (ids_append(&l->r->prompt, ids->id + keep, ids->n - keep, w) ||
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

/* The messages of --history: what the file holds, and later what is new. */
static int load(struct conversation *v, const char *path, struct why *w)
{
	struct bytes *b = &v->messages;

	if ((v->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
		return why(w, "%s: %s", path, strerror(errno));
	if (slurp_fd(v->file, path, b, w))
		return -1;
	v->saved = b->n;
	return b->n && b->p[b->n - 1] != '\n' && bytes_put(b, "\n", 1) ? why(w, "out of memory") : 0;
}

static int save(struct conversation *v, struct why *w)
{
	size_t from = v->saved;

	if (v->file < 0 || v->messages.n == v->before)
		return 0;
	v->saved = v->messages.n;
	return io_write(v->file, v->messages.p + from, v->saved - from, w) ? why_in(w, v->q->history) : 0;
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
		failed = save(v, w);
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
	struct bytes text = { .limit = TEXT_MAX };
	struct stage *s = &v->q->stage[KV];
	struct ids ids = { 0 };
	struct why ignored;
	int failed = 0;

	s->quiet = 1;
	/* A segment that is not there, or cannot be read, is fwd's to make or to report. */
	if (s->n && !filter_ids(s, NULL, scratch("", 0, w), &ids, &ignored) && ids.n)
		failed = decode(v, PLAIN, "--special", &ids, &text, w) ||
			history_add(&v->history, ids.id, ids.n, text.n ? text.p : "", text.n, 0, w);
	v->kept = ids.n;
	free(ids.id);
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
	struct conversation v = { .q = q, .l = l, .messages = { .limit = TEXT_MAX }, .file = -1 };
	int status = q->history ? load(&v, q->history, w) : 0;
	const char *line;
	size_t n;

	current = q;
	status = status || load_kept(&v, w) || pipeline_start(q, l, -1, w) ? -1 : 0;
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
