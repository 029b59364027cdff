/* A turn, from the user's line to the saved answer; the loop over turns; and what happens when the context is full or
 * the user presses ^C. */
#include "conversation.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/quote.h"
#include "lib/base/size.h"
#include "lib/base/utf8.h"
#include "lib/gguf/gguf.h"
#include "lib/sampler/opts.h"
#include "lib/stream/stop.h"
#include "gen/json_line.h"
#include "gen/pipeline.h"
#include "gen/progress.h"
#include "gen/report.h"
#include "calls.h"
#include "commands.h"
#include "console.h"
#include "convert.h"
#include "display.h"
#include "layout.h"
#include "alone.h"

enum { OPTION_MAX = 1 << 16 };          /* bytes of a text that is passed as an option */

static struct conversation *current;    /* for callbacks that have no context argument */

/* ---- a full context ---- */

/* Lets the answer continue in a context that is half free. Returns 1, 0 if even the last turn alone leaves no room, or
 * -1 with a reason. */
static int drop_turns(struct conversation *v, const struct ids *said, struct layout *layout, struct why *w)
{
	const struct ids *ids = &v->spans.ids;
	struct ids all = { 0 };
	size_t keep;
	int status;

	if (layout_make(v, v->messages.first, layout, w))
		return -1;
	if ((status = layout_drop(v, said->n, layout, w)) <= 0)
		return status;
	if (layout_take(v, layout, &keep, w))
		return -1;
	status = ids_append(&v->l->r->prompt, ids->id + keep, ids->n - keep, w)
		|| ids_append(&all, ids->id, ids->n, w) || ids_append(&all, said->id, said->n, w)
		|| loop_move(v->l, all.id, all.n, keep, w);
	free(all.id);
	return status ? -1 : 1;
}

/* loop->make_room(). An answer under a grammar must end instead: the grammar's state depends on positions, which would
 * move. */
static int make_room(struct loop *l, struct why *w)
{
	struct conversation *v = current;
	const struct stage *sample = &v->q->stage[SAMPLE];
	struct layout layout = { 0 };
	int grammar = v->q->grammar || stage_option(sample, "--grammar")
		|| stage_option(sample, "--grammar-file");
	int status = grammar ? 0 : drop_turns(v, &l->r->ids, &layout, w);

	v->full = !status;
	layout_free(&layout);
	return status;
}

/* ---- a turn ---- */

/* Undoes a turn whose ids begin at position `keep`. fwd still has them until the next turn replaces them. */
static void take_back(struct conversation *v, size_t keep)
{
	spans_back(&v->spans, keep);
	messages_cut(&v->messages, v->before);
}

/* Adds the answer to the messages. */
static int add_answer(struct conversation *v, const struct bytes *text, struct why *w)
{
	struct bytes line = { .limit = CONVERT_MAX };
	int failed = parser_message(&v->parser, bytes_text(text), text->n, &line, w)
		|| messages_add_line(&v->messages, line.p, line.n, w);

	bytes_free(&line);
	return failed ? -1 : 0;
}

static void count(void *length, const char *text, size_t n)
{
	*(size_t *)length += n;
}

/* *length = how much of text[n] comes before the first stop string. */
static int before_stop(const struct request *q, const char *text, size_t n, size_t *length, struct why *w)
{
	const struct stage *s = &q->stage[STOPS];
	struct stop *stops = stop_open(w);
	int failed = stops ? 0 : -1;

	*length = 0;
	for (size_t i = 0; !failed && i + 1 < s->n; i++)
		if (!strcmp(s->argv[i], "--stop"))
			failed = stop_add_quoted(stops, s->argv[++i], w) < 0;
	if (!failed) {
		stop_feed(stops, text, n, count, length);
		stop_end(stops, count, length);
	}
	stop_close(stops);
	return failed ? -1 : 0;
}

/* Adds the answer to the messages, and what was evaluated of it to the spans. *text: its text, for --json. */
static int keep_answer(struct conversation *v, const struct result *r, struct bytes *text, struct why *w)
{
	struct bytes drawn = { .limit = CONVERT_MAX }, evaluated = { .limit = CONVERT_MAX };
	size_t n = r->ids.n, said, *ends = NULL;
	int failed;

	if (n > r->evaluated && card_is_eog(&v->l->card, r->ids.id[n - 1]))
		n--;
	failed = convert_ids(v->q, 0, r->ids.id, n, &drawn, &ends, w)
		|| before_stop(v->q, drawn.p, drawn.n, &said, w) || convert_bytes(drawn.p, said, text, w)
		|| convert_bytes(drawn.p, r->evaluated ? ends[r->evaluated - 1] : 0, &evaluated, w)
		|| add_answer(v, text, w)
		|| spans_add(&v->spans, SPAN_MODEL, r->ids.id, r->evaluated, evaluated.p, evaluated.n, w);
	free(ends);
	bytes_free(&drawn);
	bytes_free(&evaluated);
	return failed ? -1 : 0;
}

/* Sends the ids of a turn, from position `keep` on, and waits for the complete answer. */
static int answer(struct conversation *v, size_t keep, struct bytes *text, struct why *w)
{
	const struct ids *ids = &v->spans.ids;
	struct loop *l = v->l;
	int got;

	if (ids_append(&l->r->prompt, ids->id + keep, ids->n - keep, w)
	    || loop_send(l, ids->id, ids->n, keep, w))
		return -1;
	if ((got = loop_turn(l, w)) < 0)
		return -1;
	if (!got) {
		l->gone |= l->gone ? 0 : LOOP_OUT;
		return -1;
	}
	if (l->r->reason != FRAME_END_INTERRUPT)
		return keep_answer(v, l->r, text, w);
	take_back(v, keep);
	return 0;
}

/* Ends a turn without an answer, for the reason in *w, and restores the conversation. Returns 1, or -1. */
static int refuse(struct conversation *v, enum frame_reason reason, struct why *w)
{
	struct loop *l = v->l;

	v->refused = 1;
	console_say("%s is refused: %s", v->q->answer ? "the question" : "this turn", w->text);
	messages_cut(&v->messages, v->before);
	l->r->reason = reason;
	return l->copy >= 0 && frame_write_end(l->copy, reason, (uint32_t)v->spans.ids.n, 0, w) ? -1 : 1;
}

/* The tokens of a diffusion model's answer. Turns cannot be dropped while it is made, so there must be room for it. */
static size_t canvas_length(const struct conversation *v)
{
	const char *n = stage_option(&v->q->stage[SAMPLE], "--n-predict");

	return n && *n != '-' ? (size_t)strtoul(n, NULL, 10) : SAMPLER_CANVAS;
}

/* Refuses a turn that does not fit the context even if all turns before it are dropped. */
static int refuse_long(struct conversation *v, struct why *w)
{
	const struct messages *m = &v->messages;
	struct layout alone = { 0 };
	int failed = layout_make(v, messages_turn(m, messages_turns(m) - 1), &alone, w);

	layout_free(&alone);
	if (failed)
		return -1;
	why(w, "%zu tokens do not fit the context of %" PRId32 " (-c)", alone.n, v->l->card.n_ctx);
	return refuse(v, FRAME_END_CONTEXT, w);
}

/* Lays out the messages so that they fit the context; the ids from *keep on are new. Returns 1 if they do not fit; the
 * turn is then undone. */
static int fit(struct conversation *v, struct layout *layout, size_t *keep, struct why *w)
{
	size_t context = (size_t)v->l->card.n_ctx, room = context;

	if (layout_make(v, v->messages.first, layout, w) || layout_check(v, layout, w))
		return -1;
	if (v->l->card.diffusion)
		room -= size_min(canvas_length(v), context / 2);
	if (context && layout->n >= room && layout_drop(v, 0, layout, w) < 0)
		return -1;
	if (context && layout->n >= context)
		return refuse_long(v, w);
	return layout_take(v, layout, keep, w);
}

/* Lays out the messages, which have something new for the model: line[n] as the user's message, or if that is NULL the
 * results of calls. Returns as fit() does. */
static int take(struct conversation *v, const char *line, size_t n, size_t *keep, struct why *w)
{
	struct layout layout = { 0 };
	size_t good = line ? utf8_valid(line, n) : n;
	int status;

	if (!v->l->card.n_vocab && loop_card(v->l, w))
		return -1;
	if (good < n) {
		why(w, "byte %zu is not UTF-8", good);
		return refuse(v, FRAME_END_ERROR, w);
	}
	status = (line && messages_add(&v->messages, "user", line, n, w)) ? -1 : fit(v, &layout, keep, w);
	layout_free(&layout);
	if (!status)
		parser_learn(&v->parser, &v->messages);
	return status;
}

static int write_report(struct conversation *v, const struct result *r, const struct bytes *text, struct why *w)
{
	if (v->full)
		console_say("the context of %" PRId32 " tokens is full (-c): the answer ends here",
			v->l->card.n_ctx);
	v->cut |= v->full;
	if (v->q->answer && r->reason == FRAME_END_LENGTH && !v->cut++)
		console_say("-n/--n-predict stopped the answer");
	if (r->reason == FRAME_END_EOG && alone_empty(v->q) && !v->cut++)
		console_say("the answer is empty");
	if (v->q->verbose && r->ids.n && v->q->interactive)
		report_speed(v->q, r);
	else if (v->q->verbose && r->ids.n)
		report(v->q, v->l, r);
	return v->q->json ? json_line(v->q, &v->l->card, r, text, w) : 0;
}

/* Writes the history. */
static int save(struct conversation *v, struct why *w)
{
	int status = messages_save(&v->messages, w);

	if (status > 0)
		console_say("%s", w->text);
	return status < 0 ? -1 : 0;
}

/* Whether calls of the answer, which is complete, are to be run. */
static int has_calls(struct conversation *v, const struct result *r)
{
	return v->q->tool_command && (r->reason == FRAME_END_EOG || r->reason == FRAME_END_STOP)
		&& calls_count(v) > 0;
}

/* Runs the model once, on the user's line[n] or the results of calls. Returns 1 if the answer has calls to run; 0, or
 * -1 with a reason. */
static int respond(struct conversation *v, const char *line, size_t n, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	struct result r = { .begin = clock_now() };
	struct loop *l = v->l;
	int failed, calls = 0;
	size_t keep;

	l->r = &r;
	v->full = 0;
	failed = take(v, line, n, &keep, w);
	if (!failed && !(failed = answer(v, keep, &text, w)))
		calls = has_calls(v, &r);
	if (failed >= 0 && v->q->shown)
		failed = display_finish(v, w);
	if (failed >= 0 && v->q->answer)
		failed = alone_written(w);
	if (failed < 0 && l->gone && !(v->q->answer && alone_written(w)))
		why(w, "%s ended before the conversation did", l->gone & LOOP_COPY ? "detok" : "sample");
	if (failed >= 0 && !calls)
		failed = save(v, w);
	if (failed >= 0)
		failed = write_report(v, &r, &text, w);
	bytes_free(&text);
	result_free(&r);
	l->r = NULL;
	return failed < 0 ? -1 : calls;
}

/* Runs a turn, from the user's line[n] to the saved answer, with the calls that come before that. Returns 0, or -1 with
 * a reason. */
static int turn(struct conversation *v, const char *line, size_t n, struct why *w)
{
	int status, rounds = 0;

	v->before = v->messages.n;
	while ((status = respond(v, line, n, w)) > 0) {
		line = NULL;
		n = 0;
		if (calls_run(v, w))
			return -1;
		if (console_cancelled())
			return save(v, w);
		if (++rounds == CALLS_ROUNDS) {
			console_say("%d answers in a row have calls: the turn ends here", CALLS_ROUNDS);
			v->cut = 1;
			return save(v, w);
		}
	}
	return status;
}

/* ---- all turns ---- */

static int load_history(struct conversation *v, struct why *w)
{
	int status = v->q->history ? messages_open(&v->messages, v->q->history, w) : 0;

	if (status > 0)
		console_say("%s", w->text);
	v->resumed = v->messages.n > 0;
	return status < 0 ? -1 : 0;
}

/* loop->idle(): after ^C, asks fwd to cancel the turn that it is evaluating. */
static void idle(struct loop *l, int waiting)
{
	const struct stage *fwd = &current->q->stage[FWD];

	if (waiting && l->cancelled && l->cancelled() && fwd->pid > 0 && !fwd->shell)
		kill(fwd->pid, SIGUSR1);
	progress_wait(l, waiting);
}

/* Tells sample what opens and closes reasoning, for --think-budget, unless an option does. A command may give it
 * later. */
static int name_thinking(struct conversation *v, struct why *w)
{
	struct stage *sample = &v->q->stage[SAMPLE];

	if (sample->shell || (!v->q->edited && !stage_option(sample, "--think-budget")))
		return 0;
	return parser_name_thinking(&v->parser, sample, &v->think_open, &v->think_close, w);
}

/* Waits until the model is loaded, before the first prompt is shown. */
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

enum { SHOWN_MOST = 80 };

/* Makes the text visible, and short, in shown[SHOWN_MOST + QUOTE_ROOM + 4]. It may hold control sequences. */
static void shorten(const char *s, size_t n, char *shown)
{
	size_t length = 0, i;
	unsigned used;

	for (i = 0; i < n && length < SHOWN_MOST; i += used)
		length += quote_next(s + i, n - i, 0, shown + length, &used);
	strcpy(shown + length, i < n ? "..." : "");
}

/* On a terminal, names the model and says how to get help. */
static void greet(const struct request *q)
{
	char shown[SHOWN_MOST + QUOTE_ROOM + 4];
	struct gguf_string name;
	struct why ignored;
	struct gguf *g;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || !(g = gguf_open(q->model, 0, &ignored)))
		return;
	name = gguf_name(g);
	shorten(name.s, name.n, shown);
	console_say("%s%s; %s", shown,
		q->plain ? " has no chat template (--template), and continues what you type" : "",
		q->edited ? "/help lists the commands" : "^D ends the conversation");
	gguf_close(g);
}

/* Says what is continued: how many turns, and what the user said last. */
static void recount(const struct conversation *v)
{
	size_t turns = messages_turns(&v->messages);
	char shown[SHOWN_MOST + QUOTE_ROOM + 4];
	struct bytes last = { .limit = CONVERT_MAX };

	if (turns && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)
	    && !messages_content(&v->messages, messages_turn(&v->messages, turns - 1), &last)) {
		shorten(bytes_text(&last), last.n, shown);
		console_say("%s: %zu turn%s; the last: %s", v->q->history, turns, turns > 1 ? "s" : "", shown);
	}
	bytes_free(&last);
}

/* Runs turns and commands until the end of the input. */
static int take_turns(struct conversation *v, struct why *w)
{
	enum command_answer answer;
	const char *line;
	int status;
	size_t n;

	while ((status = console_turn(&line, &n, w)) > 0) {
		answer = v->q->edited ? command(v, line, n, w) : COMMAND_NONE;
		if (answer == COMMAND_BYE || answer == COMMAND_FAILED)
			return answer == COMMAND_BYE ? 0 : -1;
		if (answer == COMMAND_TURN && turn(v, bytes_text(&v->again), v->again.n, w))
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
		.again.limit = CONVERT_MAX, .set.limit = CONVERT_MAX, .think_open.limit = OPTION_MAX,
		.think_close.limit = OPTION_MAX };
	int status;

	console_name(q->program);
	status = load_history(&v, w);
	current = &v;
	v.parser.q = q;
	if (!status && !(status = name_thinking(&v, w)) && !(status = layout_load(&v, w)))
		status = q->shown ? display_start(&v, w) : pipeline_start(q, l, -1, w);
	l->turns = 1;
	l->idle = idle;
	l->make_room = make_room;
	l->cancelled = q->interactive ? console_cancelled : NULL;
	if (!status && q->interactive && !(status = await_model(&v, w))) {
		greet(q);
		recount(&v);
	}
	if (!status && !(status = console_open(q->prompt, q->prompt_n, q->interactive, q->edited
	    ? command_completions : NULL, w)))
		status = take_turns(&v, w);
	console_close();
	alone_close();
	bytes_free(&v.again);
	bytes_free(&v.think_open);
	bytes_free(&v.think_close);
	arena_free(&v.set);
	parser_close(&v.parser);
	spans_free(&v.spans);
	messages_close(&v.messages);
	return !status && v.refused && !q->interactive ? 1 : !status && v.cut && !q->interactive ? 3 : status;
}
