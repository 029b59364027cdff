/* kv: lists, shows, saves, loads, forks, trims and removes the segments that fwd --kv keeps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/gguf/models.h"
#include "fwd/state/digest.h"
#include "fwd/state/ids.h"
#include "fwd/state/named.h"
#include "fwd/state/saved.h"
#include "fwd/state/segment.h"
#include "find.h"
#include "keep.h"
#include "list.h"
#include "segment_text.h"

enum { JSON = 1, SPECIAL, FORCE, OLDER, KEEP };

static const struct opt opts[] = {
	{ JSON, "json", NULL, "list: lines of JSON" },
	{ 'm', "model", "MODEL", "show, save: the model that made the segment (default: its path at that time);\n"
		"find: only segments that it has made" },
	{ SPECIAL, "special", NULL, "show: print control tokens, too" },
	{ FORCE, "force", NULL, "load: replace an existing segment" },
	{ OLDER, "older", "AGE", "rm: only segments not used for this long (90s, 30m, 12h, 7d, 2w);\n"
		"without names: among all segments" },
	{ KEEP, "keep", "SIZE", "rm: only as many segments, the least recently used first, that the others have at\n"
		"most SIZE (100M, 8G); without names: of all segments" },
	{ 0 }
};

static struct cli c = { .program = "kv",
	.synopsis = "list | info NAME... | show NAME | ids NAME... | save NAME | load NAME | find | "
		"fork FROM TO | trim NAME N | rm NAME...",
	.purpose = "the KV segments that fwd --kv keeps", .opts = opts,
	.examples = "  kv list\n"
		"  kv fork story other\n"
		"  kv save story | ssh host kv load story\n" };
static struct why w;

static struct {
	const char *model;
	int json, special, force;
	long long older;        /* seconds; 0: not given */
	int keeps;              /* rm --keep, */
	unsigned long long keep;        /* so many bytes */
} set;

static int info(const char *name)
{
	struct segment_info i;
	const struct segment_shape *p = &i.shape;

	if (segment_inspect(name, &i, &w) < 0)
		return -1;
	out_text("name         ");
	out_quoted(name, strlen(name), 0);
	out_char('\n');
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

/* Opens a segment with the shape and context that it has. */
static int open_segment(struct segment *s, struct segment_info *i, const char *name)
{
	return segment_inspect(name, i, &w) < 0 ? -1 : segment_open(s, name, &i->shape, i->n_ctx, &w);
}

static int ids(const char *name)
{
	struct segment_info i;
	struct segment s;

	if (open_segment(&s, &i, name) < 0)
		return -1;
	for (size_t pos = 0; pos < s.length; pos++)
		out_print("%ld\n", (long)segment_id(&s, pos));
	segment_close(&s);
	return 0;
}

static int show(const char *name)
{
	struct bytes text = { .limit = 1 << 30 };
	struct segment_text t = { .g = NULL };
	struct segment_info i;
	struct segment s;
	int status, begins = 1;

	if (open_segment(&s, &i, name) < 0)
		return -1;
	status = segment_text_open(&t, set.model, name, &i, &w);
	for (size_t pos = 0, n; status == 0 && pos < s.length; pos += n) {
		n = size_min(s.length - pos, KV_EXTENT);
		segment_text_put(&t, segment_ids(&s, pos), n, set.special, &begins, &text);
		out_shown(text.p, text.n);
		text.n = 0;
	}
	out_shown_close();
	if (text.failed)
		status = why(&w, "segment %s: out of memory", name);
	bytes_free(&text);
	segment_text_close(&t);
	segment_close(&s);
	return status;
}

/* The integer of this key of the model's architecture, or `otherwise` if there is none. */
static int64_t arch_integer(const struct gguf *g, const char *key, int64_t least, int64_t otherwise)
{
	struct gguf_string arch = { "", 0 };
	char full[128];
	struct why ignored;

	gguf_text(g, "general.architecture", &arch, &ignored);
	snprintf(full, sizeof full, "%.*s.%s", GGUF_SHOWN(arch), key);
	gguf_integer(g, full, least, INT32_MAX, &otherwise, &ignored);
	return otherwise;
}

/* The digest of a stage that has only some layers covers those, and only fwd knows which tensors they use. */
static int has_all_layers(const struct segment *s, const struct gguf *g)
{
	/* some models run their layers several times; a decoder may have fewer than the encoder */
	int64_t layers = arch_integer(g, "block_count", 0, 0) * arch_integer(g, "num_loops", 1, 1);

	layers = arch_integer(g, "decoder_block_count", 0, layers);
	return (int64_t)s->shape.n_layer + arch_integer(g, "nextn_predict_layers", 0, 0) >= layers;
}

/* Makes sure that the segment has a digest of the weights, because another machine has another model file. */
static int complete(struct segment *s)
{
	struct segment_origin o = segment_origin(s);
	const char *path = set.model ? models_path(set.model, &w) : o.path;
	struct weights of;
	struct gguf *g;
	int status = -1;

	if (segment_mark(s, SEGMENT_DIGEST))
		return 0;
	if (path && !*path)
		return why(&w, "segment %s: no digest of its weights yet: name the model with -m", s->name);
	g = gguf_open(path, 1, &w);
	of = (struct weights){ .g = g, .n_vocab = SIZE_MAX };   /* ids are checked by fwd when it opens the segment */
	if (g && digest_check(s, &of, &w) == 0) {
		status = has_all_layers(s, g) ? 0 : why(&w, "segment %s: has only some layers of %s, and no digest of "
			"them yet: fwd computes it", s->name, path);
		if (status == 0)
			digest_store(s, &of);
	}
	gguf_close(g);
	return status;
}

static int save(const char *name)
{
	struct segment_info i;
	struct segment s;
	int status;

	if (open_segment(&s, &i, name) < 0)
		return -1;
	status = complete(&s) < 0 ? -1 : saved_write(&s, 1, &w);
	segment_close(&s);
	return status;
}

static int load(const char *name)
{
	return saved_read(0, name, set.force, &w);
}

static int fork_to(const char *from, const char *to)
{
	return segment_fork_named(from, to, &w);
}

/* Parses digits. Returns -1 if the text is not a number up to `most`. */
static long long number(const char *text, size_t n, long long most)
{
	long long value = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9' || value > most)
			return -1;
		value = value * 10 + text[i] - '0';
	}
	return n && value <= most ? value : -1;
}

static int trim(const char *name, const char *count)
{
	long long n = number(count, strlen(count), SEGMENT_CTX_MAX);
	struct segment_info i;
	struct segment s;
	int status;

	if (n < 0)
		cli_usage(&c, "trim: \"%s\" is not a number of tokens from 0 to %d", count, SEGMENT_CTX_MAX);
	if (open_segment(&s, &i, name) < 0)
		return -1;
	if ((size_t)n > s.length)
		status = why(&w, "segment %s: has %zu tokens, fewer than %lld", name, s.length, n);
	else {
		segment_set_length(&s, (size_t)n);
		segment_scrub(&s);
		status = segment_sync(&s, &w);
	}
	segment_close(&s);
	return status;
}

/* Whether rm --older removes the segment. It silently keeps one that is in use. */
static int is_older(const struct segment_info *i)
{
	return !i->owner && time(NULL) - i->used >= set.older;
}

static int rm(const char *name)
{
	struct segment_info i;

	if (set.older && segment_inspect(name, &i, &w) < 0)
		return -1;
	return !set.older || is_older(&i) ? segment_remove(name, &w) : 0;
}

static int rm_if_older(const char *name, void *context)
{
	struct segment_info i;

	/* keep a segment that cannot be read: its age is unknown */
	return segment_inspect(name, &i, &w) < 0 || !is_older(&i) ? 0 : segment_remove(name, &w);
}

static int find_longest(void)
{
	const char *path = set.model ? models_path(set.model, &w) : NULL;
	char *real = path ? realpath(path, NULL) : NULL;
	int status = -1;

	if (path && !real)
		why(&w, "%s: %s", path, strerror(errno));
	else if (!set.model || real)
		status = find_print(0, real, &w);
	free(real);
	return status;
}

/* ---- the command line ---- */

enum { ANY = -1, MANY = -2 };   /* any number of names; at least one */
enum { WITH_JSON = 1, WITH_MODEL = 2, WITH_SPECIAL = 4, WITH_FORCE = 8, WITH_OLDER = 16, WITH_KEEP = 32 };     /* as in
							 * opts[] */

static const struct command {
	const char *name;
	int names;
	int (*one)(const char *name);                   /* called for each name */
	int (*two)(const char *name, const char *other);
	int (*none)(void);
	unsigned options;
} commands[] = {
	{ "list", ANY, NULL, NULL, NULL, WITH_JSON },
	{ "info", MANY, info, NULL, NULL, 0 },
	{ "show", 1, show, NULL, NULL, WITH_MODEL | WITH_SPECIAL },
	{ "ids", MANY, ids, NULL, NULL, 0 },
	{ "find", 0, NULL, NULL, find_longest, WITH_MODEL },
	{ "save", 1, save, NULL, NULL, WITH_MODEL },
	{ "load", 1, load, NULL, NULL, WITH_FORCE },
	{ "fork", 2, NULL, fork_to, NULL, 0 },
	{ "trim", 2, NULL, trim, NULL, 0 },
	{ "rm", MANY, rm, NULL, NULL, WITH_OLDER | WITH_KEEP },
};

static long long age(void)
{
	static const struct {
		char unit;
		int seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	size_t n = strlen(c.value);
	long long count = n ? number(c.value, n - 1, 1000000) : -1;

	for (size_t i = 0; count > 0 && i < sizeof units / sizeof *units; i++)
		if (c.value[n - 1] == units[i].unit)
			return count * units[i].seconds;
	cli_usage(&c, "--older: \"%s\" is not an age such as 90s, 30m, 12h, 7d or 2w", c.value);
}

/* Bytes, as 1000, 100K, 100M, 8G or 1T. */
static unsigned long long size(void)
{
	static const char units[] = "KMGT";
	size_t n = strlen(c.value);
	const char *unit = n ? strchr(units, c.value[n - 1]) : NULL;
	long long count = number(c.value, n - (unit != NULL), 1000000000);

	if (count < 0)
		cli_usage(&c, "--keep: \"%s\" is not a size such as 100M or 8G", c.value);
	return (unsigned long long)count << (unit ? 10 * (unit - units + 1) : 0);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	if (!strcmp(name, "ls") || !strcmp(name, "ps"))
		cli_usage(&c, "\"%s\" is not a command; did you mean list? (try --help)", name);
	cli_usage(&c, "\"%s\" is not a command (try --help)", name);
}

/* Parses the options. Returns which were given, as bits. */
static unsigned options(void)
{
	const struct opt *o;
	unsigned given = 0;

	while ((o = cli_next(&c))) {
		switch (o->letter) {
		case JSON: set.json = 1; break;
		case 'm': set.model = c.value; break;
		case SPECIAL: set.special = 1; break;
		case FORCE: set.force = 1; break;
		case OLDER: set.older = age(); break;
		case KEEP: set.keep = size(); set.keeps = 1; break;
		}
		given |= 1u << (o - opts);
	}
	if (c.argc < 1)
		cli_usage(&c, "no command (try --help)");
	return given;
}

static void check(const struct command *command, unsigned given)
{
	const int n = c.argc - 1, least = command->names == ANY || set.older || set.keeps ? 0 : command->names == MANY;

	for (size_t i = 0; opts[i].name; i++)
		if (given & ~command->options & 1u << i)
			cli_usage(&c, "%s does not take --%s", command->name, opts[i].name);
	if (set.older && set.keeps)
		cli_usage(&c, "--older and --keep exclude each other");
	if (command->names >= 0 ? n != command->names : n < least)
		cli_usage(&c, "%s takes %s (try --help)", command->name, !command->names ? "no name"
			: command->names == 1 ? "one name"
			: command->two == trim ? "a name and a number" : command->two ? "two names" : "names");
	for (int i = 1; i <= (command->two == trim ? 1 : n); i++)
		if (!(command->one == rm && object_is_part(c.argv[i])) && object_check_name(c.argv[i], &w) < 0)
			cli_usage(&c, "%s", w.text);
}

/* Calls one() for every name, even after a failure. Reports the first failure. */
static int run_each(int (*one)(const char *name))
{
	struct why first;
	int failed = 0;

	for (int i = 1; i < c.argc; i++)
		if (one(c.argv[i]) < 0 && !failed++)
			first = w;
	if (failed)
		w = first;
	return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	const struct command *command;
	unsigned given;
	int status;

	cli_start(&c, argc, argv);
	given = options();
	command = find(c.argv[0]);
	check(command, given);
	if (command->one == save || command->one == load || command->none)
		cli_binary(&c, command->one == save);
	guard_arm(c.program);
	if (command->none)
		status = command->none();
	else if (command->two)
		status = command->two(c.argv[1], c.argv[2]);
	else if (!command->one)
		status = list_print(c.argv + 1, (size_t)c.argc - 1, set.json, &w);
	else if (set.keeps)
		status = keep_most(c.argv + 1, (size_t)c.argc - 1, set.keep, &w);
	else if (set.older && c.argc == 1)
		status = object_each(rm_if_older, NULL, &w);
	else
		status = run_each(command->one);
	if (status < 0)
		cli_die(&c, "%s", w.text);
	return cli_end(&c);
}
