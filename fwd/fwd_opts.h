/* fwd_opts: what fwd can be asked for about how it runs, as rows of a table of options. fwd obeys them; gen takes them too and passes them on. */
#ifndef FWD_OPTS_H
#define FWD_OPTS_H

#include "lib/base/cli.h"

enum { OPT_BACKEND = CLI_SHARED + 96, OPT_KV, OPT_KV_TYPE };    /* in the place of a letter */

extern const struct opt fwd_opts[];

#endif
