/* Where gen finds the other programs and the embedded model: beside itself. */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char embedded[] = "tales-q8_0.gguf";

/* dir/name into path if it can be used; 1 if so. An empty dir is the current one, as in PATH. */
static int there(char *path, const char *dir, size_t n, const char *name, int mode)
{
	int len = n ? snprintf(path, PLACE_PATH, "%.*s/%s", (int)n, dir, name) : snprintf(path, PLACE_PATH, "./%s", name);

	return len > 0 && len < PLACE_PATH && access(path, mode) == 0;
}

/* The directory of gen itself into dir: of argv0, or of the first gen in PATH. */
static int own_directory(char *dir, const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL, *path = getenv("PATH");
	size_t n;

	if (slash)
		return snprintf(dir, PLACE_PATH, "%.*s", (int)(slash - argv0), slash > argv0 ? argv0 : "/") < PLACE_PATH;
	for (; argv0 && path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (there(dir, path, n, argv0, X_OK)) {
			*strrchr(dir, '/') = 0;
			return 1;
		}
	}
	return 0;
}

int place_find(struct place *p, const char *argv0, struct why *w)
{
	static const char *const names[4] = { "tok", "fwd", "sample", "detok" };
	static const char *const homes[] = { "/../examples", "/../share/lmpipe" };
	char dir[PLACE_PATH], home[PLACE_PATH + 32];
	int known = own_directory(dir, argv0);

	if (known && strlen(dir) > PLACE_PATH - 64)
		return why(w, "%s: the path is too long", dir);
	for (int i = 0; i < 4; i++)
		if (!known || !there(p->program[i], dir, strlen(dir), names[i], X_OK))
			snprintf(p->program[i], PLACE_PATH, "%s", names[i]);
	p->model = getenv("LMPIPE_MODEL");
	for (size_t i = 0; known && i < sizeof homes / sizeof *homes && (!p->model || !*p->model); i++) {
		int n = snprintf(home, sizeof home, "%s%s", dir, homes[i]);

		p->model = there(p->path, home, (size_t)n, embedded, R_OK) ? p->path : NULL;
	}
	return 0;
}
