/* server: the poll loop between the engine, its clients and the signals that end it. */
#ifndef SERVER_H
#define SERVER_H

#include "address.h"
#include "service.h"

struct peer;

struct server {                 /* starts as zeros but for the settings */
	struct service service;
	struct address address;
	int listening;                  /* at the address; or else one client is on standard input and output */
	double patience;                /* seconds in which a client sends a request, or reads some of an answer */
	size_t connections;             /* at most */
	struct peer *peers;             /* private */
	size_t n_peers;
	double paused;                  /* until then, no connection is accepted: there were no descriptors */
	double ends;                    /* when what is being answered is cut off */
	int was_ended;                  /* by a signal */
	int lost;                       /* the error of standard input or output that ended it, or 0 */
};

/* Serves until a signal, or until the client on standard input has its answers. Returns 0, or -1 with a reason if the
 * engine failed, whose clients have been told, or standard input or output. */
int server_run(struct server *v, struct why *w);

#endif
