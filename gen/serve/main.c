/* serve: HTTP, and nothing else: turns requests into lines for gen --requests or embed --requests, and their lines
 * into answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/gguf/architecture.h"
#include "lib/gguf/models.h"
#include "lib/process/find.h"
#include "server.h"

enum { LISTEN = 1, KEYS, CORS, QUEUE, CONNECTIONS, TIMEOUT, ENGINE };

enum { ORIGIN_MAX = 256 };

static const struct opt opts[] = {
	{ .help = "HTTP" },
	{ LISTEN, "listen", "ADDRESS", "serve all who connect to [ADDRESS:]PORT or unix:PATH (default: one client,\n"
		"on standard input and output; default address: 127.0.0.1)" },
	{ KEYS, "api-key-file", "FILE", "serve only requests with a key from FILE, which has one on each line" },
	{ CORS, "cors", "ORIGIN", "let web pages from this origin use the server (*: from any; default: none)" },
	{ QUEUE, "queue", "N", "accept at most N requests, running and waiting, others get 429 (default: 256)" },
	{ CONNECTIONS, "connections", "N", "keep at most N connections open (default: 512)" },
	{ TIMEOUT, "timeout", "SECONDS", "give up on clients that send or read nothing for so long (default: 60)" },
	{ 'v', "verbose", NULL, "print the address on stderr, even if that is not a\nterminal" },
	{ .help = "Engine" },
	{ 'm', "model", "MODEL", "the model (default: $LMPIPE_MODEL, or else the shipped model)" },
	{ 'c', "ctx-size", "N", "the context, in tokens" },
	{ 't', "threads", "N", "threads of fwd" },
	{ 'j', "jobs", "N", "generate at most N texts at a time (default: 16)" },
	{ ENGINE, "engine", "COMMAND", "run the shell command COMMAND instead of gen or embed --requests" },
	{ 0 }
};

static const struct cli_rule rules[] = {
	{ "engine", .excludes = "model ctx-size threads jobs", .reason = "it has its own" },
	{ 0 }
};

static struct cli c = { .program = "serve", .synopsis = "[options] [-- options of gen, or of embed]",
	.purpose = "a model for programs that speak HTTP", .opts = opts, .rules = rules,
	.examples = "  serve -m m.gguf --listen 8080\n"
		"  serve --listen unix:/run/lmpipe.sock --api-key-file keys -- --temp 0.7\n"
		"  socat TCP-LISTEN:8080,fork EXEC:'serve -m m.gguf'\n" };

static struct server v = { .service.queue = 256, .connections = 512, .patience = 60 };
static struct why w;

static void add(const char *option, const char *value)
{
	struct stage *s = &v.service.engine.stage;

	cli_must(&c, stage_arg(s, option, &w) || (value && stage_arg(s, value, &w)), &w);
}

/* The options that are for the engine. */
struct engine_options {
	const char *model, *ctx, *threads, *jobs, *command;
};

/* Whether the model is one for embeddings. What is wrong with its file is for the engine to say. */
static int is_embedder(const char *model)
{
	struct gguf *g;
	const char *path;
	int pools;

	if (!model && !(model = getenv("LMPIPE_MODEL")))
		return 0;
	cli_must(&c, !(path = models_path(model, &w)), &w);
	g = gguf_open(path, 0, &w);
	pools = g && architecture_pools(g);
	gguf_close(g);
	return pools;
}

/* Sets the command of the engine: embed, whose texts share passes in any number, or gen. */
static void choose_engine(const struct engine_options *o, const char *argv0)
{
	struct stage *engine = &v.service.engine.stage;
	int embeds = !o->command && is_embedder(o->model);

	engine->name = "engine";
	engine->program = embeds ? "embed" : "gen";
	if (o->command) {
		engine->shell = 1;
		add("sh", "-c");
		add(o->command, NULL);
		return;
	}
	add(find_program(argv0, "serve", engine->program), "--requests");
	if (o->ctx)
		add("-c", o->ctx);
	if (o->threads)
		add("-t", o->threads);
	if (o->jobs && !embeds)
		add("-j", o->jobs);
	if (o->model && !embeds)
		add("-m", o->model);
	for (int i = 0; i < c.argc; i++)
		add(c.argv[i], NULL);
	if (embeds)
		add("--", o->model ? o->model : getenv("LMPIPE_MODEL"));
}

int main(int argc, char **argv)
{
	const char *argv0 = argv[0], *at = NULL, *keys = NULL;
	struct engine_options engine = { NULL, NULL, NULL, NULL, NULL };
	int verbose = 0;
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case LISTEN: at = c.value; break;
		case KEYS: keys = c.value; break;
		case CORS: v.service.origin = c.value; break;
		case QUEUE: v.service.queue = (size_t)cli_integer(&c, o, 1, 1 << 20); break;
		case CONNECTIONS: v.connections = (size_t)cli_integer(&c, o, 1, 1 << 20); break;
		case TIMEOUT: v.patience = cli_real(&c, o, 0.01, 1e6); break;
		case 'v': verbose = 1; break;
		case ENGINE: engine.command = c.value; break;
		case 'm': engine.model = c.value; break;
		case 'c': cli_integer(&c, o, 1, INT32_MAX); engine.ctx = c.value; break;
		case 't': cli_integer(&c, o, 1, INT32_MAX); engine.threads = c.value; break;
		case 'j': cli_integer(&c, o, 1, INT32_MAX); engine.jobs = c.value; break;
		}
	if (v.service.origin && (strlen(v.service.origin) >= ORIGIN_MAX || strpbrk(v.service.origin, "\r\n")))
		cli_usage(&c, "--cors: an origin like https://example.org is required");
	if (at && !address_is_valid(at))
		cli_usage(&c, "--listen: \"%s\" is not [ADDRESS:]PORT or unix:PATH", at);
	if (c.argc && c.argv[0][0] != '-')
		cli_usage(&c, "%s: the model is named by -m, and options of the engine follow -- (try --help)",
			c.argv[0]);
	choose_engine(&engine, argv0);
	if (keys)
		cli_must(&c, keys_read(&v.service.keys, keys, &w), &w);
	v.service.local = 1;
	if (at) {
		cli_must(&c, address_listen(&v.address, at, &w), &w);
		v.listening = 1;
		v.service.local = v.address.local;
	}
	if (at && (verbose || isatty(STDERR_FILENO)))
		fprintf(stderr, "serve: %s\n", v.address.text);
	cli_must(&c, server_run(&v, &w), &w);
	return 0;
}
