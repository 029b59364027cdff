/* messages: the messages of a conversation as JSON, one per line, as chat reads them, and the file of --history that
 * stores them. The file is authoritative: what it contains after messages_save() survives a power failure. A turn is a
 * user's message and those after it, up to the next user's; the messages before the first turn are the head. When the
 * context is full, the oldest turns are no longer laid out, but remain in the file. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

struct messages {               /* starts as zeros, except text.limit and file */
	struct bytes text;
	struct {
		size_t at;      /* offset of its line in text */
		int user;       /* begins a turn */
	} *list;                /* [n] */
	size_t n, room;
	size_t first;           /* number of the first message after the head that is laid out */
	const char *path;       /* borrowed */
	int file;               /* -1: none */
	int device;             /* the file is one: it keeps nothing that could be cut or replaced */
	int named;              /* its name is on disk, too */
	int keep;               /* it holds what text has no more: the next save keeps it beside the new one */
	size_t in_file, saved;  /* bytes of the file; how many of them are still equal to text */
};

/* Opens and reads the file; creates it if necessary, and locks it against other conversations. Returns 1 if the last
 * line is damaged: it is left out with its turn, and w has a warning for the user. Returns -1 with a reason on
 * failure. */
int messages_open(struct messages *m, const char *path, struct why *w);

/* Replaces all messages by those of another file, read as messages_open() does. On failure nothing changes. */
int messages_read(struct messages *m, const char *path, struct why *w);

/* Makes the list from m->text, whose lines come from `path`; *good: how many bytes of it are as they were read. Returns
 * 1 if the last line is damaged: it is left out with its turn. */
int messages_index(struct messages *m, const char *path, size_t *good, struct why *w);

/* Appends a message of text[n], which must be UTF-8. */
int messages_add(struct messages *m, const char *role, const char *text, size_t n, struct why *w);

/* Appends a message that is not a user's, as the line[n] of the file. */
int messages_add_line(struct messages *m, const char *line, size_t n, struct why *w);

/* Removes all but the first n messages. */
void messages_cut(struct messages *m, size_t n);

/* Removes all turns, for another conversation. */
void messages_clear(struct messages *m);

/* Replaces the head by a system message, or removes it if n is 0. */
int messages_set_system(struct messages *m, const char *text, size_t n, struct why *w);

/* Makes *m, which is empty, the messages of `from` that are laid out, with text[n] as the first turn's. Returns 0, or
 * -1 with a reason. */
int messages_replace_turn(struct messages *m, const struct messages *from, const char *text, size_t n, struct why *w);

/* messages_turn(): the number of the message that begins turn i, counted from 0, or m->n. messages_turns(): the number
 * of turns. */
size_t messages_turn(const struct messages *m, size_t i);
size_t messages_turns(const struct messages *m);

/* Appends the head and the messages from number `first` on to *out, or writes them. */
int messages_put(const struct messages *m, size_t first, struct bytes *out);
int messages_write(const struct messages *m, size_t first, int fd, struct why *w);

/* The line[*n] of message i. Borrowed until the messages change. */
const char *messages_line(const struct messages *m, size_t i, size_t *n);

/* Appends the text of message i to *out. Returns -1 if its content is not only text, or memory is short. */
int messages_content(const struct messages *m, size_t i, struct bytes *out);

/* Makes the file, if there is one, contain all messages, and waits until they are on disk. If the messages were
 * cleared or replaced, or its last line was damaged, the old file is kept beside it, as PATH~ or, if there is such a
 * file, PATH~2, PATH~3 and so on. Returns 1 if so, with a line for the user that names it; 0; or -1 with a reason. */
int messages_save(struct messages *m, struct why *w);

void messages_close(struct messages *m);

#endif
