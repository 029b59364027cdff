/* page: the page at /, made from page.html by the Makefile. */
#ifndef PAGE_H
#define PAGE_H

extern const char *const page[];        /* its lines; NULL after the last */

#endif
