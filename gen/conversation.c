/* A conversation. */
#include "conversation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/size.h"
#include "lib/base/space.h"
#include "lib/base/utf8.h"
#include "commands.h"
#include "console.h"
#include "convert.h"
#include "pipeline.h"
#include "report.h"
#include "sections.h"
#include "show.h"

static struct conversation *current;    /* for callbacks, which have no context */

/* ---- what is laid out ---- */

/* Whether s[n] has bytes that are not UTF-8; *at: the first. */
static int find_invalid(const char *s, size_t n, size_t *at)
{
	unsigned used;

	for (*at = 0; *at < n; *at += used)
		if (utf8_next(s + *at, n - *at, &used) < 0)
			return 1;
	return 0;
}

static int other_conversation(const struct conversation *v, struct why *w)
{
	return why(w, "--kv %s: holds another conversation, of %zu tokens: "
		"another name keeps both; kv rm %s removes it", v->q->kv, v->kept.n, v->q->kv);
}

/* Where the first turn that is laid out ends in text, or 0. */
static size_t first_turn(const struct conversation *v, const char *text)
{
	struct bytes content = { .limit = CONVERT_MAX };
	const char *at = NULL;
	size_t begin, end = 0;

	if (!messages_content(&v->messages, v->messages.first, &content) && !bytes_put(&content, "", 1)) {
		begin = space_leading(content.p, content.n - 1);
		content.p[end = space_trimmed(content.p, content.n - 1)] = 0;
		if (begin < end && (at = strstr(text, content.p + begin)))
			end = (size_t)(at - text) + end - begin;
	}
	bytes_free(&content);
	return at ? end : 0;
}

/* 1: text[n] begins with the first `some` of the ids that were kept, and *used is how many bytes that is; 0; or -1. */
static int begins_with(struct conversation *v, size_t some, const char *text, size_t n, size_t *used, struct why *w)
{
	struct bytes b = { .limit = CONVERT_MAX };
	int same = convert_ids(v->q, PLAIN, 1, v->kept.id, some, &b, w);

	if (!same)
		same = b.n <= n && (!b.n || !memcmp(b.p, text, b.n));
	*used = b.n;
	bytes_free(&b);
	return same;
}

/* The history prevails over the state that --kv keeps of it: what they have in common stays, from the first turn on
 * at least. Without a history the state is another conversation's. text[n] is terminated. */
static int salvage(struct conversation *v, const char *text, size_t n, struct why *w)
{
	size_t low = 0, high = v->kept.n, used, least;
	int same = 1;

	if (!v->resumed)
		return other_conversation(v, w);
	/* Half of a character is no prefix, so this may find somewhat less. */
	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if ((same = begins_with(v, middle, text, n, &used, w)) < 0)
			return -1;
		if (same)
			low = middle;
		else
			high = middle - 1;
	}
	if (low && begins_with(v, low, text, n, &used, w) < 0)
		return -1;
	if (!low || !(least = first_turn(v, text)) || used < least)
		return other_conversation(v, w);
	v->history.ids.n = 0;
	return history_add(&v->history, v->kept.id, low, text, used, 0, w);
}

/* The messages as ids; those from *keep on are new. */
static int lay_out(struct conversation *v, size_t *keep, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	struct ids fresh = { 0 };
	size_t at, first;
	int failed = convert_messages(v->q, &v->messages, v->messages.first, &text, w) ||
		(bytes_put(&text, "", 1) && why(w, "out of memory"));

	if (!failed) {
		text.n--;
		v->n_ending = size_min(text.n, sizeof v->ending);
		memcpy(v->ending, text.p + text.n - v->n_ending, v->n_ending);
		at = history_match(&v->history, text.p, text.n, &first);
		if (first < v->kept.n && !(failed = salvage(v, text.p, text.n, w)))
			at = history_match(&v->history, text.p, text.n, &first);
		failed = failed || convert_text(v->q, text.p + at, text.n - at, first > 0, &fresh, w) ||
			history_prompt(&v->history, text.p + at, text.n - at, &fresh, keep, w);
	}
	v->kept.n = 0;
	free(fresh.id);
	bytes_free(&text);
	if (failed)
		return -1;
	if (!v->history.ids.n)
		return why(w, "the template makes no text of the conversation");
	if (v->history.ids.n - *keep > FRAME_IDS_MAX)
		return why(w, "a turn of %zu tokens is more than a frame holds", v->history.ids.n - *keep);
	return 0;
}

/* The turn never was: what fwd has evaluated of it, from `keep` on, the next one replaces. */
static void take_back(struct conversation *v, size_t keep)
{
	history_back(&v->history, keep);
	messages_cut(&v->messages, v->before);
}

/* ---- a full context ---- */

/* How many ids the conversation from message `first` on is. */
static int measure(struct conversation *v, size_t first, size_t *n, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	struct ids ids = { 0 };
	int failed = convert_messages(v->q, &v->messages, first, &text, w) ||
		convert_text(v->q, text.n ? text.p : "", text.n, 0, &ids, w);

	*n = ids.n;
	free(ids.id);
	bytes_free(&text);
	return failed;
}

/* Drops as few of the oldest turns as leave half of the context free, where `said` ids of an answer follow; all but the
 * turn under way if there are no so few. 1; 0: that is not enough, and nothing has changed; -1. */
static int drop(struct conversation *v, size_t said, struct why *w)
{
	struct messages *m = &v->messages;
	size_t context = (size_t)v->l->card.n_ctx, high = messages_turns(m) - 1, low, turn = 0, n;

	while (messages_turn(m, turn) < m->first)
		turn++;
	for (low = turn + 1; low < high; ) {
		size_t middle = low + (high - low) / 2;

		if (measure(v, messages_turn(m, middle), &n, w))
			return -1;
		if (n + said <= context / 2)
			high = middle;
		else
			low = middle + 1;
	}
	if (turn >= high || measure(v, messages_turn(m, high), &n, w))
		return turn >= high ? 0 : -1;
	if (n + said >= context)
		return 0;
	m->first = messages_turn(m, high);
	console_say("the context of %zu tokens is full (-c): dropped the oldest %zu turn%s", context, high - turn,
		high - turn > 1 ? "s" : "");
	return 1;
}

/* A loop's make_room(): the answer goes on in a context that is half free. A grammar's state goes by positions, which
 * move; so an answer that follows one ends. */
static int make_room(struct loop *l, struct why *w)
{
	struct conversation *v = current;
	const struct ids *said = &l->r->ids;
	struct ids all = { 0 };
	size_t keep, n;
	int status = asked(v->q, GRAMMAR) ? 0 : drop(v, said->n, w);

	v->full = !status;
	if (status <= 0)
		return status;
	if (lay_out(v, &keep, w))
		return -1;
	n = v->history.ids.n;
	status = ids_append(&l->r->prompt, v->history.ids.id + keep, n - keep, w) ||
		ids_append(&all, v->history.ids.id, n, w) || ids_append(&all, said->id, said->n, w) ||
		loop_move(l, all.id, all.n, keep, w);
	free(all.id);
	return status ? -1 : 1;
}

/* ---- a turn ---- */

/* The answer as a message. */
static int add_answer(struct conversation *v, const struct bytes *text, struct why *w)
{
	struct bytes said = { .limit = CONVERT_MAX }, thought = { .limit = CONVERT_MAX };
	const char *whole = text->n ? text->p : "";
	int apart = sections_split(v->ending, v->n_ending, whole, text->n, &said, &thought, w), failed = -1;

	if (apart > 0)
		failed = messages_add_thought(&v->messages, &said, &thought, w);
	else if (!apart)
		failed = messages_add(&v->messages, "assistant", whole, text->n, w);
	bytes_free(&said);
	bytes_free(&thought);
	return failed;
}

/* The answer becomes a message; what of it was evaluated becomes history. Its text, for --json, is left in *text. */
static int keep_answer(struct conversation *v, const struct result *r, struct bytes *text, struct why *w)
{
	struct ids said = r->ids, stays = r->ids;
	struct bytes evaluated = { .limit = CONVERT_MAX };
	const struct bytes *whole = text;
	int failed;

	stays.n = r->evaluated;
	if (said.n > stays.n && card_is_eog(&v->l->card, said.id[said.n - 1]))
		said.n--;
	failed = convert_ids(v->q, ANSWER, 0, said.id, said.n, text, w);
	if (!failed && (r->stop || said.n != stays.n)) {
		failed = convert_ids(v->q, PLAIN, 0, stays.id, stays.n, &evaluated, w);
		whole = &evaluated;
	}
	failed = failed || add_answer(v, text, w) ||
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

/* The turn has no answer, and the conversation stands as it was. 1, or -1. */
static int refuse(struct conversation *v, enum frame_reason reason, size_t pos, struct why *w)
{
	struct loop *l = v->l;

	messages_cut(&v->messages, v->before);
	l->r->reason = reason;
	return l->copy >= 0 && frame_write_end(l->copy, reason, (uint32_t)pos, 0, w) ? -1 : 1;
}

/* The messages as ids that fit the context; those from *keep on are new. 1: they do not fit, and the turn is taken
 * back. */
static int fit(struct conversation *v, size_t *keep, struct why *w)
{
	size_t context = (size_t)v->l->card.n_ctx, n;
	int dropped;

	if (lay_out(v, keep, w))
		return -1;
	n = v->history.ids.n;
	if (!context || n < context)
		return 0;
	history_back(&v->history, *keep);
	if ((dropped = drop(v, 0, w)) < 0)
		return -1;
	if (dropped)
		return lay_out(v, keep, w);
	if (measure(v, messages_turn(&v->messages, messages_turns(&v->messages) - 1), &n, w))
		return -1;
	console_say("this turn is %zu tokens, and the context holds %zu (-c): it is refused", n, context);
	return refuse(v, FRAME_END_LENGTH, *keep, w);
}

/* line[n] as the user's message, laid out. As fit(). */
static int take(struct conversation *v, const char *line, size_t n, size_t *keep, struct why *w)
{
	size_t bad;

	if (!v->l->card.n_vocab && loop_card(v->l, w))
		return -1;
	if (find_invalid(line, n, &bad)) {
		console_say("byte %zu of this turn is not UTF-8: it is refused", bad);
		return refuse(v, FRAME_END_ERROR, v->history.ids.n, w);
	}
	return messages_add(&v->messages, "user", line, n, w) ? -1 : fit(v, keep, w);
}

static void tell(const struct conversation *v, const struct result *r, const struct bytes *text)
{
	if (v->full)
		console_say("the context of %" PRId32 " tokens is full (-c): the answer ends here",
			v->l->card.n_ctx);
	if (asked(v->q, VERBOSE) && r->ids.n)
		report(v->q, v->l, r);
	if (asked(v->q, JSON))
		report_json(v->q, r, text);
}

/* ---- an answer on the terminal ---- */

/* A loop's show(): more of what detok prints. */
static void show_answer(struct loop *l)
{
	struct conversation *v = current;
	char text[4096];
	ssize_t n = io_read(l->text, text, sizeof text);

	if (n <= 0) {
		l->gone = 1;
		return;
	}
	if (!v->begun++)
		show_begin(v->ending, v->n_ending);
	show_text(text, (size_t)n);
}

/* All that detok has printed before it says that the answer is over. */
static int finish_showing(struct conversation *v, struct why *w)
{
	struct pollfd ready[2] = { { .fd = v->l->text, .events = POLLIN }, { .fd = v->ends.fd, .events = POLLIN } };
	struct frame f;

	do {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return why(w, "poll: %s", strerror(errno));
		if (ready[0].revents)
			show_answer(v->l);
	} while (!v->l->gone && (ready[0].revents || !ready[1].revents));
	show_end();
	return v->l->gone || frame_next(&v->ends, &f, w) < 0 ? -1 : 0;
}

/* detok prints to the terminal by way of this program. */
static int start_shown(struct conversation *v, struct why *w)
{
	struct stage *detok = &v->q->stage[DETOK];
	struct loop *l = v->l;
	int text[2], ends[2], failed;
	static char path[32];

	if (stage_pipe(text, w) || stage_pipe(ends, w))
		return -1;
	fcntl(ends[1], F_SETFD, 0);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
	failed = stage_arg(detok, "--end", w) || stage_arg(detok, path, w) || pipeline_start(v->q, l, text[1], w);
	close(ends[1]);
	l->text = text[0];
	l->show = show_answer;
	frame_open_in(&v->ends, ends[0], "detok --end");
	return failed ? -1 : 0;
}

/* 0, or -1 with a reason. */
static int turn(struct conversation *v, const char *line, size_t n, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	struct result r = { .begin = clock_now() };
	struct loop *l = v->l;
	size_t keep;
	int failed;

	l->r = &r;
	v->full = v->begun = 0;
	v->before = v->messages.n;
	failed = take(v, line, n, &keep, w);
	if (!failed)
		failed = answer(v, keep, &text, w);
	if (failed >= 0 && asked(v->q, EDITED))
		failed = finish_showing(v, w);
	if (failed < 0 && l->gone)
		why(w, "sample ended before the conversation did");
	if (failed >= 0 && !(failed = messages_save(&v->messages, w)))
		tell(v, &r, &text);
	bytes_free(&text);
	result_free(&r);
	l->r = NULL;
	return failed;
}

/* ---- all turns ---- */

/* In how many messages from number i on each is in text after the one before it; *at: where the first is. */
static size_t count_found(const struct messages *m, size_t i, const char *text, size_t *at)
{
	const char *from = text;
	size_t found = 0;

	for (; i < m->n && from; i++) {
		struct bytes content = { .limit = CONVERT_MAX };
		size_t skip, end;

		if (!messages_content(m, i, &content) && !bytes_put(&content, "", 1)) {
			skip = space_leading(content.p, content.n - 1);
			content.p[end = space_trimmed(content.p, content.n - 1)] = 0;
			if ((from = skip < end ? strstr(from, content.p + skip) : NULL)) {
				*at = found++ ? *at : (size_t)(from - text);
				from += end - skip;
			}
		} else
			from = NULL;
		bytes_free(&content);
	}
	return found;
}

/* Turns that the state no longer holds were dropped by an earlier conversation: the first turn that is laid out is the
 * one that text, which is the state's, has first. */
static void find_first(struct messages *m, const char *text)
{
	size_t most = 0, first = (size_t)-1, at, found;

	for (size_t i = 0; i < m->n; i++) {
		if (!m->list[i].user || !(found = count_found(m, i, text, &at)))
			continue;
		if (!most || at < first || (at == first && found > most)) {
			m->first = i;
			first = at;
			most = found;
		}
	}
}

/* A conversation that --kv has kept goes on if this one begins as it does; it is never written over. */
static int load_kept(struct conversation *v, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	int failed;

	convert_kept(v->q, &v->kept);
	if (!v->kept.n)
		return 0;
	failed = convert_ids(v->q, PLAIN, 1, v->kept.id, v->kept.n, &text, w) ||
		(bytes_put(&text, "", 1) && why(w, "out of memory")) ||
		history_add(&v->history, v->kept.id, v->kept.n, text.p, text.n - 1, 0, w);
	if (!failed)
		find_first(&v->messages, text.p);
	bytes_free(&text);
	return failed ? -1 : 0;
}

static int load_history(struct conversation *v, struct why *w)
{
	int status = v->q->history ? messages_open(&v->messages, v->q->history, w) : 0;

	if (status > 0)
		console_say("%s", w->text);
	v->resumed = v->messages.n > 0;
	return status < 0 ? -1 : 0;
}

/* ^C while a turn is evaluated: fwd gives it up. */
static void idle(struct loop *l, int waiting)
{
	const struct stage *fwd = &current->q->stage[FWD];

	if (waiting && l->cancelled && l->cancelled() && fwd->pid > 0 && !fwd->shell)
		kill(fwd->pid, SIGUSR1);
	report_wait(l, waiting);
}

/* The first prompt is shown when the model is there. */
static int await_model(struct conversation *v, struct why *w)
{
	struct result r = { .begin = clock_now() };
	int failed;

	v->l->r = &r;
	if ((failed = loop_card(v->l, w)) && v->l->gone)
		why(w, "sample ended before the conversation began");
	v->l->r = NULL;
	return failed;
}

/* To the end of the input. */
static int talk(struct conversation *v, struct why *w)
{
	enum command_answer answer;
	const char *line;
	int status;
	size_t n;

	while ((status = console_turn(&line, &n, w)) > 0) {
		answer = asked(v->q, EDITED) ? command(v, line, n, w) : COMMAND_NONE;
		if (answer == COMMAND_BYE || answer == COMMAND_FAILED)
			return answer == COMMAND_BYE ? 0 : -1;
		if (answer == COMMAND_TURN && turn(v, v->again.p ? v->again.p : "", v->again.n, w))
			return -1;
		if (answer == COMMAND_NONE && turn(v, line, n, w))
			return -1;
		if (v->q->once)
			return 0;
	}
	return status;
}

int conversation(struct request *q, struct loop *l, struct why *w)
{
	struct conversation v = { .q = q, .l = l, .messages = { .text.limit = CONVERT_MAX, .file = -1 },
		.again.limit = CONVERT_MAX };
	int status = load_history(&v, w);

	current = &v;
	status = status || load_kept(&v, w) ? -1 : asked(q, EDITED) ? start_shown(&v, w) : pipeline_start(q, l, -1, w);
	l->turns = 1;
	l->idle = idle;
	l->make_room = make_room;
	l->cancelled = asked(q, INTERACTIVE) ? console_cancelled : NULL;
	if (!status && asked(q, INTERACTIVE))
		status = await_model(&v, w);
	if (!status && !(status = console_open(q->prompt, asked(q, INTERACTIVE), asked(q, EDITED) ?
	    command_completions : NULL, w)))
		status = talk(&v, w);
	console_close();
	bytes_free(&v.again);
	history_free(&v.history);
	free(v.kept.id);
	messages_close(&v.messages);
	return status;
}
