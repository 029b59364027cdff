/* mistakes: operands that are probably meant otherwise. The functions end the program by cli_usage() if so. */
#ifndef MISTAKES_H
#define MISTAKES_H

#include "lib/base/cli.h"

/* A word that is a model file. */
void mistakes_model(const struct cli *c, const char *word);

/* A first operand that is a command of other programs, or a model among the operands. */
void mistakes_command(const struct cli *c);

/* For ask: run MODEL QUESTION, as of ollama. The model's name has no blanks, but a digit, a dot or a colon. */
void mistakes_run(const struct cli *c);

/* Operands of ask are words of the question; one that is a file is probably meant as the document, and so is a lone one
 * that looks like the name of a file. */
void mistakes_files(const struct cli *c);

#endif
