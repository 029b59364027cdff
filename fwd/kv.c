/* kv: lists, shows, copies and removes the segments that fwd --kv keeps. */
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "fwd/state/segment.h"

static const struct opt opts[] = { { 0 } };

static struct cli c = { .program = "kv", .synopsis = "list | info NAME... | ids NAME... | rm NAME... | fork FROM TO",
	.purpose = "the KV segments that fwd --kv keeps", .opts = opts };
static struct why w;

/* One line. If the segment cannot be read, the line says why. */
static int list_one(const char *name, void *context)
{
	struct segment_info i;

	if (segment_inspect(name, &i, &w) < 0)
		out_print("%-24s %s\n", name, w.text);
	else
		out_print("%-24s %8zu %8zu %9.1f  %-4s  %-8s  %016llx\n", name, i.length, i.n_ctx,
			(double)i.bytes / (1 << 20),
			kv_type_name[i.shape.kv_type], i.owner ? "in use" : "free", (unsigned long long)i.shape.model);
	return 0;
}

static void list(void)
{
	out_print("%-24s %8s %8s %9s  %-4s  %-8s  %s\n", "NAME", "TOKENS", "CONTEXT", "MIB", "TYPE", "STATE", "MODEL");
	if (object_each(list_one, NULL, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static int info(const char *name)
{
	struct segment_info i;
	const struct segment_shape *p = &i.shape;

	if (segment_inspect(name, &i, &w) < 0)
		return -1;
	out_print("name         %s\n", name);
	out_print("tokens       %zu\n", i.length);
	out_print("context      %zu\n", i.n_ctx);
	out_print("bytes        %zu\n", i.bytes);
	out_print("type         %s\n", kv_type_name[p->kv_type]);
	out_print("layers       %u\n", p->n_layer);
	out_print("per token    %llu\n", (unsigned long long)p->bytes / p->extent);
	if (p->recent_bytes)
		out_print("per recent   %llu\n", (unsigned long long)p->recent_bytes / p->extent);
	if (p->state_bytes)
		out_print("per state    %llu\n", (unsigned long long)p->state_bytes);
	out_print("model        %016llx\n", (unsigned long long)p->model);
	if (i.digest)
		out_print("weights      %016llx\n", (unsigned long long)i.digest);
	out_print("arithmetic   %llu\n", (unsigned long long)p->arithmetic);
	if (i.owner)
		out_print("state        in use by process %ld\n", i.owner);
	else
		out_print("state        free\n");
	return 0;
}

static int ids(const char *name)
{
	struct segment_info i;
	struct segment s;

	if (segment_inspect(name, &i, &w) < 0 || segment_open(&s, name, &i.shape, i.n_ctx, &w) < 0)
		return -1;
	for (size_t pos = 0; pos < s.length; pos++)
		out_print("%ld\n", (long)segment_id(&s, pos));
	segment_close(&s);
	return 0;
}

static int rm(const char *name)
{
	return segment_remove(name, &w);
}

/* What to do with each name; NULL: list and fork, which take none and two. */
static int (*command(const char *name))(const char *)
{
	static const struct {
		const char *name;
		int (*run)(const char *name);
	} commands[] = { { "info", info }, { "ids", ids }, { "rm", rm }, { "list", NULL }, { "fork", NULL } };

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run;
	cli_usage(&c, "\"%s\" is not list, info, ids, rm or fork (try --help)", name);
}

static void check_names(int names, int n)
{
	if (n >= 0 && names != n)
		cli_usage(&c, "%s takes %s", c.argv[0], n ? "two names" : "no name");
	if (n < 0 && !names)
		cli_usage(&c, "%s: no name (try --help)", c.argv[0]);
	for (int i = 1; i <= names; i++)
		if (object_check_name(c.argv[i], &w) < 0)
			cli_usage(&c, "%s", w.text);
}

int main(int argc, char **argv)
{
	int (*each)(const char *name), forks;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	while (cli_next(&c))
		;
	guard_arm(c.program);
	if (c.argc < 1)
		cli_usage(&c, "no command (try --help)");
	each = command(c.argv[0]);
	forks = !strcmp(c.argv[0], "fork");
	check_names(c.argc - 1, each ? -1 : forks ? 2 : 0);
	for (int i = 1; each && i < c.argc; i++)
		if (each(c.argv[i]) < 0)
			cli_die(&c, "%s", w.text);
	if (forks && segment_fork(c.argv[1], c.argv[2], &w) < 0)
		cli_die(&c, "%s", w.text);
	if (!each && !forks)
		list();
	return cli_end(&c);
}
