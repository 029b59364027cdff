/* fwd_opts: the options for running a model, as rows of an option table. fwd obeys them; gen accepts them, too, and
 * passes them on. */
#ifndef FWD_OPTS_H
#define FWD_OPTS_H

#include "lib/base/cli.h"

/* options without a letter */
enum {
	OPT_BACKEND = CLI_SHARED + 96, OPT_KV, OPT_KV_TYPE, OPT_IGNORE_TENSORS, OPT_LORA, OPT_CONTROL,
	OPT_CONTROL_LAYERS
};

extern const struct opt fwd_opts[];

#endif
