/* Opens the file as tok and fwd do, but continues after a fault as far as possible, and parses the templates as chat
 * does. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/out.h"
#include "lib/chat/jinja/jinja.h"
#include "lib/vocab/vocab.h"
#include "fwd/engine.h"

enum {
	SHOWN = 100,            /* faults that are printed, at most */
	REMEMBERED = 1024       /* distinct faults to remember: several programs may find the same one */
};

struct finder {
	struct check *check;
	enum check_program program;     /* being checked for */
	uint64_t hash[REMEMBERED];
};

/* reason: without the path. */
static void report(void *context, const char *reason)
{
	struct finder *f = context;
	uint64_t hash = hash_data(reason, strlen(reason), 0);
	size_t n = f->check->n;

	f->check->of[f->program]++;
	for (size_t i = 0; i < n && i < REMEMBERED; i++)
		if (f->hash[i] == hash)
			return;
	if (n < REMEMBERED)
		f->hash[n] = hash;
	if (!n)
		snprintf(f->check->first, sizeof f->check->first, "%s", reason);
	if (f->check->n++ < SHOWN && !f->check->quiet)
		out_print("%s: %.512s\n", f->check->path, reason);
}

/* Something unusual that no program fails for. */
static void warn(void *context, const char *text)
{
	struct finder *f = context;

	if (!f->check->quiet)
		out_print("%s: warning: %s\n", f->check->path, text);
}

/* The same for a reason that begins with the path and ": ". */
static void report_why(struct finder *f, const struct why *w)
{
	size_t n = strlen(f->check->path);
	int has_path = !strncmp(w->text, f->check->path, n) && !strncmp(w->text + n, ": ", 2);

	report(f, has_path ? w->text + n + 2 : w->text);
}

/* Prints the ids of special tokens that the vocabulary does not have: no program uses them, so they are no faults (but
 * fwd needs the mask token). */
static void note_ids(const struct finder *f, const struct gguf *g, int32_t n_vocab)
{
	static const char prefix[] = "tokenizer.ggml.", suffix[] = "_token_id", mask[] = "tokenizer.ggml.mask_token_id";
	enum { ENDS = sizeof prefix + sizeof suffix - 2, KEY = 64 };
	char name[KEY];
	struct why ignored;
	int64_t id;

	for (uint64_t i = 0; i < g->n_values; i++) {
		struct gguf_string key = g->values[i].key;

		if (gguf_is(key, mask) || key.n < ENDS || key.n >= KEY || memcmp(key.s, prefix, sizeof prefix - 1)
		    || memcmp(key.s + key.n - (sizeof suffix - 1), suffix, sizeof suffix - 1))
			continue;
		snprintf(name, sizeof name, "%.*s", GGUF_SHOWN(key));
		if (gguf_integer(g, name, INT64_MIN, INT64_MAX, &id, &ignored) > 0 && (id < 0 || id >= n_vocab))
			out_print("%s: %s: %" PRId64 " is outside the vocabulary of %" PRId32 ", and so not used\n",
				f->check->path, name, id, n_vocab);
	}
}

static void check_tok(struct finder *f)
{
	struct why w;
	struct ids ids = { 0 };
	struct gguf *g = gguf_open(f->check->path, 0, &w);
	struct vocab *v = g ? vocab_open(g, VOCAB_ENCODE, &w) : NULL;
	struct card card;

	if (v) {
		vocab_card(v, &card);
		if (!f->check->quiet)
			note_ids(f, g, card.n_vocab);
		if (vocab_warning(v))
			warn(f, vocab_warning(v));
	}
	if (!v || vocab_encode(v, "some text", 9, 0, &ids, &w))
		report_why(f, &w);
	free(ids.id);
	vocab_close(v);
	gguf_close(g);
}

/* ---- fwd ---- */

/* Checks the types of all tensors. */
static void check_types(struct finder *f, const struct model *m)
{
	struct why w;

	for (uint64_t i = 0; i < m->gguf->n_tensors; i++)
		if (m->gguf->tensors[i].data && model_check_type(&m->gguf->tensors[i], &w) < 0)
			report(f, w.text);
}

/* Builds the plan, which asks for each tensor. If sizes had to be replaced, they may be too large for a plan. */
static void check_plan(struct finder *f, struct model *m)
{
	struct engine_setup setup = { .kernels = kernels_select("auto"), .threads = 1, .batch = 1, .kv_type = -1 };
	struct engine e;
	struct why w;

	setup.embeds = engine_embeds(m);
	setup.pooling = -1;
	if (engine_open(&e, m, &setup, &w) == 0)
		engine_close(&e);
	else if (!m->unsure)
		report_why(f, &w);
}

static void check_fwd(struct finder *f)
{
	struct faults faults = { .tell = report, .context = f }, warnings = { .tell = warn, .context = f };
	struct why w;
	struct model *m = model_survey(f->check->path, &faults, &warnings, &w);

	if (!m) {
		report_why(f, &w);
		return;
	}
	if (m->ready)
		check_plan(f, m);
	else
		check_types(f, m);
	model_close(m);
}

/* ---- chat ---- */

static void check_template(struct finder *f, const struct gguf *g, struct gguf_string name)
{
	char key[128];
	struct gguf_string text;
	struct jinja *t = NULL;
	struct why w;
	int found;

	snprintf(key, sizeof key, "%.*s", GGUF_SHOWN(name));
	found = gguf_text(g, key, &text, &w);
	if (found > 0 && !(t = jinja_parse(text.s, text.n, &w)))
		why_in(&w, key);
	if (found < 0 || (found && !t))
		report(f, w.text);
	jinja_free(t);
}

static void check_chat(struct finder *f)
{
	static const char prefix[] = "tokenizer.chat_template";
	struct why w;
	struct gguf *g = gguf_open(f->check->path, 0, &w);

	for (uint64_t i = 0; g && i < g->n_values; i++) {
		struct gguf_string key = g->values[i].key;

		/* tokenizer.chat_templates lists the names of the others */
		if (key.n >= sizeof prefix - 1 && !memcmp(key.s, prefix, sizeof prefix - 1)
		    && (key.n == sizeof prefix - 1 || key.s[sizeof prefix - 1] == '.'))
			check_template(f, g, key);
	}
	gguf_close(g);
}

struct check check_file(const char *path, int quiet)
{
	static void (*const programs[CHECK_PROGRAMS])(struct finder *f) = { check_tok, check_fwd, check_chat };
	static struct finder f;
	struct check check = { .path = path, .quiet = quiet };

	f.check = &check;
	for (f.program = 0; f.program < CHECK_PROGRAMS; f.program++)
		programs[f.program](&f);
	if (check.n > SHOWN && !quiet)
		out_print("%s: %zu more faults\n", path, check.n - SHOWN);
	return check;
}

/* ---- what is added to models ---- */

static int check_lora(const char *path, struct why *w)
{
	struct gguf_string arch = { "-", 1 };
	struct why ignored;
	struct lora l;
	int status = lora_open(&l, (struct scaled_file){ path, 1 }, w);

	if (status == 0) {
		gguf_text(l.gguf, "general.architecture", &arch, &ignored);
		out_print("%s: an adapter for architecture %.*s: fwd --lora\n", path, GGUF_SHOWN(arch));
	}
	lora_close(&l);
	return status < 0 ? -1 : 1;
}

static int check_control(const char *path, struct why *w)
{
	struct gguf *g = gguf_open(path, 1, w);
	int status = g ? control_check(g, w) : -1;

	if (g && status < 0)
		why_in(w, path);
	else if (g)
		out_print("%s: a control vector for rows of %llu values: fwd --control-vector\n", path,
			(unsigned long long)g->tensors[0].dim[0]);
	gguf_close(g);
	return status < 0 ? -1 : 1;
}

int check_added(const char *path, struct why *w)
{
	struct gguf *g = gguf_open(path, 0, w);
	struct gguf_string type = { "", 0 }, arch = { "", 0 };
	int lora, control;

	if (!g)
		return 0;
	lora = gguf_text(g, "general.type", &type, w) > 0 && gguf_is(type, "adapter");
	control = gguf_text(g, "general.architecture", &arch, w) > 0 && gguf_is(arch, "controlvector");
	gguf_close(g);
	return lora ? check_lora(path, w) : control ? check_control(path, w) : 0;
}
