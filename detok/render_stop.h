/* render_stop: shows pieces up to a stop string; each waits until it is certain not to belong to one. */
#ifndef RENDER_STOP_H
#define RENDER_STOP_H

#include "render.h"

/* Replaces the kind's show(), which then gets neither the position nor top tokens. -1: out of memory. */
int render_stop_show(struct render *r, const struct shown *s);

/* Shows what still waits, and frees all memory. */
void render_stop_end(struct render *r);

#endif
