/* report: what -v and --json say about a generation. */
#ifndef REPORT_H
#define REPORT_H

#include "lib/base/bytes.h"
#include "gen.h"
#include "result.h"

/* What -v prints, on stderr. */
void report(const struct request *q, const struct result *r);

/* What --json prints: one line on stdout. text: what detok has printed. */
void report_json(const struct request *q, const struct result *r, const struct bytes *text);

#endif
