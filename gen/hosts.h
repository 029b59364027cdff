/* hosts: --hosts a:0-13,b:14-27: fwd as a pipeline of stages, each with some of the layers, on hosts that ssh reaches.
 * A host that is empty, or localhost, is this machine, without ssh. */
#ifndef HOSTS_H
#define HOSTS_H

#include "gen.h"

/* -1 and the reason unless the list is valid: at most HOSTS_MAX hosts, whose layers follow each other from 0 on. */
int hosts_check(const char *list, struct why *w);

/* From the command of stage FWD, which is complete, to those of the hosts in q->hosts, from stage FWD on. What else
 * fwd's host is to run, `kv`, runs on the first. */
int hosts_divide(struct request *q, struct why *w);

#endif
