/* sample: logits to ids. Draws one id for each `logi` frame, from its last row, with the chain of lib/sampler, for any
 * number of sequences. The stream's card says which vocabulary the ids belong to, and which of them end a
 * generation. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "lib/base/guard.h"
#include "lib/sampler/opts.h"
#include "options.h"
#include "output.h"
#include "session.h"

static struct cli c = { .program = "sample", .synopsis = "[options] < logits > ids", .purpose = "logits to ids",
	.opts = options_table, .more = { sampler_opts }, .rules = options_rules,
	.common = "n-predict seed model temp top-k top-p min-p repeat-penalty greedy gumbel grammar grammar-file "
		"logit-bias logprobs trace",
	.examples = "  echo hi | tok m.gguf | fwd m.gguf | sample --greedy | detok m.gguf\n"
		"  ... | feed f | fwd m.gguf | sample -n 40 --temp 0.6 | tee f | detok m.gguf\n"
		"  ... | sample -m m.gguf --grammar 'root ::= \" yes\" | \" no\"' | ...\n" };
static struct why w;

/* For what depends on options. */
static void must_accept(int status)
{
	if (status == SESSION_USAGE)
		cli_usage(&c, "%s", w.text);
	cli_must(&c, status, &w);
}

/* Draws until the input, or every generation, has ended. */
static void draw_all(struct session *s)
{
	int more = 1, status = 0;
	struct why unwritten;
	struct frame f;

	while (status >= 0 && !session_is_over(s)) {
		cli_must(&c, output_before_read(s, &w), &w);
		if ((more = frame_next(&s->in, &f, &w)) <= 0)
			break;
		if ((status = session_frame(s, &f, &w)) == SESSION_FAILED) {
			cli_warn(&c, "%s", w.text);
			status = 0;
		}
	}
	/* what was drawn before a failure is valid */
	cli_must(&c, output_flush(s, &unwritten), &unwritten);
	must_accept(status);
	cli_must(&c, more < 0, &w);
	cli_must(&c, session_check_answered(s, &w), &w);
}

/* Reads the card of a stream that this process joins in the middle. */
static void take_card(struct session *s, const char *path)
{
	struct frame f;
	int more, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		cli_die(&c, "%s: %s", path, strerror(errno));
	frame_open_in(&s->in, fd, path);
	more = frame_next(&s->in, &f, &w);
	cli_must(&c, more < 0, &w);
	if (!more || f.kind != FRAME_CARD)
		cli_die(&c, "%s: does not begin with a card", path);
	must_accept(session_frame(s, &f, &w));
	close(fd);
}

int main(int argc, char **argv)
{
	static struct session s;

	cli_start(&c, argc, argv);
	s.cli = &c;
	sample_options(&c, &s.line.set);
	if (s.line.set.verbose)
		fprintf(stderr, "sample: seed %" PRIu64 "\n", s.line.set.chain.seed);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	guard_arm(c.program);
	must_accept(session_open(&s, &w));
	if (!s.line.set.n && !s.line.set.turns)
		return cli_end(&c);
	if (s.line.set.card)
		take_card(&s, s.line.set.card);
	frame_open_in(&s.in, 0, "standard input");
	draw_all(&s);
	session_close(&s);
	if (s.cut && !s.failed)
		cli_cut(&c, "-n/--n-predict or a full context stopped the text before its grammar was complete");
	if (s.failed)
		cli_failed(&c, "%" PRIu64 " sequence%s failed", s.failed, s.failed == 1 ? "" : "s");
	return cli_end(&c);
}
