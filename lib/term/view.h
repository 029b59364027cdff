/* view: draws text with a cursor on as many rows of a terminal as it takes; if it has more rows than the terminal,
 * those around the cursor. Uses only carriage return, line feed, and the VT sequences that move the cursor up and right
 * and erase to the end of the screen. */
#ifndef VIEW_H
#define VIEW_H

#include "lib/base/bytes.h"
#include "lib/base/why.h"

struct view {                   /* starts as zeroes and fd */
	int fd;
	int columns, rows;      /* private: of the terminal, when it was drawn; */
	size_t row, column;     /* of the cursor, below the first row that is shown */
	size_t top;             /* the first row that is shown */
	struct bytes out;
	size_t *start;          /* [n_rows] where each row begins in out; */
	int *width;             /* its columns */
	size_t n_rows, room, width_room;
};

/* Draws prompt and text[n] with the cursor before text[at], over what was drawn before. */
void view_draw(struct view *v, const char *prompt, const char *text, size_t n, size_t at);

/* Leaves the text on the screen and moves the cursor to the row below it, where the next text is drawn. */
void view_leave(struct view *v);

/* Forgets what was drawn: the screen was cleared, or others have written to it. */
void view_forget(struct view *v);

void view_close(struct view *v);

#endif
