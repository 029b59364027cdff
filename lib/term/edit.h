/* edit: a line editor. Keys as in Emacs and readline: arrows, Home, End, ctrl-A E B F, words with alt-B and alt-F or
 * ctrl and an arrow; ctrl-K U W, alt-D and alt-Backspace kill, ctrl-Y yanks; ctrl-T transposes, ctrl-L clears the
 * screen; the arrows up and down and ctrl-P N recall lines, ctrl-R and ctrl-S search them; Tab completes; ctrl-Z stops
 * the program. A line may have several: a paste, Alt-Enter, a backslash before Enter, or a text that begins with """
 * and is not closed yet. The text is UTF-8. */
#ifndef EDIT_H
#define EDIT_H

#include "keyboard.h"
#include "recall.h"
#include "typed.h"
#include "view.h"

/* The i-th text that begins with text[n], or NULL. Borrowed until the next call. */
typedef const char *edit_completions(const char *text, size_t n, size_t i);

enum edit_end { EDIT_LINE, EDIT_INTERRUPT, EDIT_EOF };

struct edit {                   /* starts as zeros, except */
	int in;                 /* the terminal's descriptors, */
	struct view view;
	struct typed typed;     /* and text.limit: the line being edited, then the one that was read */
	edit_completions *complete;     /* or NULL */
	struct recall recall;   /* the caller opens and closes it, and adds lines to it */
	/* private */
	struct bytes draft, wanted;     /* the line being typed before others were recalled; the text searched for */
	size_t recalled;        /* number of the recalled line on the screen; recall.n: none */
	enum key last;
	struct keyboard keyboard;
	unsigned char input[4096];      /* [have], of which `used` were taken */
	size_t used, have;
	const char *prompt;     /* of the line that is edited; borrowed */
	int undrawn;            /* keys have changed the text since it was drawn */
};

/* Reads a line into e->typed.text, without a newline at its end. EDIT_INTERRUPT: ^C was pressed, and the text is what
 * was typed until then. Afterwards the terminal is in mode TTY_QUIET. */
enum edit_end edit_line(struct edit *e, const char *prompt);

/* In a signal handler: edit_line() returns EDIT_INTERRUPT. */
void edit_interrupt(void);

void edit_close(struct edit *e);

#endif
