/* A line editor: what keys do to a text. */
#include "edit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/size.h"
#include "tty.h"
#include "width.h"

enum { ESCAPE_WAIT = 50, SIGNAL_WAIT = 500, LISTED = 64 };     /* milliseconds; completions that are shown */
#define QUOTES "\"\"\""

static volatile sig_atomic_t interrupted;

void edit_interrupt(void)
{
	interrupted = 1;
}

/* ---- the text ---- */

static void replace(struct edit *e, size_t from, size_t to, const char *s, size_t n)
{
	struct bytes *b = &e->text;
	size_t tail = b->n - to;

	if (n > to - from && bytes_reserve(b, n - (to - from))) {
		b->failed = 0;
		return;
	}
	if (tail)
		memmove(b->p + from + n, b->p + to, tail);
	if (n)
		memcpy(b->p + from, s, n);
	b->n = from + n + tail;
	e->at = from + n;
}

static void set_text(struct edit *e, const char *s, size_t n)
{
	replace(e, 0, e->text.n, s, n);
}

static size_t left_of(const struct edit *e, size_t at)
{
	return at ? width_back(e->text.p, at) : 0;
}

static size_t right_of(const struct edit *e, size_t at)
{
	int columns;

	if (at == e->text.n)
		return at;
	return at + (e->text.p[at] == '\n' ? 1 : width_next(e->text.p + at, e->text.n - at, &columns));
}

static size_t line_start(const struct edit *e, size_t at)
{
	while (at && e->text.p[at - 1] != '\n')
		at--;
	return at;
}

static size_t line_end(const struct edit *e, size_t at)
{
	while (at < e->text.n && e->text.p[at] != '\n')
		at++;
	return at;
}

/* Letters, digits and everything past ASCII. */
static int in_word(const struct edit *e, size_t at)
{
	unsigned char c = (unsigned char)e->text.p[at];

	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static size_t word_right(const struct edit *e, size_t at)
{
	while (at < e->text.n && !in_word(e, at))
		at++;
	while (at < e->text.n && in_word(e, at))
		at++;
	return at;
}

static size_t word_left(const struct edit *e, size_t at)
{
	while (at && !in_word(e, at - 1))
		at--;
	while (at && in_word(e, at - 1))
		at--;
	return at;
}

static int is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static size_t space_left(const struct edit *e, size_t at)
{
	while (at && is_space(e->text.p[at - 1]))
		at--;
	while (at && !is_space(e->text.p[at - 1]))
		at--;
	return at;
}

/* ---- killing ---- */

static int is_kill(enum key key)
{
	return key >= KEY_KILL_END && key <= KEY_KILL_WORD_BACK;
}

/* Kills in a row are yanked together. */
static void kill_text(struct edit *e, size_t from, size_t to)
{
	struct bytes all = { .limit = e->killed.limit };
	int before = from < e->at;

	if (!is_kill(e->last))
		e->killed.n = 0;
	if (before)
		bytes_put(&all, e->text.p + from, to - from);
	bytes_put(&all, e->killed.p, e->killed.n);
	if (!before)
		bytes_put(&all, e->text.p + from, to - from);
	bytes_free(&e->killed);
	e->killed = all;
	replace(e, from, to, "", 0);
}

static void transpose(struct edit *e)
{
	size_t right = right_of(e, e->at), middle = right > e->at ? e->at : left_of(e, e->at);
	size_t left = left_of(e, middle);
	struct bytes swapped = { .limit = e->text.limit };

	if (left == middle || right == middle || e->text.p[left] == '\n' || e->text.p[middle] == '\n')
		return;
	if (!bytes_put(&swapped, e->text.p + middle, right - middle) &&
	    !bytes_put(&swapped, e->text.p + left, middle - left))
		replace(e, left, right, swapped.p, swapped.n);
	bytes_free(&swapped);
}

/* ---- earlier lines ---- */

static void recall(struct edit *e, size_t number)
{
	struct recall *r = &e->recall;

	if (e->recalled == r->n) {
		e->draft.n = 0;
		bytes_put(&e->draft, e->text.p, e->text.n);
	}
	e->recalled = number;
	if (number < r->n)
		set_text(e, r->line[number], strlen(r->line[number]));
	else
		set_text(e, e->draft.p, e->draft.n);
}

/* Up and down: to another line of the text at the same column, or to another text. */
static void up(struct edit *e, int by_line)
{
	size_t start = line_start(e, e->at), column = e->at - start, above;

	if (start && by_line) {
		above = line_start(e, start - 1);
		e->at = size_min(above + column, start - 1);
		while (e->at > above && ((unsigned char)e->text.p[e->at] & 0xc0) == 0x80)
			e->at--;
	} else if (e->recalled)
		recall(e, e->recalled - 1);
}

static void down(struct edit *e, int by_line)
{
	size_t column = e->at - line_start(e, e->at), end = line_end(e, e->at);

	if (end < e->text.n && by_line) {
		e->at = size_min(end + 1 + column, line_end(e, end + 1));
		while (e->at > end + 1 && e->at < e->text.n && ((unsigned char)e->text.p[e->at] & 0xc0) == 0x80)
			e->at--;
	} else if (e->recalled < e->recall.n)
		recall(e, e->recalled + 1);
}

/* ---- input ---- */

/* The next key. Waits for it, but not for the rest of an escape sequence that does not come. */
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
			key = keys_next(&e->keys, e->input, &e->used);
			continue;
		}
		if (e->undrawn)
			return KEY_REDRAW;
		/* A signal may come just before: it is seen a little later. */
		got = poll(&ready, 1, keys_pending(&e->keys) ? ESCAPE_WAIT : SIGNAL_WAIT);
		if (!got)
			key = keys_give_up(&e->keys);
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
	/* While keys are waiting nobody can see it. */
	e->undrawn = e->used < e->have;
	if (!e->undrawn)
		view_draw(&e->view, prompt, e->text.p, e->text.n, e->at);
}

/* Leaves the whole text on the screen, and the cursor below it. */
static void leave(struct edit *e)
{
	view_draw(&e->view, e->prompt, e->text.p, e->text.n, e->text.n);
	view_leave(&e->view);
}

/* ---- searching ---- */

/* The line that contains e->wanted, from number `from` on backward, or forward. *at: where in it. e->recall.n: none. */
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

/* One key of a search. KEY_NONE: it goes on; otherwise the key that ended it. */
static enum key search_key(struct edit *e, enum key key, int *failed)
{
	size_t from = e->recalled < e->recall.n ? e->recalled : e->recall.n - 1, at, found;
	struct bytes *b = &e->wanted;
	int forward = key == KEY_SEARCH_FORWARD;

	if (key == KEY_TEXT) {
		b->n--;
		bytes_put(b, e->keys.text, e->keys.n);
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
			e->at = at;
		}
	}
	return KEY_NONE;
}

/* Searches until a key means something else; returns it. */
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
	for (size_t i = 0; i < LISTED && (s = e->complete(e->text.p, n, i)); i++) {
		io_write(e->view.fd, i ? "  " : "", i ? 2 : 0, &ignored);
		io_write(e->view.fd, s, strlen(s), &ignored);
	}
	io_write(e->view.fd, "\r\n", 2, &ignored);
	view_forget(&e->view);
}

/* Up to where all completions agree; where that is nothing new, they are listed. */
static void complete(struct edit *e)
{
	const char *s, *first;
	size_t n = e->text.n, same, others = 0;
	char text[256];

	if (!e->complete || e->at != n || !n || !(first = e->complete(e->text.p, n, 0)) || strlen(first) >= sizeof text)
		return;
	strcpy(text, first);
	same = strlen(text);
	for (; (s = e->complete(e->text.p, n, others + 1)); others++)
		while (strncmp(s, text, same))
			same--;
	if (same > n || !others)
		set_text(e, text, same);
	if (!others)
		replace(e, e->at, e->at, " ", e->at && e->text.p[e->at - 1] != ' ');
	else if (same <= n)
		list(e, n);
}

/* ---- keys ---- */

static void insert(struct edit *e, const char *s, size_t n)
{
	replace(e, e->at, e->at, s, n);
}

/* Whether Enter ends the text; otherwise it has begun another line. */
static int submit(struct edit *e)
{
	const size_t quotes = sizeof QUOTES - 1;
	const struct bytes *b = &e->text;

	if (b->n && e->at == b->n && b->p[b->n - 1] == '\\') {
		replace(e, b->n - 1, b->n, "\n", 1);
		return 0;
	}
	if (b->n < quotes || memcmp(b->p, QUOTES, quotes) ||
	    (b->n >= 2 * quotes && !memcmp(b->p + b->n - quotes, QUOTES, quotes)))
		return 1;
	insert(e, "\n", 1);
	return 0;
}

static void kill_by(struct edit *e, enum key key)
{
	size_t at = e->at, end = line_end(e, at);

	switch (key) {
	case KEY_KILL_END: kill_text(e, at, end == at && at < e->text.n ? at + 1 : end); break;
	case KEY_KILL_LINE: kill_text(e, line_start(e, at), at); break;
	case KEY_KILL_SPACE: kill_text(e, space_left(e, at), at); break;
	case KEY_KILL_WORD: kill_text(e, at, word_right(e, at)); break;
	default: kill_text(e, word_left(e, at), at);
	}
}

static void clear_screen(struct edit *e)
{
	struct why ignored;

	io_write(e->view.fd, "\033[H\033[2J", 7, &ignored);
	view_forget(&e->view);
}

static void change(struct edit *e, enum key key)
{
	size_t at = e->at;

	switch (key) {
	case KEY_TEXT: insert(e, e->keys.text, e->keys.n); break;
	case KEY_NEWLINE: insert(e, "\n", 1); break;
	case KEY_TAB: complete(e); break;
	case KEY_BACKSPACE: replace(e, left_of(e, at), at, "", 0); break;
	case KEY_DELETE:
	case KEY_END_OR_DELETE:
		replace(e, at, right_of(e, at), "", 0);
		break;
	case KEY_LEFT: e->at = left_of(e, at); break;
	case KEY_RIGHT: e->at = right_of(e, at); break;
	case KEY_HOME: e->at = line_start(e, at); break;
	case KEY_END: e->at = line_end(e, at); break;
	case KEY_WORD_LEFT: e->at = word_left(e, at); break;
	case KEY_WORD_RIGHT: e->at = word_right(e, at); break;
	case KEY_UP: up(e, 1); break;
	case KEY_DOWN: down(e, 1); break;
	case KEY_OLDER: up(e, 0); break;
	case KEY_NEWER: down(e, 0); break;
	case KEY_YANK: insert(e, e->killed.p, e->killed.n); break;
	case KEY_TRANSPOSE: transpose(e); break;
	case KEY_CLEAR: clear_screen(e); break;
	case KEY_SUSPEND: leave(e); tty_suspend(); break;
	default:
		if (is_kill(key))
			kill_by(e, key);
	}
}

/* 1: the key ends the line, as *end says. */
static int act(struct edit *e, enum key key, enum edit_end *end)
{
	*end = key == KEY_INTERRUPT ? EDIT_INTERRUPT : key == KEY_ENTER ? EDIT_LINE : EDIT_EOF;
	if (key == KEY_INTERRUPT || key == KEY_HANGUP || (key == KEY_ENTER && submit(e)) ||
	    (key == KEY_END_OR_DELETE && !e->text.n))
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

	e->killed.limit = e->draft.limit = e->wanted.limit = e->text.limit;
	e->text.n = e->at = 0;
	bytes_reserve(&e->text, 1);
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
	bytes_free(&e->text);
	bytes_free(&e->killed);
	bytes_free(&e->draft);
	bytes_free(&e->wanted);
}
