/* Opens the file as tok and fwd open it. A part that cannot be opened ends the check of what depends on it; tensors are
 * checked one by one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/out.h"
#include "lib/vocab/vocab.h"
#include "fwd/engine.h"

enum { REMEMBERED = 1024 };     /* the first faults, which may be found by both programs */

struct faults {
	struct check *check;
	uint64_t hash[REMEMBERED];
};

/* reason: without the path. */
static void report(void *context, const char *reason)
{
	struct faults *f = context;
	uint64_t hash = gguf_hash(reason, strlen(reason), 0);
	size_t n = f->check->n;

	for (size_t i = 0; i < n && i < REMEMBERED; i++)
		if (f->hash[i] == hash)
			return;
	if (n < REMEMBERED)
		f->hash[n] = hash;
	f->check->n++;
	out_print("%s: %.512s\n", f->check->path, reason);
}

/* With the path and ": ". */
static void report_why(struct faults *f, const struct why *w)
{
	size_t n = strlen(f->check->path);
	int has_path = !strncmp(w->text, f->check->path, n) && !strncmp(w->text + n, ": ", 2);

	report(f, has_path ? w->text + n + 2 : w->text);
}

static int check_tok(struct faults *f)
{
	struct why w;
	struct ids ids = { 0 };
	struct gguf *g = gguf_open(f->check->path, 0, &w);
	struct vocab *v = g ? vocab_open(g, VOCAB_ENCODE, &w) : NULL;
	int ok = v && vocab_encode(v, "some text", 9, 0, &ids, &w) == 0;

	if (!ok)
		report_why(f, &w);
	free(ids.id);
	vocab_close(v);
	gguf_close(g);
	return ok;
}

/* For a file that is no model: the types of its tensors, whatever they are for. */
static void check_types(struct faults *f)
{
	struct why w;
	struct gguf *g = gguf_open(f->check->path, 0, &w);

	for (uint64_t i = 0; g && i < g->n_tensors; i++)
		if (model_check_type(&g->tensors[i], &w) < 0)
			report(f, w.text);
	gguf_close(g);
}

/* fwd runs a file whose vocabulary is of no kind that is supported, but not one whose vocabulary is damaged. */
static int check_card(struct faults *f, const struct model *m)
{
	struct why w;
	struct vocab *v = vocab_supported(m->gguf) ? vocab_open(m->gguf, VOCAB_PIECES, &w) : NULL;
	int ok = v || !vocab_supported(m->gguf);

	if (!ok)
		report_why(f, &w);
	vocab_close(v);
	return ok;
}

static int check_fwd(struct faults *f)
{
	struct engine_setup setup = { .kernels = kernels_select("auto"), .threads = 1, .batch = 1, .kv_type = -1 };
	struct why w;
	struct engine e;
	struct model *m = model_open(f->check->path, NULL, &w);
	size_t before;
	int ok;

	if (!m) {
		report_why(f, &w);
		check_types(f);
		return 0;
	}
	ok = check_card(f, m);
	before = f->check->n;
	m->fault = report;
	m->fault_context = f;
	if (engine_open(&e, m, &setup, &w) == 0)
		engine_close(&e);
	else
		report_why(f, &w);
	model_close(m);
	return ok && f->check->n == before;
}

struct check check_file(const char *path)
{
	static struct faults f;
	struct check check = { .path = path };

	f.check = &check;
	check.tok = check_tok(&f);
	check.fwd = check_fwd(&f);
	return check;
}
