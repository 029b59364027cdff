/* wrap: text on a terminal, in lines that end between words. Characters are shown as they come; a word that does not
 * fit is taken back and begins the next line. What is copied from the screen stays whole: the terminal itself breaks
 * lines between ```, those of tables, and words that are longer than a line. */
#ifndef WRAP_H
#define WRAP_H

#include <stddef.h>

#include "lib/base/visible.h"

enum { WRAP_WORD = 256 };       /* of a longer word, only the end moves to the next line */

struct wrap {                   /* starts as zeros: nothing is broken */
	int fd;                 /* the terminal */
	int columns;            /* of a line; 0: it stays whole */
	int on, fenced;         /* fenced: between ``` */
	int at;                 /* the column of the cursor */
	size_t begun, ticks;    /* characters of this line, and the backquotes that it begins with */
	char word[WRAP_WORD];   /* [n]: what the line ends with since it could last be broken */
	size_t n;
	int width;              /* of the word, in columns */
};

/* A text begins, at the start of a line of this terminal. If its cursor cannot move, lines are not broken. */
void wrap_begin(struct wrap *w, int fd);

/* Shows a whole character, s[n], which is no control character but a newline or a tab. */
void wrap_put(struct wrap *w, const char *s, size_t n, visible_sink *put, void *context);

/* The cursor is at the start of a line, which somebody else has begun. */
void wrap_line(struct wrap *w);

#endif
