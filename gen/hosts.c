/* The stages of --hosts. Strings are never freed, like those of the command line. */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"

enum { COMMAND_MAX = 1 << 20 };

/* An element of the list: NAME:A-B, or NAME:A- for the last. */
struct host {
	const char *name, *layers;
	size_t name_n, layers_n;
};

/* Parses layers that must start at `first`. Returns the one after the last; 0: all the rest; -1: invalid. */
static long parse_layers(const struct host *h, long first)
{
	static const char digits[] = "0123456789";
	size_t a = strspn(h->layers, digits), b = a < h->layers_n ? strspn(h->layers + a + 1, digits) : 0;
	long last;

	if (!a || a > 5 || b > 5 || h->layers[a] != '-' || a + 1 + b != h->layers_n
	    || strtol(h->layers, NULL, 10) != first)
		return -1;
	if (!b)
		return 0;
	last = strtol(h->layers + a + 1, NULL, 10);
	return last < first ? -1 : last + 1;
}

/* The next element of the list; *at moves past it. 0: none left. */
static int next_host(const char **at, struct host *h)
{
	size_t n = strcspn(*at, ","), colon = n;

	while (colon && (*at)[colon - 1] != ':')
		colon--;
	*h = (struct host){ .name = *at, .name_n = colon ? colon - 1 : 0, .layers = *at + colon,
		.layers_n = n - colon };
	*at += n + ((*at)[n] == ',');
	return n > 0;
}

static int is_local(const struct host *h)
{
	return !h->name_n || (h->name_n == 9 && !memcmp(h->name, "localhost", 9));
}

static int is_same(const struct host *a, const struct host *b)
{
	return (is_local(a) && is_local(b)) || (a->name_n == b->name_n && !memcmp(a->name, b->name, a->name_n));
}

int hosts_check(const char *list, int kept, struct why *w)
{
	struct host h, all[HOSTS_MAX];
	const char *at = list;
	long next = 0;
	int n = 0;

	for (; next_host(&at, &h); n++) {
		if (n == HOSTS_MAX)
			return why(w, "more than %d hosts", HOSTS_MAX);
		/* ssh would take such a name for an option */
		if ((n && !next) || h.layers == h.name || *h.name == '-' || (next = parse_layers(&h, next)) < 0)
			return why(w, "\"%.*s\" is not HOST:A-B with the next layers, as in a:0-13,b:14-27",
				(int)(h.name_n + 1 + h.layers_n), h.name);
		for (int i = 0; i < n && kept; i++)
			if (is_same(&h, &all[i]))
				return why(w, "with --kv no host can have two stages: both would use the same segment");
		all[n] = h;
	}
	return n && !*at && at[-1] != ',' ? 0 : why(w, "\"%s\" is not a list such as a:0-13,b:14-27", list);
}

/* Turns the command of s into one that ssh runs. The program must be in the host's PATH. */
static int run_there(struct stage *s, const char *host, struct why *w)
{
	struct bytes words = { .limit = COMMAND_MAX };
	const char *slash = strrchr(s->argv[0], '/');

	if (slash)
		s->argv[0] = slash + 1;
	if (stage_words(s, &words) < 0 || bytes_put(&words, "", 1) < 0)
		return why(w, "out of memory");
	stage_cut(s, 0);
	return stage_arg(s, "ssh", w) || stage_arg(s, host, w) || stage_arg(s, words.p, w) ? -1 : 0;
}

/* "ssh NAME", as messages call it, and the layers. */
static char *label(const struct host *h)
{
	char *text = malloc(h->name_n + h->layers_n + 6);

	if (text)
		sprintf(text, "ssh %.*s%c%.*s", (int)h->name_n, h->name, 0, (int)h->layers_n, h->layers);
	return text;
}

/* *s, a stage of zeros, becomes a copy of `whole` for the layers of this host. */
static int divide(struct stage *s, const struct stage *whole, const struct host *h, struct why *w)
{
	char *text = label(h);

	if (!text)
		return why(w, "out of memory");
	/* signals do not reach a remote fwd, and must not reach only the local stages */
	*s = (struct stage){ .name = text, .program = is_local(h) ? whole->program : text, .shell = 1 };
	if (stage_arg(s, whole->argv[0], w) || stage_arg(s, "--layers", w) || stage_arg(s, text + h->name_n + 5, w))
		return -1;
	for (size_t i = 1; i < whole->n; i++)
		if (stage_arg(s, whole->argv[i], w))
			return -1;
	return is_local(h) ? 0 : run_there(s, text + 4, w);
}

int hosts_divide(struct request *q, struct why *w)
{
	struct stage whole = q->stage[FWD], *s = &q->stage[FWD];
	const char *at = q->hosts;
	int status = 0;
	struct host h;

	for (; !status && next_host(&at, &h); s++) {
		status = divide(s, &whole, &h, w);
		if (!status && s == &q->stage[FWD] && q->stage[KV].n && !is_local(&h))
			status = run_there(&q->stage[KV], s->name + 4, w);
	}
	free(whole.argv);
	return status;
}
