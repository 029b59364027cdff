/* options: the command line of gen. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "lib/base/cli.h"
#include "request.h"

/* Four tables in the order of --help, which has the shared ones (chat_opts, fwd_opts, sampler_opts) between them. */
extern const struct opt prompt_opts[], model_opts[], pipeline_opts[], schema_opts[];
extern const struct cli_rule option_rules[];

/* Reads the command line into q; of the stages, only the commands of --stage. Usage errors end the program by
 * cli_usage(). */
void options(struct request *q, struct cli *c);

#endif
