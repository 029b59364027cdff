/* options_parts: what the command lines of gen and of ask have in common. Errors end the program. */
#ifndef OPTIONS_PARTS_H
#define OPTIONS_PARTS_H

#include "lib/base/cli.h"
#include "request.h"

enum { OPTIONS_PROMPT_MAX = 64 << 20 }; /* bytes of a file that is a turn */

/* Takes all options into *q, which is set to its defaults before. */
void options_take(struct request *q, struct cli *c);

/* Reports a file that cannot be read: cat, which reads it, would do so in its own words. */
void options_check_file(const char *path, const struct cli *c);

/* Finds the model, by default the shipped one. A model that cannot be found is reported here, and not by whichever
 * stage is the first to need it. */
void options_model(struct request *q, const struct cli *c, const char *argv0, int is_chat);

/* Whether the model has a chat template: 1, 0, or -1 for a file that cannot be read, which the stages report. */
int options_has_template(const char *model);

/* Whether the model has no template of any kind, and no encoder. */
int options_only_continues(const char *model);

/* Whether an option names a template. */
int options_names_template(const struct request *q);

#endif
