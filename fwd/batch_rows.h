/* batch_rows: the rows of a batch, of one text or several: those of a text are one run (plan.h). */
#ifndef BATCH_ROWS_H
#define BATCH_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct run;
struct text;

struct batch_rows {
	int32_t *ids;                   /* [n] */
	struct run *run;                /* [n_runs], of the texts */
	struct text **text;             /* [n_runs] */
	int32_t *following;             /* [n_wanted]: the id that the logits of each wanted row predict; set for scores
					 * only */
	size_t n, n_runs, n_wanted;
};

#endif
