/* find: where the other programs and the shipped model are: beside the program that runs. */
#ifndef FIND_H
#define FIND_H

/* The program `name` beside the one that was started as argv0, else its bare name, to be searched in PATH. If argv0
 * has a prefix before `own` ("lm-gen"), so has the program ("lm-fwd"). Both stay valid to the end of the program. */
const char *find_program(const char *argv0, const char *own, const char *name);

/* $LMPIPE_MODEL, else the shipped model of this file name in the checkout or under PREFIX/share; or NULL. */
const char *find_model(const char *argv0, const char *name);

#endif
