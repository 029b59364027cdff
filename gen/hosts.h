/* hosts: --hosts a:0-13,b:14-27: fwd as a pipeline of stages, each with some of the layers, on hosts that ssh can
 * reach. No name, or localhost, means this machine, without ssh. */
#ifndef HOSTS_H
#define HOSTS_H

#include "request.h"

/* Returns 0 if the list is valid: at most HOSTS_MAX hosts, whose layers follow each other from 0 on, and none of them
 * twice if their state is `kept`; otherwise -1 with a reason. */
int hosts_check(const char *list, int kept, struct why *w);

/* Turns the complete command of stage FWD into one for each host in q->hosts, in the stages from FWD on. `kv` runs on
 * the first host. */
int hosts_divide(struct request *q, struct why *w);

#endif
