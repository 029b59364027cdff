/* failing: a library to preload that makes one call of a C library function fail, as in
 *
 *	LD_PRELOAD=./failing.so FAIL_CALL=malloc FAIL_AT=7 FAIL_MARK=failed tok m.gguf
 *
 * where the 7th malloc() of the process returns NULL, and the file `failed` is made if there was a 7th. close() does
 * close. Only calls of the program itself and, of malloc() and its kind, of other libraries are counted. */
#define _GNU_SOURCE     /* RTLD_NEXT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *call;
static long at;
static atomic_long calls;

__attribute__((constructor)) static void start(void)
{
	const char *n = getenv("FAIL_AT");

	call = getenv("FAIL_CALL");
	at = n ? atol(n) : 0;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void leave_mark(void)
{
	static int (*real)(const char *, int, ...);
	const char *mark = getenv("FAIL_MARK");
	int fd;

	real = (int (*)(const char *, int, ...))next("open");
	fd = mark ? real(mark, O_WRONLY | O_CREAT, 0600) : -1;
	if (fd >= 0)
		((int (*)(int))next("close"))(fd);
}

/* Whether this call of the function fails; sets errno if so. */
static int fails(const char *name, int error)
{
	if (!call || strcmp(call, name) || atomic_fetch_add(&calls, 1) + 1 != at)
		return 0;
	leave_mark();
	errno = error;
	return 1;
}

/* result name(parameters) calls the real one with the arguments, or returns `failure` and sets errno. */
#define FAILING(result, name, failure, error, parameters, arguments) \
	result name parameters \
	{ \
		static result (*real) parameters; \
		if (!real) \
			real = (result (*) parameters)next(#name); \
		return fails(#name, error) ? failure : real arguments; \
	}

/* ---- memory ---- */

FAILING(void *, malloc, NULL, ENOMEM, (size_t n), (n))
FAILING(void *, realloc, NULL, ENOMEM, (void *p, size_t n), (p, n))
FAILING(int, posix_memalign, ENOMEM, ENOMEM, (void **p, size_t align, size_t n), (p, align, n))
FAILING(char *, strdup, NULL, ENOMEM, (const char *s), (s))

/* dlsym() itself may call it. */
void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);
	static char first[4096];
	static int looking;

	if (!real && looking)
		return first;
	looking = 1;
	if (!real)
		real = (void *(*)(size_t, size_t))next("calloc");
	return fails("calloc", ENOMEM) ? NULL : real(n, size);
}

FAILING(void *, mmap, MAP_FAILED, ENOMEM, (void *p, size_t n, int prot, int flags, int fd, off_t from),
	(p, n, prot, flags, fd, from))
FAILING(int, madvise, -1, EINVAL, (void *p, size_t n, int advice), (p, n, advice))
FAILING(int, msync, -1, EIO, (void *p, size_t n, int flags), (p, n, flags))
FAILING(int, pthread_create, EAGAIN, EAGAIN, (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg),
	(t, a, f, arg))

/* ---- files ---- */

FAILING(ssize_t, read, -1, EIO, (int fd, void *p, size_t n), (fd, p, n))
FAILING(ssize_t, pread, -1, EIO, (int fd, void *p, size_t n, off_t from), (fd, p, n, from))
FAILING(ssize_t, write, -1, ENOSPC, (int fd, const void *p, size_t n), (fd, p, n))
FAILING(ssize_t, pwrite, -1, ENOSPC, (int fd, const void *p, size_t n, off_t from), (fd, p, n, from))
FAILING(ssize_t, writev, -1, ENOSPC, (int fd, const struct iovec *v, int n), (fd, v, n))
FAILING(int, ftruncate, -1, EIO, (int fd, off_t n), (fd, n))
FAILING(int, posix_fallocate, ENOSPC, ENOSPC, (int fd, off_t from, off_t n), (fd, from, n))
FAILING(int, fstat, -1, EIO, (int fd, struct stat *st), (fd, st))
FAILING(int, stat, -1, EIO, (const char *path, struct stat *st), (path, st))
FAILING(int, lstat, -1, EIO, (const char *path, struct stat *st), (path, st))
FAILING(int, fsync, -1, EIO, (int fd), (fd))
FAILING(int, futimens, -1, EIO, (int fd, const struct timespec t[2]), (fd, t))
FAILING(int, rename, -1, EIO, (const char *from, const char *to), (from, to))
FAILING(int, unlink, -1, EIO, (const char *path), (path))
FAILING(int, mkdir, -1, ENOSPC, (const char *path, mode_t mode), (path, mode))
FAILING(int, dup, -1, EMFILE, (int fd), (fd))
FAILING(int, pipe, -1, EMFILE, (int fd[2]), (fd))
FAILING(int, poll, -1, ENOMEM, (struct pollfd *p, nfds_t n, int timeout), (p, n, timeout))
FAILING(int, select, -1, ENOMEM, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))
FAILING(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
FAILING(FILE *, tmpfile, NULL, ENOSPC, (void), ())
FAILING(int, fclose, EOF, EIO, (FILE *f), (f))
FAILING(int, fflush, EOF, ENOSPC, (FILE *f), (f))
FAILING(int, scandir, -1, ENOMEM, (const char *path, struct dirent ***list, int (*use)(const struct dirent *),
	int (*order)(const struct dirent **, const struct dirent **)), (path, list, use, order))

int close(int fd)
{
	static int (*real)(int);

	if (!real)
		real = (int (*)(int))next("close");
	if (fails("close", EIO)) {
		real(fd);
		errno = EIO;
		return -1;
	}
	return real(fd);
}

int open(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (!real)
		real = (int (*)(const char *, int, ...))next("open");
	return fails("open", EMFILE) ? -1 : real(path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
	static int (*real)(int, int, ...);
	va_list ap;
	void *arg;

	va_start(ap, command);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!real)
		real = (int (*)(int, int, ...))next("fcntl");
	return fails("fcntl", EINVAL) ? -1 : real(fd, command, arg);
}

/* ---- processes and signals ---- */

FAILING(int, posix_spawnp, EAGAIN, EAGAIN, (pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const *argv, char *const *env),
	(pid, file, actions, attributes, argv, env))
FAILING(pid_t, waitpid, -1, EINVAL, (pid_t pid, int *status, int options), (pid, status, options))
FAILING(int, sigaction, -1, EINVAL, (int signal, const struct sigaction *a, struct sigaction *old), (signal, a, old))
FAILING(int, sigaltstack, -1, ENOMEM, (const stack_t *s, stack_t *old), (s, old))
