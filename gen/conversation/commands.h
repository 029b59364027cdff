/* commands: the commands of a conversation on a terminal, lines that begin with a slash. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "conversation.h"

enum command_answer {
	COMMAND_FAILED = -1,    /* the conversation cannot continue; with a reason */
	COMMAND_NONE,           /* the line is a turn */
	COMMAND_DONE,
	COMMAND_TURN,           /* run conversation.again as the next turn */
	COMMAND_BYE
};

/* Runs the command in line[n], which is followed by a NUL. An invalid command prints its error and changes nothing. */
enum command_answer command(struct conversation *v, const char *line, size_t n, struct why *w);

/* For the line editor: the i-th command, or option of /set, that begins with text[n]; NULL after the last. */
const char *command_completions(const char *text, size_t n, size_t i);

#endif
