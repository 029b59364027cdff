/* Walks the folders that hold models, and reads Ollama's manifests. */
#include "models.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/json.h"
#include "lib/base/slurp.h"

enum { DEEPEST = 6, PATH_MOST = 4096, FILES_MOST = 10000, MANIFEST_MOST = 1 << 20 };

struct search {
	const char *name;       /* or NULL */
	int in_path;            /* the path has its parts, and not only the name of the file */
	struct models exact, similar;
	int failed;             /* memory is short */
};

/* ---- names ---- */

static size_t part_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]))
		n++;
	return n;
}

/* The next part of s, or its end. */
static const char *next_part(const char *s)
{
	while (*s && !isalnum((unsigned char)*s))
		s++;
	return s;
}

/* Whether a part of a name may begin or end before s[i]: beside a separator, or between a letter and a digit. */
static int is_boundary(const char *s, size_t i)
{
	unsigned char before = i ? (unsigned char)s[i - 1] : 0, after = (unsigned char)s[i];

	return !isalnum(before) || !isalnum(after) || !isdigit(before) != !isdigit(after);
}

/* How many bytes of the name part[n] covers, whose characters may have separators between them there; 0: it does not
 * begin the name. */
static size_t covered(const char *name, const char *part, size_t n)
{
	size_t i = 0;

	for (size_t k = 0; k < n; k++, i++) {
		while (k && name[i] && !isalnum((unsigned char)name[i]))
			i++;
		if (tolower((unsigned char)name[i]) != tolower((unsigned char)part[k]))
			return 0;
	}
	return is_boundary(name, i) ? i : 0;
}

static int has_parts(const char *name, const char *parts)
{
	size_t at = 0, n;

	for (parts = next_part(parts); *parts && name[at]; at += n ? n : 1) {
		n = is_boundary(name, at) ? covered(name + at, parts, part_length(parts)) : 0;
		if (n)
			parts = next_part(parts + part_length(parts));
	}
	return !*parts;
}

static int is_exactly(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return !strncmp(name, wanted, n) && (!name[n] || !strcmp(name + n, ".gguf") || !strcmp(name + n, ":latest"));
}

static int ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcasecmp(s + n - m, end);
}

/* Whether a file of this name is a model of its own: not a shard after the first, and no encoder of images. */
static int is_model(const char *name)
{
	const char *of = NULL;

	for (const char *next = name; (next = strstr(next, "-of-")); next++)
		of = next;
	return ends_with(name, ".gguf") && strncasecmp(name, "mmproj", 6)
		&& !(of && of - name >= 6 && of[-6] == '-' && strncmp(of - 5, "00001", 5));
}

/* ---- files ---- */

static void add(struct search *s, struct models *m, const char *path, const char *name, const struct stat *st)
{
	struct model_file f = { NULL, NULL, (uint64_t)st->st_size, st->st_dev, st->st_ino }, *at;

	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].device == st->st_dev && m->at[i].inode == st->st_ino)
			return;
	if (m->n == FILES_MOST)
		return;
	at = realloc(m->at, (m->n + 1) * sizeof *at);
	m->at = at ? at : m->at;
	f.path = strdup(path);
	f.name = strdup(name);
	if (at && f.path && f.name) {
		m->at[m->n++] = f;
		return;
	}
	free(f.path);
	free(f.name);
	s->failed = 1;
}

/* below: the path from the folder on in which the search has begun. */
static void consider(struct search *s, const char *path, const char *below, const char *name)
{
	struct stat st;

	if (s->name && !is_exactly(name, s->name) && !has_parts(s->in_path ? below : name, s->name))
		return;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	add(s, !s->name || is_exactly(name, s->name) ? &s->exact : &s->similar, path, name, &st);
}

/* A folder on the way from the first to the one that is read. */
struct folder {
	dev_t device;
	ino_t inode;
	int depth;
	const struct folder *above;
};

/* Whether a link leads back to a folder that is being read. */
static int is_loop(const struct folder *f, const struct stat *st)
{
	while (f && (f->device != st->st_dev || f->inode != st->st_ino))
		f = f->above;
	return f != NULL;
}

/* Calls of() for each file below the folder `path`, at most DEEPEST folders down; `from` is how many bytes of the path
 * come before what the files are named after. above: NULL for the first folder. */
static void walk(struct search *s, const char *path, size_t from, const struct folder *above,
	void (*of)(struct search *s, const char *path, size_t from))
{
	DIR *d = opendir(path);
	struct folder this = { .depth = above ? above->depth + 1 : 0, .above = above };
	char below[PATH_MOST];
	struct dirent *e;
	struct stat st;

	if (d && !fstat(dirfd(d), &st)) {
		this.device = st.st_dev;
		this.inode = st.st_ino;
	}
	while (d && (e = readdir(d))) {
		int n = snprintf(below, sizeof below, "%s/%s", path, e->d_name);

		if (*e->d_name == '.' || n < 0 || n >= PATH_MOST || stat(below, &st))
			continue;
		if (S_ISDIR(st.st_mode) && this.depth < DEEPEST && !is_loop(&this, &st))
			walk(s, below, from, &this, of);
		else if (S_ISREG(st.st_mode))
			of(s, below, from);
	}
	if (d)
		closedir(d);
}

static void plain_file(struct search *s, const char *path, size_t from)
{
	const char *name = strrchr(path, '/') + 1;

	if (is_model(name))
		consider(s, path, path + from, name);
}

static void plain(struct search *s, const char *folder)
{
	walk(s, folder, strlen(folder), NULL, plain_file);
}

/* ---- Ollama ---- */

/* A layer of a manifest: "sha256:..." is the file sha256-... */
static void model_layer(struct search *s, const struct json *layer, const char *folder, const char *name)
{
	const char *type = json_get_string(layer, "mediaType"), *digest = json_get_string(layer, "digest");
	char path[PATH_MOST];
	int n;

	if (!type || strcmp(type, "application/vnd.ollama.image.model") || !digest || strncmp(digest, "sha256:", 7)
	    || strchr(digest, '/'))
		return;
	n = snprintf(path, sizeof path, "%s/blobs/sha256-%s", folder, digest + 7);
	if (n > 0 && n < PATH_MOST)
		consider(s, path, name, name);
}

/* folder[from)/manifests/HOST/[library/]NAME/TAG */
static void manifest(struct search *s, const char *path, size_t from)
{
	struct bytes text = { .limit = MANIFEST_MOST };
	struct arena a = { .limit = 4 * MANIFEST_MOST };
	const char *name = strchr(path + from + strlen("/manifests/"), '/');
	char folder[PATH_MOST], called[PATH_MOST];
	const struct json *v = NULL, *layer;
	struct why ignored;

	if (!name)
		return;
	name += strncmp(name, "/library/", 9) ? 1 : 9;
	snprintf(folder, sizeof folder, "%.*s", (int)from, path);
	snprintf(called, sizeof called, "%s", name);
	if (strrchr(called, '/'))
		*strrchr(called, '/') = ':';
	if (!slurp(path, &text, &ignored))
		v = json_parse(&a, text.p, text.n, &ignored);
	layer = json_get(v, "layers");
	for (layer = layer && layer->type == JSON_ARRAY ? layer->child : NULL; layer; layer = layer->next)
		model_layer(s, layer, folder, called);
	arena_free(&a);
	bytes_free(&text);
}

static void ollama(struct search *s, const char *folder)
{
	char manifests[PATH_MOST];
	int n = snprintf(manifests, sizeof manifests, "%s/manifests", folder);

	if (n > 0 && n < PATH_MOST)
		walk(s, manifests, strlen(folder), NULL, manifest);
}

/* ---- places ---- */

/* A folder of models: $variable or, if that is not set, below a folder that another variable names, or in $HOME. */
static const struct place {
	const char *variable, *base, *below, *home;
	void (*read)(struct search *s, const char *folder);
} places[] = {
	{ NULL, "XDG_DATA_HOME", "lmpipe/models", ".local/share/lmpipe/models", plain },
	{ "OLLAMA_MODELS", NULL, NULL, ".ollama/models", ollama },
	{ NULL, NULL, NULL, ".lmstudio/models", plain },
	{ "LLAMA_CACHE", "XDG_CACHE_HOME", "llama.cpp", ".cache/llama.cpp", plain },
	{ "HF_HUB_CACHE", "HF_HOME", "hub", ".cache/huggingface/hub", plain }
};

static void look_in(struct search *s, const struct place *p)
{
	const char *is = p->variable ? getenv(p->variable) : NULL, *base = p->base ? getenv(p->base) : NULL;
	const char *home = getenv("HOME");
	char path[PATH_MOST];
	int n = 0;

	if (is && *is)
		n = snprintf(path, sizeof path, "%s", is);
	else if (base && *base)
		n = snprintf(path, sizeof path, "%s/%s", base, p->below);
	else if (home && *home)
		n = snprintf(path, sizeof path, "%s/%s", home, p->home);
	if (n > 0 && n < PATH_MOST)
		p->read(s, path);
}

/* The folders of a list with colons between them. */
static void look_in_list(struct search *s, const char *list)
{
	char path[PATH_MOST];

	for (size_t n; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		if (n && n < PATH_MOST) {
			snprintf(path, sizeof path, "%.*s", (int)n, list);
			plain(s, path);
		}
	}
}

static int by_name(const void *a, const void *b)
{
	const struct model_file *x = a, *y = b;
	int order = strcasecmp(x->name, y->name);

	return order ? order : strcmp(x->path, y->path);
}

static int find(const char *name, int in_path, struct models *out, struct why *w)
{
	struct search s = { .name = name, .in_path = in_path };

	look_in_list(&s, getenv("LMPIPE_MODELS"));
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		look_in(&s, &places[i]);
	if (!getenv("OLLAMA_MODELS"))
		ollama(&s, "/usr/share/ollama/.ollama/models"); /* of Ollama as a service */
	*out = s.exact.n ? s.exact : s.similar;
	models_free(s.exact.n ? &s.similar : &s.exact);
	if (s.failed) {
		models_free(out);
		return why(w, "out of memory");
	}
	if (out->n)
		qsort(out->at, out->n, sizeof *out->at, by_name);
	return 0;
}

int models_find(const char *name, struct models *out, struct why *w)
{
	return find(name, 0, out, w);
}

void models_free(struct models *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->at[i].path);
		free(m->at[i].name);
	}
	free(m->at);
	*m = (struct models){ NULL, 0 };
}

/* The reason that there are several, with the names of some. */
static void why_several(const char *name, const struct models *m, struct why *w)
{
	enum { NAMED = 4 };
	char names[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < m->n && i < NAMED && n < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", m->at[i].name);
	why(w, "%s: could be any of %zu models: %s%s (gguf --find lists them)", name, m->n, names,
		m->n > NAMED ? ", ..." : "");
}

/* The path, or NULL with a reason if that is no file that can be read. */
static const char *readable(const char *path, struct why *w)
{
	struct stat st;

	if (stat(path, &st) || (S_ISREG(st.st_mode) && access(path, R_OK)))
		why(w, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		why(w, "%s: not a regular file", path);
	else
		return path;
	return NULL;
}

/* ORG/NAME, which follows the host in the name of a repository of Hugging Face, as Ollama and browsers write it; or
 * NULL. */
static const char *in_hub(const char *name)
{
	static const char *const hosts[] = { "hf.co/", "huggingface.co/" };

	name += strncmp(name, "https://", 8) ? 0 : 8;
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
		if (!strncmp(name, hosts[i], strlen(hosts[i])) && strchr(name + strlen(hosts[i]), '/'))
			return name + strlen(hosts[i]);
	return NULL;
}

/* The models of a repository, ORG/NAME:TYPE, or of the address of a file in it. All programs that fetch files keep them
 * where the path names the repository. */
static int find_in_hub(const char *repository, struct models *m, struct why *w)
{
	return ends_with(repository, ".gguf") ? find(strrchr(repository, '/') + 1, 0, m, w) : find(repository, 1, m, w);
}

static void why_not_here(const char *name, const char *repository, struct why *w)
{
	size_t n = strcspn(repository, "/");

	if (ends_with(name, ".gguf"))
		why(w, "%s: not on this machine: fetch it with curl -LO", name);
	else
		why(w, "%s: not on this machine: fetch a file from https://huggingface.co/%.*s/tree/main", name,
			(int)(n + strcspn(repository + n, ":")), repository);
}

const char *models_path(const char *name, struct why *w)
{
	static char *found;     /* of the last call */
	const char *path = NULL, *repository = in_hub(name);
	struct models m;

	if (!*name) {
		why(w, "the name of the model is empty");
		return NULL;
	}
	if (!access(name, F_OK) || (strchr(name, '/') && !repository))
		return readable(name, w);
	if (repository ? find_in_hub(repository, &m, w) : models_find(name, &m, w))
		return NULL;
	if (m.n > 1) {
		why_several(name, &m, w);
	} else if (!m.n && repository) {
		why_not_here(name, repository, w);
	} else if (!m.n) {
		why(w, "%s: there is no such file, and no model has this name (gguf --find lists the models)", name);
	} else {
		free(found);
		found = m.at[0].path;
		path = readable(found, w);
		m.at[0].path = NULL;
	}
	models_free(&m);
	return path;
}
