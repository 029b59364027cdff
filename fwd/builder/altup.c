/* AltUp (alternating updates; Baykal et al. 2023): several residual streams, of which a layer reads and updates the
 * first. */
#include "build.h"

static struct op_altup streams(struct builder *b)
{
	return (struct op_altup){ .streams = b->model->n_streams, .n = b->model->n_embd, .x = b->plan->x,
		.predicted = b->plan->predicted, .modes = b->plan->modes, .branch = b->plan->branch,
		.scaled = buffer_with(b->plan->h, b->model->n_embd) };
}

/* Every stream of x but the first = its own matrix times a stream of `from`. The streams of `from` are `step` elements
 * apart; step 0: all read the same one. */
static void project(struct builder *b, const char *name, struct buffer x, struct buffer from, size_t step)
{
	struct op_head_rows o = { .in = from, .heads = b->model->n_streams - 1, .n = b->model->n_embd, .step = step };

	build_by_head(b, name, o, o.n, buffer_at(x, o.n), o.n);
}

/* The router's logits for the first stream, into modes. */
static void route(struct builder *b)
{
	const float *weight = build_vector(b, "altup_router_norm", "weight", b->model->n_embd);
	struct packed *x = build_scaled_norm(b, "altup_router_norm", weight, (float)b->model->n_embd);

	build_product(b, x, "altup_router", NARROW, b->model->n_streams, b->plan->modes);
}

static void open_streams(struct builder *b)
{
	struct op_altup o = streams(b);

	project(b, "altup_proj", o.x, o.x, 0);
	build_append(b, &op_level, NULL, &o, sizeof o);
}

void build_predict(struct builder *b)
{
	struct op_altup o = streams(b);

	route(b);
	o.matrix = build_table(b, "altup_predict_coef", "weight", o.streams * o.streams, o.streams);
	build_output(build_append(b, &op_predict, NULL, &o, sizeof o), 0, "", o.predicted, o.streams * o.n);
}

struct packed *build_correct(struct builder *b)
{
	struct op_altup o = streams(b);

	build_add_branch(b);
	route(b);
	o.matrix = build_table(b, "altup_correct_coef", "weight", o.streams, o.streams);
	o.weight = build_vector(b, "altup_correct_scale", "weight", o.n);
	build_output(build_append(b, &op_correct, NULL, &o, sizeof o), 0, "", o.x, o.streams * o.n);
	return build_pack(b, "correct_pack", o.scaled, o.n, SLOT_NORMED);
}

void build_spread(struct builder *b)
{
	struct op_altup o = streams(b);

	o.branch_norm = b->post;
	b->post = (struct norm){ .kind = NORM_NONE };
	b->pending = 0;
	build_append(b, &op_spread, NULL, &o, sizeof o);
}

static void unite(struct builder *b, struct buffer x)
{
	struct op_altup o = streams(b);

	o.x = x;
	project(b, "altup_unembd_proj", x, buffer_at(x, o.n), o.n);
	build_append(b, &op_unite, NULL, &o, sizeof o);
}

const struct stream_kind altup_streams = { .open = open_streams, .unite = unite };
