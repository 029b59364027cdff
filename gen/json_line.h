/* json_line: what --json prints on stdout about a text. */
#ifndef JSON_LINE_H
#define JSON_LINE_H

#include "lib/base/bytes.h"
#include "lib/stream/card.h"
#include "gen/loop/result.h"
#include "request.h"

/* Prints the line. card: that of fwd; text: what detok printed. Returns 0, or -1 with a reason if it cannot be
 * written. */
int json_line(const struct request *q, const struct card *card, const struct result *r, const struct bytes *text,
	struct why *w);

#endif
