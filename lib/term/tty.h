/* tty: the modes of the terminal that a program is used on. However the program ends, or stops, the terminal is left as
 * it was found; tty_restore() may be called in signal handlers. There is one. */
#ifndef TTY_H
#define TTY_H

#include <stddef.h>

enum tty_mode {
	TTY_FOUND,              /* as it was before */
	TTY_KEYS,               /* each key is read at once, and pasted text is marked */
	TTY_QUIET               /* the same, but ^C and ^Z are signals, and text is not marked */
};

/* Whether fd is a terminal that can move its cursor. */
int tty_moves(int fd);

/* Prepares fd, a terminal, for changes of mode. -1: its modes cannot be read. */
int tty_open(int fd);

/* Changes the mode once pending output is written; tty_restore() sets TTY_FOUND at once. */
void tty_set(enum tty_mode mode);
void tty_restore(void);

/* Stops the program with its whole job, as ^Z does; returns when it is continued. */
void tty_suspend(void);

/* What has happened to the terminal since the last call. */
enum tty_event { TTY_NOTHING, TTY_RESIZED, TTY_STOPPED };
enum tty_event tty_event(void);

#endif
