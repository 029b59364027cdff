/* expected: what files of an architecture always have, because llama.cpp requires it, although fwd can do without. A
 * file that lacks it is unusual, and perhaps damaged: something else stands in, which is reported once. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include "model.h"

/* Reports what the file lacks to m->notes. */
void expected_note(const struct model *m);

#endif
