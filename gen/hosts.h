/* hosts: --hosts a:0-13,b:14-27: fwd as a pipeline of stages, each with some of the layers, on hosts that ssh reaches.
 * A host without a name, or localhost, is this machine, without ssh. */
#ifndef HOSTS_H
#define HOSTS_H

#include "gen.h"

/* -1 and the reason unless the list is valid: at most HOSTS_MAX hosts, whose layers follow each other from 0 on. */
int hosts_check(const char *list, struct why *w);

/* Turns the complete command of stage FWD into one for each host in q->hosts, in the stages from FWD on. `kv` runs on
 * the first host. */
int hosts_divide(struct request *q, struct why *w);

#endif
