/* sample: logits to ids. Draws one id for each `logi` frame, from its last row, through lib/sampler's chain; whose ids they are and which of them end
 * a generation, the stream's card says. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "lib/base/guard.h"
#include "lib/sampler/opts.h"
#include "options.h"
#include "stage.h"

static struct cli c = { .program = "sample", .synopsis = "[options] < logits > ids", .purpose = "logits to ids", .opts = options_table, .more = { sampler_opts } };
static struct why w;

static int must(int status)
{
	if (status == STAGE_USAGE)
		cli_usage(&c, "%s", w.text);
	if (status < 0)
		cli_die(&c, "%s", w.text);
	return status;
}

static _Noreturn void die_at(const struct stage *st, const char *cause)
{
	cli_die(&c, "%s: frame %" PRIu64 ": %s", st->in.name, st->in.number, cause);
}

/* To the end of the input, or of a generation. */
static void draw_all(struct stage *st)
{
	struct frame f;
	uint32_t seq = 0;
	int reason = 0, in_sequence = 0;

	while (must(frame_next(&st->in, &f, &w)) > 0) {
		if (f.kind != FRAME_CARD && !st->sampler)
			die_at(st, "no card before it: what ends a generation is not known");
		if (f.kind != FRAME_CARD && in_sequence && f.seq != seq)
			die_at(st, "another sequence: sample follows one");
		if (f.kind != FRAME_CARD) {
			in_sequence = 1;
			seq = f.seq;
		}
		if (f.kind == FRAME_CARD)
			must(stage_card(st, &f, &w));
		else if (f.kind == FRAME_IDS)
			must(stage_ids(st, &f, &w));
		else if (f.kind == FRAME_LOGITS && !st->idle)
			reason = must(stage_draw(st, &f, &w));
		else if (f.kind == FRAME_END)
			must(frame_copy(&st->in, &f, 1, &w));
		if (!reason)
			continue;
		must(frame_write_end(1, (enum frame_reason)reason, st->next, seq, &w));
		if (!st->set.turns)
			return;
		reason = 0;
		st->idle = 1;
	}
}

int main(int argc, char **argv)
{
	static struct stage st;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	options(&c, &st.set);
	if (st.set.verbose)
		fprintf(stderr, "sample: seed %" PRIu64 "\n", st.set.chain.seed);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	guard_arm(c.program);
	must(stage_open(&st, &w));
	if (!st.set.n)
		return cli_end(&c);
	frame_open_in(&st.in, 0, "stdin");
	draw_all(&st);
	stage_close(&st);
	return cli_end(&c);
}
