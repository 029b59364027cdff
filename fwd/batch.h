/* batch: the rows that are evaluated together, of one text or several, from the frames that wait for an answer. Rows
 * that answer a sampler come first, then those of prompts, each in order of arrival.
 *
 *	batch_add(&b, t);                       // as often as wanted: frames that wait
 *	status = batch_run(&b, &answered, &w);
 *	for (t = answered; t; t = next) ...     // what was answered is the caller's again
 */
#ifndef BATCH_H
#define BATCH_H

#include <stddef.h>

#include "lib/base/why.h"
#include "fwd/measure/report.h"
#include "fwd/plan/plan.h"
#include "answers.h"
#include "hidden.h"
#include "batch_rows.h"
#include "texts.h"

struct batch {
	/* set by the caller, and borrowed: */
	struct plan *plan;
	struct texts *texts;
	struct report *report;
	size_t most;                    /* rows of whole texts in a batch, unless one text has more */
	int progress;                   /* descriptor of the file for progress on long frames; or -1 */
	struct answers answers;         /* the fields that its caller sets */

	struct hidden hidden;
	struct text *queue, *tail;      /* texts with a frame that waits, and the last of them */
	size_t queued;
	double patience;                /* seconds to wait for more texts after the first */
	double until;                   /* when that wait ends, by clock_now() */

	struct batch_rows rows;         /* of the current batch; room for setup.batch of each */
};

/* Returns 0, or -1 if memory is short. Call batch_close() in either case. */
int batch_open(struct batch *b, struct why *w);
void batch_close(struct batch *b);

/* For a signal handler: cancels the evaluation of given ids; an `end ` frame follows instead of logits. Complete
 * batches remain valid. Ignored for sampled ids, with --all and --score, in a stage that reads hidden
 * states, while a frame of logits is being written, and between frames. */
void batch_interrupt(int signal);

/* Appends a text, whose frame must have rows left, to the queue. */
void batch_add(struct batch *b, struct text *t);

/* The number of a text's tokens: of those that were evaluated or, for embeddings, collected. */
static inline size_t batch_length(const struct batch *b, const struct text *t)
{
	return b->answers.embeds ? t->end : t->state->length;
}

/* Whether the queue fills a batch. */
int batch_is_full(const struct batch *b);

/* Evaluates one batch of the queue, which must not be empty, and writes its answers (with --chain, none). Returns 0; 1
 * if it was interrupted, and `end ` frames were written instead; or -1 if a write failed. *answered: the texts that
 * left the queue, in its order. */
int batch_run(struct batch *b, struct text **answered, struct why *w);

#endif
