/* view: text with a cursor in it, over as many rows of a terminal as it takes; of a text that is higher than the
 * terminal, the rows around the cursor. Uses nothing but carriage return, line feed, and the VT sequences that move up
 * and right and erase to the end of the screen. */
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

/* Shows prompt and text[n] with the cursor before text[at], in place of what was shown before. */
void view_draw(struct view *v, const char *prompt, const char *text, size_t n, size_t at);

/* The cursor goes to the row below the text, which stays; what is drawn next begins there. */
void view_leave(struct view *v);

/* Nothing is shown any more: the screen was cleared, or others have written to it. */
void view_forget(struct view *v);

void view_close(struct view *v);

#endif
