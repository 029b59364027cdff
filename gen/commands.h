/* commands: what a line that begins with a slash does to a conversation on a terminal. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "conversation.h"

enum command_answer {
	COMMAND_FAILED = -1,    /* the conversation cannot go on; with a reason */
	COMMAND_NONE,           /* the line is a turn */
	COMMAND_DONE,
	COMMAND_TURN,           /* conversation.again is a turn */
	COMMAND_BYE
};

/* line[n] ends in a NUL. What is wrong with a command is said at once, and changes nothing. */
enum command_answer command(struct conversation *v, const char *line, size_t n, struct why *w);

/* For the line editor: commands and the options of /set that begin with text[n]. */
const char *command_completions(const char *text, size_t n, size_t i);

#endif
