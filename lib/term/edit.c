/* What each key does: editing the text (typed.c), recalling and searching earlier lines, completing. */
#include "edit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "tty.h"
#include "width.h"

enum { ESCAPE_WAIT = 50, SIGNAL_WAIT = 500, LISTED = 64 };     /* milliseconds; completions that are shown */
#define QUOTES "\"\"\""

static volatile sig_atomic_t interrupted;

void edit_interrupt(void)
{
	interrupted = 1;
}

/* ---- earlier lines ---- */

static void recall(struct edit *e, size_t number)
{
	struct recall *r = &e->recall;

	if (e->recalled == r->n) {
		e->draft.n = 0;
		bytes_put(&e->draft, e->typed.text.p, e->typed.text.n);
	}
	e->recalled = number;
	if (number < r->n)
		typed_set(&e->typed, r->line[number], strlen(r->line[number]));
	else
		typed_set(&e->typed, e->draft.p, e->draft.n);
}

/* Up and down: move to another line of the text, in the same column, or to another earlier line. */
static void up(struct edit *e, int by_line)
{
	if (!(by_line && typed_up(&e->typed)) && e->recalled)
		recall(e, e->recalled - 1);
}

static void down(struct edit *e, int by_line)
{
	if (!(by_line && typed_down(&e->typed)) && e->recalled < e->recall.n)
		recall(e, e->recalled + 1);
}

/* ---- input ---- */

/* Waits for the next key, but not for the rest of an escape sequence that does not come. */
static enum key next_key(struct edit *e)
{
	struct pollfd ready = { .fd = e->in, .events = POLLIN };
	enum key key = KEY_NONE;
	enum tty_event event;
	ssize_t got;

	while (key == KEY_NONE) {
		if (interrupted) {
			interrupted = 0;
			return KEY_INTERRUPT;
		}
		if ((event = tty_event())) {
			if (event == TTY_STOPPED)
				view_forget(&e->view);
			return KEY_REDRAW;
		}
		if (e->used < e->have) {
			key = keyboard_next(&e->keyboard, e->input, &e->used);
			continue;
		}
		if (e->undrawn)
			return KEY_REDRAW;
		/* a signal just before this call is noticed a little later */
		got = poll(&ready, 1, keyboard_pending(&e->keyboard) ? ESCAPE_WAIT : SIGNAL_WAIT);
		if (!got)
			key = keyboard_give_up(&e->keyboard);
		if (got <= 0)
			continue;
		e->used = e->have = 0;
		if ((got = read(e->in, e->input, sizeof e->input)) > 0)
			e->have = (size_t)got;
		else if (!got || (errno != EINTR && errno != EAGAIN))
			return KEY_HANGUP;
	}
	return key;
}

static void draw(struct edit *e, const char *prompt)
{
	/* while keys are waiting, nobody would see it */
	e->undrawn = e->used < e->have;
	if (!e->undrawn)
		view_draw(&e->view, prompt, e->typed.text.p, e->typed.text.n, e->typed.at);
}

/* Leaves the whole text on the screen, with the cursor below it. */
static void leave(struct edit *e)
{
	view_draw(&e->view, e->prompt, e->typed.text.p, e->typed.text.n, e->typed.text.n);
	view_leave(&e->view);
}

/* ---- searching ---- */

/* Finds the earlier line that contains e->wanted, from number `from` backward or forward. *at: where in it.
 * e->recall.n: none. */
static size_t find(const struct edit *e, size_t from, int forward, size_t *at)
{
	const struct recall *r = &e->recall;
	const char *s;

	for (size_t i = from; i < r->n; i += forward ? 1 : (size_t)-1)
		if ((s = strstr(r->line[i], e->wanted.p))) {
			*at = (size_t)(s - r->line[i]);
			return i;
		}
	return r->n;
}

/* Handles one key of a search. Returns KEY_NONE if the search goes on, otherwise the key that ended it. */
static enum key search_key(struct edit *e, enum key key, int *failed)
{
	size_t from = e->recalled < e->recall.n ? e->recalled : e->recall.n - 1, at, found;
	struct bytes *b = &e->wanted;
	int forward = key == KEY_SEARCH_FORWARD;

	if (key == KEY_TEXT) {
		b->n--;
		bytes_put(b, e->keyboard.text, e->keyboard.n);
		bytes_put(b, "", 1);
	} else if (key == KEY_BACKSPACE && b->n > 1) {
		b->n = width_back(b->p, b->n - 1);
		bytes_put(b, "", 1);
	} else if ((key == KEY_SEARCH || forward) && e->recalled < e->recall.n)
		from += forward ? 1 : (size_t)-1;
	else if (key != KEY_SEARCH && !forward && key != KEY_REDRAW && key != KEY_BACKSPACE)
		return key;
	if (b->n > 1 && e->recall.n) {
		found = find(e, from, forward, &at);
		*failed = found == e->recall.n;
		if (!*failed) {
			recall(e, found);
			e->typed.at = at;
		}
	}
	return KEY_NONE;
}

/* Searches until a key means something else. Returns that key. */
static enum key search(struct edit *e, enum key key)
{
	struct bytes prompt = { .limit = 1 << 20 };
	size_t was = e->recalled;
	int failed = 0;

	e->wanted.n = 0;
	bytes_put(&e->wanted, "", 1);
	while ((key = search_key(e, key, &failed)) == KEY_NONE) {
		prompt.n = 0;
		bytes_puts(&prompt, failed ? "(no line) " : "(search) ");
		bytes_put(&prompt, e->wanted.p, e->wanted.n - 1);
		bytes_put(&prompt, ": ", 3);
		draw(e, prompt.failed ? "(search) " : prompt.p);
		key = next_key(e);
	}
	bytes_free(&prompt);
	if (key == KEY_CANCEL || key == KEY_INTERRUPT) {
		recall(e, was);
		key = KEY_NONE;
	}
	return key;
}

/* ---- completing ---- */

static void list(struct edit *e, size_t n)
{
	struct why ignored;
	const char *s;

	leave(e);
	for (size_t i = 0; i < LISTED && (s = e->complete(e->typed.text.p, n, i)); i++) {
		io_write(e->view.fd, i ? "  " : "", i ? 2 : 0, &ignored);
		io_write(e->view.fd, s, strlen(s), &ignored);
	}
	io_write(e->view.fd, "\r\n", 2, &ignored);
	view_forget(&e->view);
}

/* Completes as far as all completions agree. If that adds nothing, lists them. */
static void complete(struct edit *e)
{
	struct typed *t = &e->typed;
	const char *s, *first;
	size_t n = t->text.n, same, others = 0;
	char text[256];

	if (!e->complete || t->at != n || !n || !(first = e->complete(t->text.p, n, 0)) || strlen(first) >= sizeof text)
		return;
	strcpy(text, first);
	same = strlen(text);
	for (; (s = e->complete(t->text.p, n, others + 1)); others++)
		while (strncmp(s, text, same))
			same--;
	if (same > n || !others)
		typed_set(t, text, same);
	if (!others)
		typed_insert(t, " ", t->at && t->text.p[t->at - 1] != ' ');
	else if (same <= n)
		list(e, n);
}

/* ---- keys ---- */

/* Whether Enter ends the text; otherwise it starts another line. */
static int submit(struct edit *e)
{
	const size_t quotes = sizeof QUOTES - 1;
	struct typed *t = &e->typed;
	const struct bytes *b = &t->text;

	if (b->n && t->at == b->n && b->p[b->n - 1] == '\\') {
		typed_replace(t, b->n - 1, b->n, "\n", 1);
		return 0;
	}
	if (b->n < quotes || memcmp(b->p, QUOTES, quotes)
	    || (b->n >= 2 * quotes && !memcmp(b->p + b->n - quotes, QUOTES, quotes)))
		return 1;
	typed_insert(t, "\n", 1);
	return 0;
}

static int is_kill(enum key key)
{
	return key >= KEY_KILL_END && key <= KEY_KILL_WORD_BACK;
}

static void kill_by(struct edit *e, enum key key)
{
	struct typed *t = &e->typed;
	size_t at = t->at, end = typed_line_end(t, at), from = at, to = at;

	switch (key) {
	case KEY_KILL_END: to = end == at && at < t->text.n ? at + 1 : end; break;
	case KEY_KILL_LINE: from = typed_line_start(t, at); break;
	case KEY_KILL_SPACE: from = typed_space_left(t, at); break;
	case KEY_KILL_WORD: to = typed_word_right(t, at); break;
	default: from = typed_word_left(t, at);
	}
	typed_kill(t, from, to, is_kill(e->last));
}

static void clear_screen(struct edit *e)
{
	struct why ignored;

	io_write(e->view.fd, "\033[H\033[2J", 7, &ignored);
	view_forget(&e->view);
}

static void change(struct edit *e, enum key key)
{
	struct typed *t = &e->typed;
	size_t at = t->at;

	switch (key) {
	case KEY_TEXT: typed_insert(t, e->keyboard.text, e->keyboard.n); break;
	case KEY_NEWLINE: typed_insert(t, "\n", 1); break;
	case KEY_TAB: complete(e); break;
	case KEY_BACKSPACE: typed_replace(t, typed_left(t, at), at, "", 0); break;
	case KEY_DELETE:
	case KEY_END_OR_DELETE:
		typed_replace(t, at, typed_right(t, at), "", 0);
		break;
	case KEY_LEFT: t->at = typed_left(t, at); break;
	case KEY_RIGHT: t->at = typed_right(t, at); break;
	case KEY_HOME: t->at = typed_line_start(t, at); break;
	case KEY_END: t->at = typed_line_end(t, at); break;
	case KEY_WORD_LEFT: t->at = typed_word_left(t, at); break;
	case KEY_WORD_RIGHT: t->at = typed_word_right(t, at); break;
	case KEY_UP: up(e, 1); break;
	case KEY_DOWN: down(e, 1); break;
	case KEY_OLDER: up(e, 0); break;
	case KEY_NEWER: down(e, 0); break;
	case KEY_YANK: typed_insert(t, t->killed.p, t->killed.n); break;
	case KEY_TRANSPOSE: typed_transpose(t); break;
	case KEY_CLEAR: clear_screen(e); break;
	case KEY_SUSPEND: leave(e); tty_suspend(); break;
	default:
		if (is_kill(key))
			kill_by(e, key);
	}
}

/* Handles a key. Returns 1 if it ends the line; *end says how. */
static int act(struct edit *e, enum key key, enum edit_end *end)
{
	*end = key == KEY_INTERRUPT ? EDIT_INTERRUPT : key == KEY_ENTER ? EDIT_LINE : EDIT_EOF;
	if (key == KEY_INTERRUPT || key == KEY_HANGUP || (key == KEY_ENTER && submit(e))
	    || (key == KEY_END_OR_DELETE && !e->typed.text.n))
		return 1;
	change(e, key);
	if (key != KEY_REDRAW)
		e->last = key;
	return 0;
}

enum edit_end edit_line(struct edit *e, const char *prompt)
{
	enum edit_end end;
	enum key key = KEY_NONE;

	e->draft.limit = e->wanted.limit = e->typed.text.limit;
	e->typed.text.n = e->typed.at = 0;
	bytes_reserve(&e->typed.text, 1);
	e->recalled = e->recall.n;
	e->last = KEY_NONE;
	e->prompt = prompt;
	tty_set(TTY_KEYS);
	view_forget(&e->view);
	do {
		draw(e, prompt);
		key = next_key(e);
		if (key == KEY_SEARCH || key == KEY_SEARCH_FORWARD)
			key = search(e, key);
	} while (!act(e, key, &end));
	leave(e);
	tty_set(TTY_QUIET);
	return end;
}

void edit_close(struct edit *e)
{
	view_close(&e->view);
	typed_free(&e->typed);
	bytes_free(&e->draft);
	bytes_free(&e->wanted);
}
