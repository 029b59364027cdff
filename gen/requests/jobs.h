/* jobs: the requests that are not answered yet, in a list, the oldest first; and which of them is next. */
#ifndef JOBS_H
#define JOBS_H

#include "job.h"

struct jobs {                   /* starts as zeros */
	struct job *first, *last;
	size_t bytes;           /* of their lines */
	uint64_t ticks;         /* jobs added and choices that were over: a clock */
};

/* Adds a job, which the list owns then. One with a named segment waits for the last before it with the same. */
void jobs_add(struct jobs *all, struct job *j);

/* The job is done: those that wait for it may start or, if it was cancelled while it waited, wait for the same job.
 * jobs_remove() also frees it. */
void jobs_done(const struct job *j);
void jobs_remove(struct jobs *all, struct job *j);

/* The first that has this id, as in struct job, and is not done; or NULL. */
struct job *jobs_find(const struct jobs *all, const struct bytes *key);

/* A choice of the job is over, so that it waits from now on. */
void jobs_choice_over(struct jobs *all, struct job *j);

/* The job that starts a choice next: of those that may, one with the fewest choices running, and of these the one that
 * has waited longest. NULL: none has choices to start. */
struct job *jobs_next(const struct jobs *all);

#endif
