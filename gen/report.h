/* report: what -v prints on stderr about a text. */
#ifndef REPORT_H
#define REPORT_H

#include "gen/loop/loop.h"
#include "request.h"

/* About one of l's results, which has ids. On the terminal of a conversation only one line, the speed. */
void report(const struct request *q, const struct loop *l, const struct result *r);
void report_speed(const struct request *q, const struct result *r);

#endif
