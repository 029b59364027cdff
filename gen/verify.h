/* verify: draws the texts of records (record.h) again, one after the other, and compares. */
#ifndef VERIFY_H
#define VERIFY_H

#include "lib/base/bytes.h"
#include "lib/base/cli.h"
#include "gen/loop/replay.h"
#include "gen/loop/result.h"
#include "request.h"

/* Reads the records in the file q->verify, one on each line, and prints a line for each whose text differs. c: the
 * command line that q is from; argv0: as for arguments(). Returns an exit status as diff's: 0 all are the same, 1 some
 * differ, 2 trouble, whose reasons are on stderr. */
int verify(struct request *q, struct cli *c, const char *argv0);

/* For run(), which draws the text of q->record. verify_ids() reports a difference between the ids, and verify_text()
 * one in the end or in the text that detok printed: they print a line and set q->differs. */
void verify_ids(struct request *q, const struct replay *replay);
void verify_text(struct request *q, const struct result *r, const struct bytes *text);

#endif
