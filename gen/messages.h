/* messages: the messages of a conversation as JSON, one per line, as chat reads them; and the file of --history that
 * keeps them. The file is authoritative: what it holds after messages_save() survives a power cut. A turn is a user's
 * message and those that follow it, up to the next user's; the messages before the first turn are the head. When the
 * context is full the oldest turns are not laid out any more, but stay in the file. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

struct messages {               /* starts as zeroes, but for text.limit and file */
	struct bytes text;
	struct message {
		size_t at;      /* where its line begins in text */
		int user;       /* it begins a turn */
	} *list;                /* [n] */
	size_t n, room;
	size_t first;           /* the first message that is laid out after the head */
	const char *path;       /* borrowed */
	int file;               /* -1: none */
	size_t in_file, saved;  /* bytes of the file, and how many of them are still as in text */
};

/* Opens and reads the file; creates it if need be, and locks it against other conversations. 1: the last line is
 * damaged and is left out with its turn; w has a warning for the user. -1 with a reason. */
int messages_open(struct messages *m, const char *path, struct why *w);

/* Replaces all messages by those of another file, as messages_open() reads them. If it fails nothing changes. */
int messages_read(struct messages *m, const char *path, struct why *w);

/* Appends one message of text[n], which is UTF-8. */
int messages_add(struct messages *m, const char *role, const char *text, size_t n, struct why *w);

/* Appends an answer whose reasoning is a separate member, as templates for gpt-oss expect it. */
int messages_add_thought(struct messages *m, const struct bytes *said, const struct bytes *thought, struct why *w);

/* Removes all but the first n messages. */
void messages_cut(struct messages *m, size_t n);

/* Replaces the head by a system message, or by nothing where n is 0. */
int messages_set_system(struct messages *m, const char *text, size_t n, struct why *w);

/* The number of the message that begins turn i, counted from 0, or m->n; and how many turns there are. */
size_t messages_turn(const struct messages *m, size_t i);
size_t messages_turns(const struct messages *m);

/* Writes the head and the messages from number `first` on. */
int messages_write(const struct messages *m, size_t first, int fd, struct why *w);

/* Appends the text of message i to *out; -1 where it is not text alone. */
int messages_content(const struct messages *m, size_t i, struct bytes *out);

/* Makes the file, if there is one, hold all messages, and waits until it is on the disk. A file that is to lose its
 * first messages is kept as PATH~. */
int messages_save(struct messages *m, struct why *w);

void messages_close(struct messages *m);

#endif
