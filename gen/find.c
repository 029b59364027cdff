/* Where the other programs and the shipped model are. */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dir/name into path, if it can be used; 1 if so. An empty dir is the current one, as in PATH. */
static int usable(char *path, const char *dir, size_t n, const char *name, int mode)
{
	int len = n ? snprintf(path, FIND_PATH, "%.*s/%s", (int)n, dir, name) : snprintf(path, FIND_PATH, "./%s", name);

	return len > 0 && len < FIND_PATH && access(path, mode) == 0;
}

/* The directory of argv0, or of the first program of that name in PATH, into dir. */
static int own_directory(char *dir, const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL, *path = getenv("PATH");
	size_t n;

	if (slash)
		return snprintf(dir, FIND_PATH, "%.*s", (int)(slash - argv0), slash > argv0 ? argv0 : "/") < FIND_PATH;
	for (; argv0 && path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (usable(dir, path, n, argv0, X_OK)) {
			*strrchr(dir, '/') = 0;
			return 1;
		}
	}
	return 0;
}

const char *find_program(char *path, const char *argv0, const char *own, const char *name)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL, *called = slash ? slash + 1 : argv0 ? argv0 : own;
	size_t n = strlen(called), m = strlen(own), prefix = n > m && !strcmp(called + n - m, own) ? n - m : 0;
	char dir[FIND_PATH], full[64];

	snprintf(full, sizeof full, "%.*s%s", prefix < 32 ? (int)prefix : 0, called, name);
	if (!own_directory(dir, argv0) || !usable(path, dir, strlen(dir), full, X_OK))
		snprintf(path, FIND_PATH, "%s", full);
	return path;
}

const char *find_model(char *path, const char *argv0)
{
	static const char *const homes[] = { "/../examples", "/../share/lmpipe" };
	const char *model = getenv("LMPIPE_MODEL");
	char dir[FIND_PATH], home[FIND_PATH + 32];

	if (model && *model)
		return model;
	if (!own_directory(dir, argv0))
		return NULL;
	for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
		int n = snprintf(home, sizeof home, "%s%s", dir, homes[i]);

		if (usable(path, home, (size_t)n, "tales-q8_0.gguf", R_OK))
			return path;
	}
	return NULL;
}
