/* engine: a model ready to run: its threads, its plan and its state, opened as fwd's options say. */
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
	size_t n_ctx;                   /* 0: the segment's; or what the model was trained for, 4096 at most */
	int kv_type;                    /* enum kv_type; -1: f32 for models of floats, f16 for quantised ones */
	size_t first, end;              /* layers [first, end); end 0: all from first on */
	int lens;                       /* plan_lens() is wanted */
};

struct engine {
	struct model *model;            /* borrowed */
	struct pool *pool;
	struct plan *plan;
	struct weights weights;         /* that the segment belongs to */
	struct segment segment;
};

/* 0, or -1 and one line why not, with nothing left open. */
int engine_open(struct engine *e, struct model *m, const struct engine_setup *s, struct why *w);
void engine_close(struct engine *e);

#endif
