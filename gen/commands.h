/* commands: the commands of a conversation on a terminal, lines that begin with a slash. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "conversation.h"

enum command_answer {
	COMMAND_FAILED = -1,    /* the conversation cannot go on; with a reason */
	COMMAND_NONE,           /* the line is a turn */
	COMMAND_DONE,
	COMMAND_TURN,           /* the next turn is conversation.again */
	COMMAND_BYE
};

/* Runs a line. line[n] is followed by a NUL. An invalid command prints its error and changes nothing. */
enum command_answer command(struct conversation *v, const char *line, size_t n, struct why *w);

/* For the line editor: number i of the commands, or of the options of /set, that begin with text[n]; NULL: no more. */
const char *command_completions(const char *text, size_t n, size_t i);

#endif
