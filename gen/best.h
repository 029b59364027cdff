/* best: a limit that gen and feed share with best. */
#ifndef BEST_H
#define BEST_H

enum { BEST_MAX = 1000 };       /* texts */

#endif
