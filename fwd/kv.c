/* kv: what there is of named KV segments, and their copies. */
#include <stdio.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "fwd/state/segment.h"

static const struct opt opts[] = { { 0 } };

static struct cli c = { .program = "kv", .synopsis = "list | info NAME... | ids NAME | rm NAME... | fork FROM TO", .purpose = "the KV segments that fwd --kv keeps",
	.opts = opts };
static struct why w;

static double mib(size_t bytes)
{
	return (double)bytes / (1 << 20);
}

/* One line; a segment that cannot be read has its reason there. */
static int list_one(const char *name, void *context)
{
	struct segment_info i;

	if (segment_inspect(name, &i, &w) < 0)
		printf("%-24s %s\n", name, w.text);
	else
		printf("%-24s %8zu %8zu %9.1f  %-4s  %-8s  %016llx\n", name, i.length, i.n_ctx, mib(i.bytes), kv_type_name[i.shape.kv_type],
			i.owner ? "in use" : "free", (unsigned long long)i.shape.model);
	return 0;
}

static void list(void)
{
	printf("%-24s %8s %8s %9s  %-4s  %-8s  %s\n", "NAME", "IDS", "CONTEXT", "MIB", "TYPE", "STATE", "MODEL");
	if (object_each(list_one, NULL, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static void info(const char *name)
{
	struct segment_info i;

	if (segment_inspect(name, &i, &w) < 0)
		cli_die(&c, "%s", w.text);
	printf("name         %s\nids          %zu\ncontext      %zu\nbytes        %zu\n", name, i.length, i.n_ctx, i.bytes);
	printf("type         %s\nlayers       %u\nKV heads     %u\nhead dims    %u and %u\n", kv_type_name[i.shape.kv_type], i.shape.n_layer,
		i.shape.n_head_kv, i.shape.dim_k, i.shape.dim_v);
	printf("model        %016llx\narithmetic   %llu\n", (unsigned long long)i.shape.model, (unsigned long long)i.shape.arithmetic);
	if (i.digest)
		printf("weights      %016llx\n", (unsigned long long)i.digest);
	if (i.owner)
		printf("state        in use by process %ld\n", i.owner);
	else
		printf("state        free\n");
}

/* The ids of a segment, one a line. */
static void print_ids(const char *name)
{
	struct segment_info i;
	struct segment s;

	if (segment_inspect(name, &i, &w) < 0 || segment_open(&s, name, &i.shape, i.n_ctx, &w) < 0)
		cli_die(&c, "%s", w.text);
	for (size_t k = 0; k < s.length; k++)
		printf("%ld\n", (long)segment_id(&s, k));
	segment_close(&s);
}

static void check_names(void)
{
	if (c.argc < 2)
		cli_usage(&c, "%s: no name (try --help)", c.argv[0]);
	for (int i = 1; i < c.argc; i++)
		if (object_check_name(c.argv[i], &w) < 0)
			cli_usage(&c, "%s", w.text);
}

int main(int argc, char **argv)
{
	const char *what;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	while (cli_next(&c))
		;
	guard_arm(c.program);
	if (c.argc < 1)
		cli_usage(&c, "no command (try --help)");
	what = c.argv[0];
	if (!strcmp(what, "list")) {
		if (c.argc > 1)
			cli_usage(&c, "list takes no name");
		list();
		return cli_end(&c);
	}
	if (strcmp(what, "info") && strcmp(what, "ids") && strcmp(what, "rm") && strcmp(what, "fork"))
		cli_usage(&c, "\"%s\" is not list, info, ids, rm or fork (try --help)", what);
	check_names();
	if (!strcmp(what, "fork")) {
		if (c.argc != 3)
			cli_usage(&c, "fork takes two names");
		if (segment_fork(c.argv[1], c.argv[2], &w) < 0)
			cli_die(&c, "%s", w.text);
		return cli_end(&c);
	}
	for (int i = 1; i < c.argc; i++)
		if (!strcmp(what, "info"))
			info(c.argv[i]);
		else if (!strcmp(what, "ids"))
			print_ids(c.argv[i]);
		else if (segment_remove(c.argv[i], &w) < 0)
			cli_die(&c, "%s", w.text);
	return cli_end(&c);
}
