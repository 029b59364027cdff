/* progress_line: one line on standard error that says how far the work is. The next such line replaces it, so it is cut
 * to the width of the terminal: of a line that wraps, only the last row could be replaced. */
#ifndef PROGRESS_LINE_H
#define PROGRESS_LINE_H

/* Shows the line, of ASCII. Standard error is a terminal. */
void progress_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Clears it, if one is shown. */
void progress_line_clear(void);

#endif
