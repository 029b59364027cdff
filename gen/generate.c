#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/out.h"
#include "lib/base/slurp.h"
#include "gen/conversation/convert.h"
#include "gen/conversation/list.h"
#include "json_line.h"
#include "pipeline.h"
#include "report.h"
#include "verify.h"

enum { TEXT_MAX = 1 << 30 };

static int open_capture(struct request *q, struct capture *capture, struct why *w)
{
	if (q->json && !q->listed && (capture->text = stage_file(w)) < 0)
		return -1;
	if ((!q->best_of && !q->stop) || q->listed || q->shaded || q->stage[DETOK].shell)
		return 0;
	return (capture->ends = stage_file(w)) < 0
		|| stage_arg_path(&q->stage[DETOK], "--end", capture->ends, capture->path, w) ? -1 : 0;
}

/* Prints the prompt, as the stage that prints it for tok does. */
static int echo(const struct request *q, struct why *w)
{
	struct bytes text = { .limit = TEXT_MAX };
	int failed;

	if (q->file)
		failed = slurp(q->file, &text, w);
	else
		failed = bytes_put(&text, q->prompt, q->prompt_n) && why(w, "out of memory");
	if (!failed) {
		out_shown(text.p, text.n);
		out_shown_end();
		failed = out_flush(w);
	}
	bytes_free(&text);
	return failed ? -1 : 0;
}

int generate(struct request *q, struct loop *l, struct capture *capture, struct why *w)
{
	static struct ids kept;
	int text = -1, lists = q->answer && q->rendered && !q->json;

	if (q->kv)
		convert_kept(&q->stage[KV], NULL, &kept);
	/* where nothing is kept, the prompt begins a text */
	if (q->append && !kept.n)
		stage_drop_option(&q->stage[TOK], "--append", 0);
	if (!q->append)
		l->kept = kept;
	l->kv = q->kv;
	if ((q->echo && echo(q, w)) || open_capture(q, capture, w)
	    || (capture->text && (text = stage_dup(capture->text, w)) < 0)
	    || (lists && (text = list_start(q, l, w)) < 0) || pipeline_start(q, l, text, w))
		return -1;
	if (loop_run(l, w) || (lists && list_finish(l, w)))
		return -1;
	/* tok itself writes nothing for an empty prompt without BOS; a command in its place has ended too early */
	if (l->n && q->stage[TOK].shell && l->whole && !l->in.number) {
		stages_find_early(q->stage, KV, TOK, FEED);
		return why(w, "tok ended before the prompt was complete");
	}
	/* --lines keeps no results; there, an empty prompt has an empty answer */
	if (l->r && l->n && l->whole && !l->gone && !l->r->prompt.n)
		return why(w, "the prompt is empty, and has no BOS (--bos adds it)");
	return 0;
}

/* The result of the text that was printed; with --best-of, one of several. */
static struct result *printed(struct request *q, const struct capture *capture, struct result *all, struct why *w)
{
	static struct frame_in in;
	struct result *r = all;
	struct frame f;

	if (!capture->ends)
		return all;
	if (stage_rewind(capture->ends, w))
		return NULL;
	frame_open_in(&in, capture->ends, "detok --end");
	if (frame_next(&in, &f, w) <= 0)
		return all;
	if (f.seq && f.seq < (uint32_t)q->texts) {
		r += f.seq;
		q->seed += f.seq;
		if (ids_append(&r->prompt, all->prompt.id, all->prompt.n, w))
			return NULL;
	}
	/* it may not have reached the loop */
	if (f.flags == FRAME_END_STOP)
		r->reason = FRAME_END_STOP;
	return r;
}

const struct result *generate_report(struct request *q, const struct loop *l, const struct capture *capture,
	struct result *all, int whole, struct why *w)
{
	const struct result *r = printed(q, capture, all, w);
	struct bytes text = { .limit = TEXT_MAX };
	int failed = 0;

	if (r && q->verbose && r->ids.n)
		report(q, l, r);
	if (r && capture->text && whole)
		failed = stage_rewind(capture->text, w) || slurp_fd(capture->text, "temporary file", &text, w);
	if (r && capture->text && whole && !failed && q->record)
		verify_text(q, r, &text);
	else if (r && capture->text && whole && !failed)
		failed = json_line(q, &l->card, r, &text, w);
	bytes_free(&text);
	return failed ? NULL : r;
}
