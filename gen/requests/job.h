/* job: a request of gen --requests: what its line asks for, and how far its answer is. */
#ifndef JOB_H
#define JOB_H

#include <stdint.h>

#include "lib/base/json.h"
#include "lib/stream/ids.h"
#include "lib/stream/stop.h"
#include "model.h"

struct defaults {               /* what requests get that do not say it; from the command line of gen */
	int64_t limit;          /* tokens, or LOOP_NO_LIMIT */
	int64_t seed;           /* -1: a random one for each */
	struct stop *stop;      /* stop strings; borrowed */
	int special;            /* control tokens are text */
};

enum { JOB_CHOICES_MAX = 8192 };        /* of all its prompts */

enum job_kind {
	JOB_INVALID,            /* nothing that is known */
	JOB_TEXT, JOB_CHAT,     /* a generation from prompts, or from messages */
	JOB_TOKENIZE, JOB_DETOKENIZE, JOB_TEMPLATE, JOB_MODEL, JOB_CANCEL
};

struct prompt {                 /* starts as zeros */
	const char *text;       /* [n] as given; NULL: it was given as ids; borrowed from the line */
	size_t n;
	struct ids ids;
	size_t cached;          /* ids that needed no evaluation */
};

struct job {
	/* the line */
	struct arena arena;
	const struct json *line, *body;         /* body: where the options are */
	const struct json *id;  /* or NULL; of OpenAI's batch form: custom_id */
	struct bytes key;       /* the id as JSON text; n 0: none */
	enum job_kind kind;
	int batch;              /* OpenAI's batch form */
	size_t number;          /* of the line */
	const char *param;      /* after a failure: the member at fault */

	/* its options */
	int stream;
	int echo, tokens;       /* tokens: the ids are answered, too */
	int64_t limit, seed;
	int n;                  /* choices for each prompt, */
	int n_answered;         /* of which so many are answered; the others only compete, with best_of */
	int logprobs;           /* the number of most likely tokens, or -1 */
	struct bytes opts;      /* for the stages, but for the seed */
	struct stop *stop;

	/* its prompts */
	struct prompt *prompt;  /* [n_prompts]; messages make one */
	size_t n_prompts;
	struct chat chat;       /* of messages, and */
	struct learned *learned;        /* what is known of its template, */
	struct lessons *lessons;        /* kept here; borrowed */
	struct bytes begun;     /* the beginning of the answer, which the prompt ends with */

	/* the named segment that the prompt continues (kept.h) */
	const char *kv;         /* its name, borrowed from the line; NULL: none */
	int appends;            /* the prompt is appended to its text */
	size_t had;             /* how many ids of the prompt it holds */
	int replaces;           /* it holds other ids after them, which the prompt replaces */
	const struct job *after;        /* an earlier job with the same segment that must be done first; or NULL */

	/* its answer */
	struct choice *choice;  /* [n_choices] */
	size_t n_choices, n_started, n_over;
	uint64_t waits_since;   /* when the line came, or when a choice last ended; by the clock of struct jobs */
	int failed;             /* it is answered by an error */
	double began;           /* by clock_now(), when its first sequence started; 0: not yet */
	struct bytes out;       /* lines that wait until earlier jobs are answered, */
	size_t newest;          /* and where the last of them begins */
	int done;
	struct job *next;
};

/* Whether it continues prompts, not messages. */
static inline int job_is_text(const struct job *j)
{
	return j->kind != JOB_CHAT;
}

/* Reads a line. *failed: the line asks for nothing that can be done, for the reason in *w; the job is still valid, so
 * that it can be answered with an error, and must be freed. NULL: out of memory. */
struct job *job_read(const char *line, size_t n, size_t number, int *failed, struct why *w);
void job_free(struct job *j);

/* Sets its options and prompts. Returns 0, or -1 with a reason. */
int job_prepare(struct job *j, const struct model *m, const struct defaults *d, struct why *w);

#endif
