/* columns_wide: columns.c for activations of 16 bits, in an object of its own, as compiling takes long. */
#define PLANES 2
#include "columns.c"
