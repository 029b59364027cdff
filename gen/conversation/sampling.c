/* A changed option is tried on a sample that reads nothing; then sample is started anew with it. */
#include "sampling.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/similar.h"
#include "lib/sampler/opts.h"
#include "gen/pipeline.h"
#include "console.h"
#include "show.h"

const struct opt *sampling_option(size_t i)
{
	static const struct opt more[] = {
		{ 'n', "n-predict", "N", "" }, { 's', "seed", "N", "" }, { 0, "think", "show|hide", "" }
	};
	size_t n = 0;

	for (const struct opt *o = sampler_opts; o->help; o++)
		if (o->name && n++ == i)
			return o;
	return i - n < sizeof more / sizeof *more ? &more[i - n] : NULL;
}

static const struct opt *find_option(const char *name)
{
	const struct opt *o;

	for (size_t i = 0; (o = sampling_option(i)); i++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

/* Returns 0 if sample accepts its options, which a trial run shows. Otherwise prints its error. */
static int check(const struct stage *sample, const char *model)
{
	struct stage trial = { .name = sample->name, .program = sample->program };
	struct why w;
	int failed = 0;

	for (size_t i = 0; !failed && i < sample->n; i++)
		failed = stage_arg(&trial, sample->argv[i], &w);
	/* with the model, sample knows the vocabulary before there are logits */
	if (!stage_option(sample, "--model"))
		failed = failed || stage_set_option(&trial, "--model", model, &w);
	failed = failed || stage_start(&trial, open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY), &w)
		|| stage_wait(&trial, &w);
	if (failed)
		console_say("/set: %s", w.text);
	free(trial.argv);
	return failed ? -1 : 0;
}

static enum command_answer set_option(struct conversation *v, const struct opt *o, const char *value, struct why *w)
{
	struct stage *sample = &v->q->stage[SAMPLE], before = { 0 };
	char *text = arena_text(&v->set, strlen(value) + 1), *name = arena_text(&v->set, strlen(o->name) + 3);
	int off = !strcmp(value, "off"), failed = text && name ? 0 : why(w, "out of memory");

	if (failed)
		return COMMAND_FAILED;
	strcpy(text, value);
	sprintf(name, "--%s", o->name);
	for (size_t i = 0; !failed && i < sample->n; i++)
		failed = stage_arg(&before, sample->argv[i], w);
	if (off)
		stage_drop_option(sample, name, o->arg != NULL);
	else
		failed = failed || stage_set_option(sample, name, o->arg ? text : NULL, w);
	if (sampler_opt_of_text(o) && !off)
		failed = failed || stage_set_option(sample, "--model", v->q->model, w);
	if (!failed && check(sample, v->q->model)) {
		free(sample->argv);
		sample->argv = before.argv;
		sample->n = before.n;
		sample->room = before.room;
		return COMMAND_DONE;
	}
	free(before.argv);
	if (!strcmp(o->name, "seed") && !off)
		v->q->seed = strtoll(value, NULL, 10);
	return failed || pipeline_restart(v->q, v->l, w) ? COMMAND_FAILED : COMMAND_DONE;
}

static void unknown_option(const char *name)
{
	const struct opt *o;

	for (size_t i = 0; (o = sampling_option(i)); i++)
		if (similar(name, o->name)) {
			console_say("/set: no option %s; did you mean %s?", name, o->name);
			return;
		}
	console_say("/set: no option %s (Tab lists them)", name);
}

void sampling_print(const struct conversation *v)
{
	const struct stage *sample = &v->q->stage[SAMPLE];
	const char *space = "";

	for (size_t i = 1; i < sample->n; i++) {
		const char *word = sample->argv[i];
		const struct opt *o = strncmp(word, "--", 2) ? NULL : find_option(word + 2);

		if (!o || sample->argv[i + 1] == v->think_open.p || sample->argv[i + 1] == v->think_close.p)
			continue;
		printf("%s%s", space, word);
		if (o->arg)
			printf(" %s", sample->argv[++i]);
		space = " ";
	}
	printf("\n");
}

enum command_answer sampling_set(struct conversation *v, const char *argument, struct why *w)
{
	size_t n = strcspn(argument, " ");
	const char *value = argument + n + strspn(argument + n, " ");
	const struct opt *o;
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)n, argument);
	if (!n)
		sampling_print(v);
	else if (!strcmp(name, "think") && (!strcmp(value, "hide") || !strcmp(value, "show")))
		show_fold(!strcmp(value, "hide"));
	else if (!strcmp(name, "think"))
		console_say("/set think: show or hide");
	else if (v->q->stage[SAMPLE].shell)
		console_say("/set: not with --stage sample");
	else if (!(o = find_option(name)))
		unknown_option(name);
	else if (o->arg && !*value)
		console_say("/set %s needs a value: %s", name, o->arg);
	else
		return set_option(v, o, value, w);
	return COMMAND_DONE;
}
