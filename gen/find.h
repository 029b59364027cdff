/* find: where the other programs and the shipped model are: beside the program that runs. */
#ifndef FIND_H
#define FIND_H

enum { FIND_PATH = 1024 };

/* The program `name` beside the one that was started as argv0, else its bare name, to be searched in PATH. If argv0
 * has a prefix before `own` ("lm-gen"), so has the program ("lm-fwd"). path[FIND_PATH] is the caller's; returns it. */
const char *find_program(char *path, const char *argv0, const char *own, const char *name);

/* $LMPIPE_MODEL, else the shipped model in the checkout or under PREFIX/share, in path[FIND_PATH]; or NULL. */
const char *find_model(char *path, const char *argv0);

#endif
