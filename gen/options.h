/* options: the command line of gen. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "lib/base/cli.h"
#include "request.h"

/* Reads the command line into q; of the stages, only the commands of --stage. Usage errors end the program by
 * cli_usage(). */
void options(struct request *q, struct cli *c);

/* The same for q->record, whose fields besides options are in q already. The options of the user's, which are about
 * where it runs, are taken, too. */
void options_record(struct request *q, const struct request *user, struct cli *c);

/* The same for ask. Reads the document. A model without a chat template makes it a request for plain text, and a line
 * says so. */
void options_ask(struct request *q, struct cli *c);

#endif
