/* engine: a model ready to run: threads, plan and state, opened according to fwd's options. */
#ifndef ENGINE_H
#define ENGINE_H

#include "fwd/model/model.h"
#include "fwd/plan/plan.h"
#include "fwd/run/pool.h"
#include "fwd/state/digest.h"
#include "fwd/state/segment.h"

struct engine_setup {
	const struct kernels *kernels;
	size_t threads, batch;
	const char *kv;                 /* name of the segment; NULL: none */
	size_t n_ctx;                   /* 0: the segment's, or the training context but at most 4096, or 8192 for
					 * embeddings */
	int trained_ctx;                /* in place of n_ctx: the training context */
	int kv_type;                    /* enum kv_type; -1: f32 for float models and embeddings, otherwise f16 */
	size_t first, end;              /* layers [first, end); end 0: up to the last */
	int embeds;                     /* embeddings instead of logits */
	int pooling;                    /* enum pooling; -1: as the model's file says */
	int lens;                       /* prepare for plan_lens() */
};

struct engine {
	struct model *model;            /* borrowed */
	struct pool *pool;
	struct plan *plan;
	struct weights weights;         /* the weights that the segment must belong to */
	struct segment segment;
	uint64_t choices;               /* of its shape, without adapters */
};

/* Whether the model's file says that it is for embeddings. */
int engine_embeds(struct model *m);

/* Returns 0, or -1 with a one-line reason and nothing left open. */
int engine_open(struct engine *e, struct model *m, const struct engine_setup *s, struct why *w);
void engine_close(struct engine *e);

#endif
