/* sample: logits to ids. Draws one id for each `logi` frame, from its last row, through lib/sampler's chain; whose ids
 * they are and which of them end a generation, the stream's card says. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "lib/base/guard.h"
#include "lib/sampler/opts.h"
#include "options.h"
#include "session.h"

static struct cli c = { .program = "sample", .synopsis = "[options] < logits > ids", .purpose = "logits to ids",
	.opts = options_table, .more = { sampler_opts } };
static struct why w;

static int must(int status)
{
	if (status == SESSION_USAGE)
		cli_usage(&c, "%s", w.text);
	if (status < 0)
		cli_die(&c, "%s", w.text);
	return status;
}

static _Noreturn void die_at(const struct session *s, const char *cause)
{
	cli_die(&c, "%s: frame %" PRIu64 ": %s", s->in.name, s->in.number, cause);
}

/* To the end of the input, or of a generation. */
static void draw_all(struct session *s)
{
	struct frame f;
	uint32_t seq = 0;
	int reason = 0, in_sequence = 0;

	while (must(frame_next(&s->in, &f, &w)) > 0) {
		if (f.kind != FRAME_CARD && !s->sampler)
			die_at(s, "no card before it: what ends a generation is not known");
		if (f.kind != FRAME_CARD && in_sequence && f.seq != seq)
			die_at(s, "another sequence: sample follows one");
		if (f.kind != FRAME_CARD) {
			in_sequence = 1;
			seq = f.seq;
		}
		if (f.kind == FRAME_CARD)
			must(session_card(s, &f, &w));
		else if (f.kind == FRAME_IDS)
			must(session_ids(s, &f, &w));
		else if (f.kind == FRAME_LOGITS && !s->idle)
			reason = must(session_draw(s, &f, &w));
		else if (f.kind == FRAME_END)
			must(frame_copy(&s->in, &f, 1, &w));
		if (!reason)
			continue;
		must(frame_write_end(1, (enum frame_reason)reason, s->next, seq, &w));
		if (!s->set.turns)
			return;
		reason = 0;
		s->idle = 1;
	}
}

int main(int argc, char **argv)
{
	static struct session s;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	sample_options(&c, &s.set);
	if (s.set.verbose)
		fprintf(stderr, "sample: seed %" PRIu64 "\n", s.set.chain.seed);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	guard_arm(c.program);
	must(session_open(&s, &w));
	if (!s.set.n)
		return cli_end(&c);
	frame_open_in(&s.in, 0, "stdin");
	draw_all(&s);
	session_close(&s);
	return cli_end(&c);
}
