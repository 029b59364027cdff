/* Sockets that listen. */
#include "address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, PORT_MAX = 65535 };

static int open_socket(struct address *a, int family, const struct sockaddr *to, socklen_t n)
{
	int on = 1;

	a->fd = socket(family, SOCK_STREAM, 0);
	if (a->fd < 0)
		return -1;
	if (family != AF_UNIX)
		setsockopt(a->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fcntl(a->fd, F_SETFD, FD_CLOEXEC) || fcntl(a->fd, F_SETFL, O_NONBLOCK) || bind(a->fd, to, n)
	    || listen(a->fd, BACKLOG)) {
		int error = errno;

		close(a->fd);
		a->fd = -1;
		errno = error;
		return -1;
	}
	return 0;
}

/* Whether nobody listens at the path any more, where a server has left its socket. Files that are no sockets refuse
 * connections, too. */
static int is_stale(const struct sockaddr_un *at)
{
	struct stat file;
	int fd, refused;

	if (lstat(at->sun_path, &file) || !S_ISSOCK(file.st_mode) || (fd = socket(AF_UNIX, SOCK_STREAM, 0)) < 0)
		return 0;
	refused = connect(fd, (const struct sockaddr *)at, sizeof *at) && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static int listen_path(struct address *a, const char *path, struct why *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int failed;

	if (strlen(path) >= sizeof at.sun_path)
		return why(w, "%s: longer than %zu bytes", path, sizeof at.sun_path - 1);
	strcpy(at.sun_path, path);
	failed = open_socket(a, AF_UNIX, (struct sockaddr *)&at, sizeof at);
	if (failed && errno == EADDRINUSE && is_stale(&at)) {
		unlink(path);
		failed = open_socket(a, AF_UNIX, (struct sockaddr *)&at, sizeof at);
	}
	if (failed)
		return why(w, "%s: %s", path, strerror(errno));
	a->path = path;
	a->local = 1;
	snprintf(a->text, sizeof a->text, "unix:%s", path);
	return 0;
}

/* Whether the address is of the loopback network. */
static int is_loopback(const struct sockaddr *at)
{
	if (at->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24 == 127;
	return at->sa_family == AF_INET6
		&& IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
}

/* Sets the text, with the port that the system has chosen if it was 0. */
static void describe(struct address *a)
{
	struct sockaddr_storage at = { 0 };
	socklen_t n = sizeof at;
	char host[256], port[16];

	if (getsockname(a->fd, (struct sockaddr *)&at, &n)
	    || getnameinfo((struct sockaddr *)&at, n, host, sizeof host, port, sizeof port,
		NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(a->text, sizeof a->text, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

/* Whether host[n] is a name or a number; of IPv6 in brackets. */
static int is_host(const char *host, size_t n)
{
	if (*host == '[')
		return n > 2 && host[n - 1] == ']' && !memchr(host, ']', n - 1);
	return n && strcspn(host, ":[]") == n;
}

int address_is_valid(const char *spec)
{
	const char *colon = strrchr(spec, ':'), *port = colon ? colon + 1 : spec;

	if (!strncmp(spec, "unix:", 5))
		return spec[5] != '\0';
	return (!colon || is_host(spec, (size_t)(colon - spec))) && *port && strlen(port) < 6
		&& !port[strspn(port, "0123456789")] && atoi(port) <= PORT_MAX;
}

int address_listen(struct address *a, const char *spec, struct why *w)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	const char *colon = strrchr(spec, ':');
	struct addrinfo *found = NULL;
	char host[256] = "127.0.0.1";
	int error, failed = -1;

	*a = (struct address){ .fd = -1 };
	if (!strncmp(spec, "unix:", 5))
		return listen_path(a, spec + 5, w);
	if (colon && *spec == '[' && colon[-1] == ']')
		snprintf(host, sizeof host, "%.*s", (int)(colon - spec - 2), spec + 1);
	else if (colon)
		snprintf(host, sizeof host, "%.*s", (int)(colon - spec), spec);
	error = getaddrinfo(host, colon ? colon + 1 : spec, &hints, &found);
	if (error)
		return why(w, "%s: %s", spec, gai_strerror(error));
	errno = 0;
	for (const struct addrinfo *i = found; i && failed; i = i->ai_next) {
		failed = open_socket(a, i->ai_family, i->ai_addr, i->ai_addrlen);
		a->local = is_loopback(i->ai_addr);
	}
	freeaddrinfo(found);
	if (failed)
		return why(w, "%s: %s", spec, strerror(errno));
	describe(a);
	return 0;
}

void address_close(struct address *a)
{
	if (a->fd < 0)
		return;
	close(a->fd);
	a->fd = -1;
	if (a->path)
		unlink(a->path);
}
