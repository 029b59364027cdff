/* Where the other programs and the shipped model are. */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* dir[n], '/' and a path, if that is a usable file, not a directory; NULL otherwise. An empty dir is the current one,
 * as in PATH. The caller frees it. */
static char *usable(const char *dir, size_t n, const char *path, int mode)
{
	size_t room = n + strlen(path) + 3;
	char *s = malloc(room);
	struct stat st;

	if (s)
		snprintf(s, room, "%.*s/%s", n ? (int)n : 1, n ? dir : ".", path);
	if (!s || (!access(s, mode) && !stat(s, &st) && !S_ISDIR(st.st_mode)))
		return s;
	free(s);
	return NULL;
}

/* The directory of the program started as argv0: where it was called, or the first directory in PATH that has it. NULL:
 * not found. */
static char *own_directory(const char *argv0)
{
	const char *path = argv0 ? getenv("PATH") : NULL;
	char *s = argv0 && strchr(argv0, '/') ? strdup(argv0) : NULL, *slash;

	for (size_t n; !s && path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		s = usable(path, n, argv0, X_OK);
	}
	if (s && (slash = strrchr(s, '/')))
		slash[slash == s] = 0;          /* for "/gen", the slash remains */
	return s;
}

const char *find_program(const char *argv0, const char *own, const char *name)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL, *called = slash ? slash + 1 : argv0 ? argv0 : own;
	size_t n = strlen(called), m = strlen(own), prefix = n > m && !strcmp(called + n - m, own) ? n - m : 0;
	char *dir = own_directory(argv0), *full = malloc(prefix + strlen(name) + 1), *path = NULL;

	if (!full)
		return name;
	sprintf(full, "%.*s%s", (int)prefix, called, name);
	if (dir)
		path = usable(dir, strlen(dir), full, X_OK);
	free(dir);
	if (!path)
		return full;
	free(full);
	return path;
}

const char *find_model(const char *argv0, const char *name)
{
	static const char *const homes[] = { "../examples", "../share/lmpipe" };
	const char *model = getenv("LMPIPE_MODEL");
	char *dir, *path = NULL, file[256];

	if (model && *model)
		return model;
	dir = own_directory(argv0);
	for (size_t i = 0; dir && !path && i < sizeof homes / sizeof *homes; i++) {
		snprintf(file, sizeof file, "%s/%s", homes[i], name);
		path = usable(dir, strlen(dir), file, R_OK);
	}
	free(dir);
	return path;
}
