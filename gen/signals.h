/* signals: gen ends its stages, and restores the terminal, before a signal ends it. In a conversation, ^C ends only the
 * answer. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "request.h"

/* Call once, before the first stage starts; q must stay valid. */
void signals_take(struct request *q);

#endif
