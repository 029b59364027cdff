/* best: of several texts the likeliest. */
#ifndef BEST_H
#define BEST_H

enum { BEST_MAX = 1000 };       /* texts */

#endif
